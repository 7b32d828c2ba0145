import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Robots, Table } from '../../src/library/index.js';
import { compileCache } from '../../src/pipeline/compile/compile-cache.js';
import { parseRobots } from '../../src/protocol/parse.js';
import { LEAST_PARSING_LIMIT } from '../../src/protocol/verdict.js';
import type { CacheWarning } from '../../src/sources/entry.js';

const MAX_BYTES = 64_000_000;

function body(line: string, bytes: number): Uint8Array {
  const start = 'user-agent: *\nallow: /\n';
  return new TextEncoder().encode(start + line.repeat(Math.ceil(bytes / line.length)));
}

/** Files with the highest cost for each byte. */
const COSTLY: readonly (readonly [string, string])[] = [
  ['rules', 'allow:\n'],
  ['agents', 'user-agent:a\n'],
  ['records', 'a:\n'],
  ['wildcards', `allow:${'*a'.repeat(100)}\n`],
  ['nothing but wildcards', `allow:${'*'.repeat(10_000)}\n`],
];

/** A wildcard costs more than any other byte, and the google profile truncates lines. */
const SHORTEST_OVER_BUDGET = `allow:${'*'.repeat(10_000)}\n`.repeat(104);

describe('the budget of a file', () => {
  it.each(COSTLY)('is enough for any file within the usual limit: %s', (_what, line) => {
    const file = parseRobots(body(line, 2 * LEAST_PARSING_LIMIT), { maxBytes: MAX_BYTES });
    expect(file.overBudget).toBe(false);
    expect(file.groups.length).toBeGreaterThan(0);
  });

  it('is enough for a long file of comments, and for a long rule', () => {
    for (const line of ['# nothing\n', `allow: /${'a'.repeat(1_000_000)}\n`]) {
      expect(parseRobots(body(line, 2_000_000), { maxBytes: MAX_BYTES }).overBudget).toBe(false);
    }
  });

  it.each(COSTLY)('is exceeded by twelve megabytes of anything else: %s', (_what, line) => {
    const file = parseRobots(body(line, 12_000_000), { maxBytes: MAX_BYTES });
    expect(file).toMatchObject({ overBudget: true, groups: [], records: [] });
  });

  it('is exceeded by a million different agents', () => {
    const letters = [...'abcdefghij'];
    const words = letters.flatMap((a) => letters.flatMap((b) => letters.map((c) => a + b + c)));
    const lines = words.flatMap((word) => words.map((other) => `user-agent:${word}${other}\n`));
    expect(lines).toHaveLength(1_000_000);
    const text = `${lines.join('')}disallow: /\n`;
    const file = parseRobots(new TextEncoder().encode(text), { maxBytes: MAX_BYTES });
    expect(file.overBudget).toBe(true);
    expect(file.warnings[0]?.line).toBeGreaterThan(800_000);
    expect(file.warnings[0]?.line).toBeLessThan(1_000_000);
  });

  it('denies everything if it is exceeded, with a warning before all others', () => {
    const text = `${'nonsense\n'.repeat(200)}${SHORTEST_OVER_BUDGET}`;
    const robots = Robots.parse(new TextEncoder().encode(text), { maxBytes: MAX_BYTES });
    expect(robots.groups).toEqual([]);
    expect(robots.warnings).toHaveLength(100);
    expect(robots.warnings[0]).toMatchObject({ code: 'over-budget', line: 200 + 104 });
    expect(robots.verdict('https://e.com/', 'b')).toEqual({
      verdict: 'deny',
      reason: 'unreachable',
    });
    expect(robots.verdict('https://e.com/robots.txt', 'b').verdict).toBe('allow');
  });

  it('applies to the google profile too, although its files have no size limit', () => {
    const robots = Robots.parse(new TextEncoder().encode(SHORTEST_OVER_BUDGET), {
      profile: 'google',
    });
    expect(robots.verdict('https://e.com/', 'b').reason).toBe('unreachable');
  });

  it('gives a warning that names the first file of each content, whatever the number of threads', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'budget-'));
    try {
      // Each line is a separate part.
      const lines = Array.from({ length: 16 }, (_, host) =>
        JSON.stringify({
          host: `h${host}.example`,
          robots: `# ${Math.floor(host / 2) % 3}\n${SHORTEST_OVER_BUDGET}`,
        }),
      );
      const records = join(directory, 'all "1".ndjson');
      writeFileSync(records, lines.join('\n'));
      const file = join(directory, 'files');
      mkdirSync(file);
      writeFileSync(join(file, 'costly.example.txt'), SHORTEST_OVER_BUDGET);
      writeFileSync(join(file, 'other.example.txt'), body('allow:/\n', 1000));
      for (const threads of [1, 3]) {
        const warnings: CacheWarning[] = [];
        const { layout, contentWarnings } = await compileCache([records, file], {
          profile: 'rfc9309',
          maxRobotsBytes: MAX_BYTES,
          threads,
          onWarning: (warning) => warnings.push(warning),
        });
        expect(warnings.map(({ path }) => path)).toEqual([
          ...[1, 3, 5].map((line) => `all "1".ndjson:${line}`),
          'costly.example.txt',
        ]);
        for (const { code, message } of warnings) {
          expect(code).toBe('over-budget');
          expect(message).toContain('everything is denied');
        }
        expect(contentWarnings.get('over-budget')).toBe(4);
        const opened = Table.from(layout.table());
        for (const host of ['h0', 'h15', 'costly']) {
          expect(opened.verdict(`https://${host}.example/`, 'a').reason).toBe('unreachable');
        }
        expect(opened.verdict('https://other.example/', 'a').verdict).toBe('allow');
      }
    } finally {
      rmSync(directory, { recursive: true });
    }
  });
});
