import { describe, it } from 'vitest';
import { TableBuilder } from '../../src/compile/table-builder.js';
import { checkTable } from '../../src/judge/table-memory.js';
import { verifyShard } from '../../src/verify/verify-table.js';
import { expectLinear } from './growth.js';
import { countSteps } from './metered-script.js';

const SIZES = [60, 1920];

/** A table of robots.txt files, each for one host. */
function tableOf(files: readonly string[]): Uint8Array {
  const builder = new TableBuilder();
  files.forEach((file, number) => {
    const authority = { scheme: undefined, host: `h${number}.example`, port: undefined };
    builder.add(authority, new TextEncoder().encode(file), { source: `list:${number}` });
  });
  return builder.build();
}

function lines(count: number, line: (number: number) => string): string {
  return Array.from({ length: count }, (_, number) => line(number)).join('\n');
}

/**
 * Tables in which each part grows in turn: hosts, product tokens and groups, a deep trie, a wide
 * trie, blocks, segments, texts.
 */
const FAMILIES: readonly (readonly [string, (size: number) => readonly string[]])[] = [
  ['hosts', (size) => Array.from({ length: size }, (_, n) => `user-agent: *\nallow: /${n}`)],
  [
    'groups',
    (size) => [lines(2 * size, () => 'user-agent: a\nallow: /\nuser-agent: b\nallow: /b')],
  ],
  ['a deep trie', (size) => [`user-agent: *\nallow: /${'ab'.repeat(50 * size)}`]],
  ['a wide trie', (size) => [`user-agent: *\n${lines(4 * size, (n) => `allow: /${n}`)}`]],
  ['blocks', (size) => [`user-agent: *\n${lines(3 * size, (n) => `allow: /*${n}$`)}`]],
  ['segments', (size) => [`user-agent: *\nallow: /${'*ab'.repeat(20 * size)}`]],
  [
    'long segments',
    (size) => [`user-agent: *\n${lines(5, (n) => `allow: *${n}${'a'.repeat(40 * size)}`)}`],
  ],
  ['texts', (size) => [`user-agent: *\n${lines(4 * size, (n) => `allow: /"${n}`)}`]],
];

describe('verifying a table takes steps in proportion to its bytes', () => {
  it.each(FAMILIES)('%s', (_what, files) => {
    const measured = SIZES.map((size) => {
      const table = tableOf(files(size));
      const header = checkTable(table, 'it');
      const steps = countSteps(() => verifyShard(table, header, 'it'));
      return { bytes: table.length, steps };
    });
    expectLinear(measured, { least: 0.1, most: 30 }, 2);
  });
});
