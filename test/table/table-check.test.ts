import { beforeAll, describe, expect, it } from 'vitest';
import { RobotsFilterError } from '../../src/base/errors.js';
import { TableBuilder } from '../../src/compile/table-builder.js';
import { checkTable } from '../../src/judge/table-memory.js';
import { checksum } from '../../src/kernel/hashes.js';
import { parseAuthority } from '../../src/protocol/authority.js';
import { rulesOf } from '../../src/view/automaton-view.js';
import { ShardView } from '../../src/view/shard-view.js';
import { automataOf } from '../inspect/verify/contents.js';
import { cases } from '../random/cases.js';
import { Random } from '../random/random.js';

const VERSION = 8;
const PROFILE = 12;
const LENGTH = 16;
const CHECKSUM = 20;
const FLAGS = 24;
const SECTIONS = 64;

let table: Uint8Array;

beforeAll(() => {
  const robots = [
    'user-agent: *\ndisallow: /a\nallow: /a/b$\ndisallow: /*?x=\nallow: /*%2Fy\n',
    'user-agent: bot\nuser-agent: other\ndisallow: /*.gif$\ndisallow: /*1\ndisallow: /*2\nallow: /*3\n',
  ].join('\n');
  const builder = new TableBuilder();
  for (const host of ['a.example', 'b.example:8080', 'https://b.example', 'c']) {
    const authority = parseAuthority(host);
    if (authority === undefined) throw new Error(host);
    builder.add(authority, new TextEncoder().encode(robots), { source: `${host}/"robots".txt` });
  }
  table = builder.build();
});

function refusal(bytes: Uint8Array): RobotsFilterError {
  try {
    checkTable(bytes, 'some.table');
  } catch (error) {
    if (error instanceof RobotsFilterError) return error;
    throw error;
  }
  throw new Error('not refused');
}

/** The table with a changed word and a valid checksum. */
function forged(at: number, word: number): Uint8Array {
  const copy = table.slice();
  const view = new DataView(copy.buffer);
  view.setUint32(at, word, true);
  view.setUint32(CHECKSUM, checksum(copy), true);
  return copy;
}

describe('a damaged table is refused, with cause and remedy', () => {
  it('but a whole table is accepted, at any place in memory', () => {
    const memory = new Uint8Array(table.length + 100);
    memory.set(table, 33);
    const header = checkTable(memory.subarray(33, 33 + table.length), 'some.table');
    expect(header).toEqual(checkTable(table, 'some.table'));
    expect(header).toMatchObject({ version: 9, profile: 'rfc9309', reduced: false, hosts: 3 });
    expect(header.length).toBe(table.length);
  });

  it('each truncation', () => {
    for (let length = 0; length < table.length; length++) {
      const { code, message } = refusal(table.subarray(0, length));
      expect(code).toBe('table');
      expect(message).toMatch(/^some\.table: (truncated|not a table|the file is empty)/);
    }
    expect(refusal(table.subarray(0, 500)).message).toBe(
      `some.table: truncated: 500 bytes of ${table.length}: copy it again, or compile it again`,
    );
  });

  it('each change of a single bit or of a whole byte, and any other version', () => {
    const copy = table.slice();
    const values = Array.from({ length: 255 }, (_, index) => index + 1);
    const bits = [1, 2, 4, 8, 16, 32, 64, 128, 255];
    for (let at = 0; at < copy.length; at++) {
      const original = copy[at] as number;
      for (const change of at === VERSION ? values : bits) {
        copy[at] = original ^ change;
        expect(refusal(copy).code).toBe('table');
      }
      copy[at] = original;
    }
    checkTable(copy, 'some.table');
  });

  it('bytes after its end', () => {
    const longer = new Uint8Array(table.length + 3);
    longer.set(table);
    expect(refusal(longer).message).toMatch(/bytes follow its end at \d+: remove them/);
  });

  it('a file of another kind', () => {
    const message = /^some\.table: not a table of robots-filter: give a file that .* wrote$/;
    expect(refusal(new TextEncoder().encode('user-agent: *\n')).message).toMatch(message);
    expect(refusal(new Uint8Array(10_000)).message).toMatch(message);
    expect(refusal(new Uint8Array(0)).message).toMatch(/the file is empty/);
  });

  it('a newer version, whatever its contents', () => {
    const newer = forged(VERSION, 12);
    const expected =
      'some.table: the table is newer: got v12, this build reads v7 to v9 and v11: upgrade robots-filter, or compile it again with this build';
    expect(refusal(newer).message).toBe(expected);
    expect(refusal(newer.subarray(0, 352)).message).toBe(expected);
  });

  it('an older version, such as 6, in which an encoded byte was not yet `%XX`', () => {
    const message =
      'some.table: the table is older: got v6, this build reads v7 to v9 and v11: compile it again';
    expect(refusal(forged(VERSION, 6)).message).toBe(message);
    expect(refusal(forged(VERSION, 1)).message).toMatch(/older: got v1.*: compile it again$/);
  });

  it.each([
    ['an unknown profile', PROFILE, 3],
    ['a length within the header', LENGTH, 100],
    ['unknown flags', FLAGS, 4],
    ['records at an odd place', 28, 1],
    ['records before the sources', 28, 384],
    ['records beyond the end', 28, 0xffff_ffc0],
    ['a first section elsewhere', SECTIONS, 360],
    ['a section that starts before the one before', SECTIONS + 8, 352],
    ['a section at an odd place', SECTIONS + 8, 1001],
    ['a section beyond the end', SECTIONS + 16, 0xffff_fff8],
    ['more hosts than slots can hold', 32, 6],
    ['no buckets', 56, 0],
    ['more buckets than there are', 56, 8],
    ['more product tokens than there are', 52, 1000],
    ['no product tokens', 52, 0],
    ['a probe longer than all buckets', 60, 100],
    ['no probe', 60, 0],
  ])('a forged header, its checksum made good: %s', (_what, at, word) => {
    const { code, message } = refusal(
      at === LENGTH ? forged(at, word).subarray(0, word) : forged(at, word),
    );
    expect(code).toBe('table');
    expect(message).toMatch(/^some\.table: (damaged|truncated)/);
  });
});

describe('a forged table cannot harm its reader', () => {
  /** Everything that can be asked of a table. */
  function readAll(bytes: Uint8Array): number {
    let rules = 0;
    const view = new ShardView(bytes, 'some.table');
    for (const token of view.tokens()) view.tokenNumber(token);
    view.find('b.example');
    for (const { authorities } of view.hosts()) {
      for (const { robots, source } of authorities) {
        expect(source).toBeTypeOf('string');
        for (const group of view.groups(robots)) rules += rulesOf(view, group).length;
      }
    }
    for (const automaton of automataOf(view)) automaton.counts();
    return rules;
  }

  it('whatever bytes are changed, reading ends, with a table error or without', () => {
    expect(readAll(table)).toBeGreaterThan(20);
    const random = new Random(1);
    let refused = 0;
    let read = 0;
    for (let round = 0; round < cases(600); round++) {
      const copy = table.slice();
      for (let changes = random.between(1, 3); changes > 0; changes--) {
        const at = random.between(32, copy.length - 65);
        copy[at] = random.pick([0, 1, 255, random.between(0, 255)]);
        if (random.chance(0.3)) copy.fill(255, at & ~3, (at & ~3) + random.pick([2, 4]));
      }
      try {
        readAll(copy);
        read++;
      } catch (error) {
        if (!(error instanceof RobotsFilterError) || error.code !== 'table') throw error;
        expect(error.message).toMatch(/^some\.table: damaged: .*: copy it again, or compile/);
        refused++;
      }
    }
    expect(refused).toBeGreaterThan(140);
    expect(read).toBeGreaterThan(80);
  });
});
