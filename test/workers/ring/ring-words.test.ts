import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { MAX_BAD } from '../../../src/kernel/layout.js';
import { CONTROL_BYTES, SLOT_HEADER_BYTES } from '../../../src/workers/ring/regions.js';
import * as words from '../../../src/workers/ring/words.js';

const PAGE = readFileSync(new URL('../../../src/workers/ring/words.ts', import.meta.url), 'utf8');

/** The rows of a table of the page: address, type and name of each word. */
function rows(heading: string): { at: number; bytes: number; name: string }[] {
  const [, section = ''] = PAGE.split(`## ${heading}`);
  const [table = ''] = section.split(' * ## ');
  return [...table.matchAll(/^ \* +(\d+) +(?:([iu])(32|64))? +([A-Z_]+) /gm)].map(
    ([, at, , bits, name = '']) => ({ at: Number(at), bytes: Number(bits ?? 0) / 8, name }),
  );
}

describe.each([
  ['Control block', '', CONTROL_BYTES, words.badEntry(0).line, 16 * words.MAX_BAD_LISTED, 17],
  [
    'Slot header',
    'SLOT_',
    SLOT_HEADER_BYTES,
    words.slotBadEntry(0, 0).line - CONTROL_BYTES,
    8 * MAX_BAD,
    13,
  ],
] as const)('%s', (heading, prefix, length, list, listBytes, count) => {
  it('has the words that the page describes, without overlaps', () => {
    const table = rows(heading);
    expect(table).toHaveLength(count);
    let end = 0;
    for (const { at, bytes, name } of table) {
      const address = name === 'BAD' ? list : Reflect.get(words, prefix + name);
      expect(address, name).toBe(at);
      expect(at % (bytes || 8), name).toBe(0);
      expect(at, name).toBeGreaterThanOrEqual(end);
      end = at + (name === 'BAD' ? listBytes : bytes);
    }
    expect(end).toBeLessThanOrEqual(length);
    expect(PAGE).toContain(`## ${heading}, ${length} bytes`);
  });
});
