import { text } from 'node:stream/consumers';
import { setImmediate as turn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { filterStream, Table, TableBuilder } from '../../src/library/index.js';

/**
 * The table of a version: its robots.txt denies one path, and its line numbers tell the version.
 */
function tableOf(version: number): Table {
  const builder = new TableBuilder();
  const filling = '#\n'.repeat(version);
  builder.add(
    'h.example',
    `${filling}user-agent: *\ndisallow: /${version % 2 === 0 ? 'even' : 'odd'}\n`,
  );
  return Table.from(builder.build());
}

describe('a table that is swapped under traffic', () => {
  it('answers each question by the table that was there when it was asked', async () => {
    const versions = 40;
    let version = 0;
    let table = tableOf(version);
    let questions = 0;
    const askers = Array.from({ length: 8 }, async () => {
      while (version < versions) {
        const { rule } = table.verdict('https://h.example/even/a', 'x');
        expect(rule?.line).toBe(version % 2 === 0 ? version + 2 : undefined);
        expect(table.verdicts(['https://h.example/odd'], 'x')).toEqual([
          version % 2 === 0 ? 'allow' : 'deny',
        ]);
        questions++;
        await turn();
      }
    });
    const streams: Promise<string>[] = [];
    while (version < versions) {
      if (version % 10 === 0) {
        const stream = filterStream(table, { threads: 1 });
        streams.push(text(stream));
        stream.write('https://h.example/even\n');
        // The stream outlives its table's turn.
        setTimeout(() => stream.end('https://h.example/odd\n'), 20);
      }
      for (let turns = 0; turns < 5; turns++) await turn();
      const next = tableOf(version + 1);
      version++;
      table = next;
    }
    await Promise.all(askers);
    expect(questions).toBeGreaterThan(versions);
    for (const output of await Promise.all(streams)) {
      expect(output).toBe('deny\thttps://h.example/even\nallow\thttps://h.example/odd\n');
    }
    expect(streams).toHaveLength(4);
  });
});
