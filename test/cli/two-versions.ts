import { expect } from 'vitest';
import type { Workplace } from './command-line.js';

/**
 * Compiles tables for an index of an archive: `t.table`, `t` in shards, and `h.table` with
 * histories. The first three hosts have two robots.txt files, from January and from April 2025 on.
 */
export async function compileTwoVersions(
  place: Workplace,
  hosts: readonly string[],
): Promise<void> {
  const rules = ['/x/y', '/p', '/q'];
  const records = hosts.slice(0, rules.length).flatMap((host, at) =>
    [
      ['/x', '2025-01-01'],
      [rules[at], '2025-04-01'],
    ].map(([rule, fetched]) => {
      const robots = `User-agent: *\nDisallow: ${rule}\n`;
      return `${JSON.stringify({ host, robots, fetched })}\n`;
    }),
  );
  place.write('robots.ndjson', records.join(''));
  for (const words of ['-o t.table', '--shards 3 -o t', '--history -o h.table']) {
    const { code } = await place.run(`compile -q --robots-dir robots.ndjson ${words}`);
    expect(code).toBe(0);
  }
}
