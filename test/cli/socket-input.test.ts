import { setTimeout as wait } from 'node:timers/promises';
import { expect } from 'vitest';
import { ended, test, workplace } from './command-line.js';

// Node connects a child process to its parent by sockets.

/** The bytes that the program reads from a socket before it decides which threads judge. */
const START_BYTES = 1024 * 1024;

const DENIED = 'http://example.com/private/';
const ALLOWED = 'http://example.com/';

test.each([1, 20])('lines that arrive in pieces, %i ms apart', async (pause) => {
  const place = workplace();
  const child = place.start(['--robots-dir', 'robots']);
  const end = ended(child);
  const text = `${DENIED}\n${ALLOWED}\n`.repeat(4);
  for (let at = 0; at < text.length; at += 19) {
    child.stdin?.write(text.slice(at, at + 19));
    await wait(pause);
  }
  child.stdin?.end();
  expect(await end).toMatchObject({
    code: 0,
    text: `deny\t${DENIED}\nallow\t${ALLOWED}\n`.repeat(4),
    stderr: '',
  });
});

test.each([-1, 0, 1])('the number of bytes that are read ahead, plus %i', async (more) => {
  const place = workplace();
  const line = `${DENIED}${'x'.repeat(100)}\n`;
  const lines = Math.floor((START_BYTES + more) / line.length) - 1;
  const rest = START_BYTES + more - lines * line.length;
  const last = `${ALLOWED}${'y'.repeat(rest - ALLOWED.length - 1)}\n`;
  const input = line.repeat(lines) + last;
  expect(input).toHaveLength(START_BYTES + more);
  const { code, text } = await place.runAlone('--robots-dir robots', input);
  expect(code).toBe(0);
  expect(text === `${`deny\t${line}`.repeat(lines)}allow\t${last}`).toBe(true);
});

test('a socket that is silent at first and then closes without a byte', async ({ place }) => {
  const child = place.start(['--robots-dir', 'robots']);
  const end = ended(child);
  await wait(100);
  child.stdin?.end();
  expect(await end).toMatchObject({
    code: 0,
    text: '',
    stderr: 'robots-filter: warning: standard input has no records\n',
  });
});
