import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { workplace } from './command-line.js';

/** util-linux's `script` runs a command on a terminal of its own; macOS has another, with other options. */
const HAS_SCRIPT = spawnSync('script', ['-qec', 'true', '/dev/null']).status === 0;

describe.skipIf(!HAS_SCRIPT)('on a terminal', () => {
  test('standard input is announced, and ends with Ctrl-D', async () => {
    const place = workplace();
    const { text } = await place.shell(
      `{ sleep 1; printf 'https://example.com/private/\\n'; sleep 1; printf '\\004'; } | script -qec "${place.command} --robots-dir robots" /dev/null`,
    );
    expect(text).toContain('robots-filter: waiting for URLs on standard input, one a line');
    expect(text).toContain('deny\thttps://example.com/private/\r\n');
  });

  test('the line of progress is overwritten, and taken away at the end', async () => {
    const place = workplace();
    const { text } = await place.shell(
      `script -qec "{ echo https://example.com/; sleep 1; } | ${place.command} --robots-dir robots -o out" /dev/null < /dev/null`,
    );
    const updates = text.split('\r\u001b[K');
    expect(updates.length).toBeGreaterThan(2);
    expect(updates[1]).toMatch(/^1 records, \d+\/s, 21 bytes, 100\.0 % allowed$/);
    expect(updates.at(-1)).toBe('');
    expect(place.read('out')).toBe('allow\thttps://example.com/\n');
  });

  test('--no-progress', async () => {
    const place = workplace();
    const { text } = await place.shell(
      `script -qec "{ echo https://example.com/; sleep 1; } | ${place.command} --robots-dir robots --no-progress -o out" /dev/null < /dev/null`,
    );
    expect(text).toBe('');
  });
});
