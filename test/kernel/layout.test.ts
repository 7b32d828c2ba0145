import { describe, expect, it } from 'vitest';
import * as layout from '../../src/kernel/layout.js';

const WORD = 4;
const LONG = 8;
const PAIR = 8;

/** A block's fields: the size of each, by its name without the block's prefix. */
interface Block {
  readonly size: number;
  readonly fields: Readonly<Record<string, number>>;
  /** Names with the block's prefix that are not fields: sizes, flags. */
  readonly others: readonly string[];
}

const words = (...names: string[]): Record<string, number> =>
  Object.fromEntries(names.map((name) => [name, WORD]));

const BLOCKS: Record<string, Block> = {
  TASK: {
    size: layout.TASK_BYTES,
    fields: {
      ...words('QUERY', 'WORKER', 'SCRATCH', 'SCRATCH_END', 'INPUT', 'INPUT_END'),
      ...words('OUTPUT', 'OUTPUT_END', 'LINES', 'FLAGS', 'BAD_COUNT', 'PLACES'),
      LINE_BASE: LONG,
      BAD: layout.MAX_BAD * layout.BAD_BYTES,
    },
    others: ['LINE_BASE_KNOWN', 'OVERLONG'],
  },
  BAD: { size: layout.BAD_BYTES, fields: words('LINE', 'REASON'), others: ['INPUT_LIMIT'] },
  DIVISION: {
    size: layout.DIVISION_SHARES + layout.SHARE_BYTES,
    fields: {
      ...words('BANKS', 'LIST', 'LINES', 'MERGED', 'OUTPUT', 'OUTPUT_END'),
      SHARES: layout.SHARE_BYTES,
    },
    others: [],
  },
  SHARE: {
    size: layout.SHARE_BYTES,
    fields: words('INPUT', 'NUMBER', 'OUTPUT', 'PLACE', 'PLACE_END', 'DISTANCE'),
    others: [],
  },
  QUERY: {
    size: layout.QUERY_BYTES,
    fields: {
      ...words('TABLE', 'FLAGS', 'FORMAT', 'OUTPUT', 'UNKNOWN', 'MAX_LINE', 'AGENT_COUNT'),
      ...words(
        'AGENTS',
        'FIELD_COUNT',
        'FIELDS',
        'CONVERSION',
        'LINE_FACTOR',
        'LINE_OVERHEAD',
        'SEEN',
        'COUNTS',
        'RULES',
        'RULE_ENTRIES',
        'RULE_DOUBLINGS',
        'ANY_HOST',
        'COLUMN',
        'ROW_FIELDS',
        'SHARDS',
        'SHARD_QUERIES',
        'CRC',
      ),
      FRAGMENTS: layout.FRAGMENTS * PAIR,
    },
    others: ['GOOGLE', 'EXPLAIN', 'STRICT', 'PARQUET', 'ADDS_SHARD', 'FRAMES'],
  },
  HOST_COUNTS: {
    size: layout.HOST_COUNTS_BYTES,
    fields: { ALLOW: LONG, DENY: LONG },
    others: ['BITS'],
  },
  RULES: {
    size: layout.RULES_ENTRIES + layout.RULE_BYTES,
    fields: {
      ...words('USED', 'DOUBLINGS', 'NOTED', 'PREFETCHED'),
      MISSED: LONG,
      NOTES: layout.NOTES_MOST * layout.NOTE_BYTES,
      ENTRIES: layout.RULE_BYTES,
    },
    others: [],
  },
  RULE: {
    size: layout.RULE_BYTES,
    fields: { ...words('AUTHORITY', 'LINE'), COUNT: LONG },
    others: ['COUNT_BITS'],
  },
  NOTE: { size: layout.NOTE_BYTES, fields: words('AGENT', 'ENTRY'), others: [] },
  AGENT: {
    size: layout.AGENT_BYTES,
    fields: { ...words('CHAIN_COUNT', 'CHAIN'), NAME: PAIR, VERDICTS: layout.VERDICTS * PAIR },
    others: [],
  },
  CHAIN: { size: layout.CHAIN_BYTES, fields: { TOKEN: WORD, TEXT: PAIR }, others: [] },
  GROUPS: { size: layout.GROUPS_BYTES, fields: words('LIST', 'LINK'), others: [] },
  LINE: {
    size: layout.LINE_BYTES,
    fields: {
      ...words('START', 'END', 'NUMBER', 'NEWLINE', 'OUTCOME', 'URL', 'URL_END', 'OWNED', 'BRACE'),
      ...words(
        'SOURCE',
        'SOURCE_END',
        'HOST',
        'HOST_BYTES',
        'HASH',
        'SCHEME',
        'PORT',
        'PATH',
        'PATH_END',
      ),
      ...words('NON_CANONICAL', 'TEXT', 'TEXT_END', 'SLOT', 'RECORD', 'AUTHORITY', 'ROBOTS'),
      GROUPS: layout.GROUPS_BYTES,
      ...words('QUERY', 'SHARD'),
      ...words('PREFETCHED', 'LEADER', 'ROOT_BYTES', 'MISSING'),
    },
    others: [],
  },
  MATCH: { size: layout.MATCH_BYTES, fields: words('LINE', 'PREFIX', 'FORM'), others: [] },
  RESULT: {
    size: layout.RESULT_BYTES,
    fields: {
      ...words('OUTCOME', 'AUTOMATON', 'RANK', 'LINE', 'FORM', 'PREFIX', 'PATH', 'SOURCE'),
      GROUPS: layout.GROUPS_BYTES,
      MATCH: layout.MATCH_BYTES,
    },
    others: ['SHARED_BYTES'],
  },
  MARKS: {
    size: layout.MARKS_BYTES,
    fields: {
      ...words('NEXT', 'ESCAPED', 'BACKSLASHES', 'CURSOR', 'PLAIN', 'AHEAD'),
      LIST: layout.MARKS_BYTES - layout.MARKS_LIST,
    },
    others: ['MOST'],
  },
  WORKER: {
    size: layout.WORKER_TALLY + LONG,
    fields: {
      RECORDS: LONG,
      PASSED: LONG,
      BAD: LONG,
      SHARD: WORD,
      BEFORE: layout.LINE_BYTES,
      LINES: layout.GROUP_LINES * layout.LINE_BYTES,
      OPEN: layout.GROUP_LINES * WORD,
      FOLLOWERS: layout.GROUP_LINES * WORD,
      HOSTS: layout.GROUP_LINES * layout.HOST_SPACE,
      MARKS: layout.MARKS_BYTES,
      RESULTS: layout.MAX_AGENTS * layout.RESULT_BYTES,
      TALLY: LONG,
    },
    others: [],
  },
};

/** The offsets of a block's fields, by name, in layout.ts. */
function offsetsOf(prefix: string, { others }: Block): [name: string, offset: number][] {
  return Object.entries(layout)
    .filter(([name]) => name.startsWith(`${prefix}_`))
    .map(([name, offset]): [string, number] => [name.slice(prefix.length + 1), offset])
    .filter(([name]) => name !== 'BYTES' && !others.includes(name));
}

/** Pairs of neighbours that share a byte, and fields that end after their block. */
function collisionsOf(offsets: readonly [string, number][], { size, fields }: Block): string[] {
  const sorted = [...offsets].sort((a, b) => a[1] - b[1]);
  return sorted.flatMap(([name, offset], index) => {
    const end = offset + (fields[name] ?? 0);
    const [next, limit] = sorted[index + 1] ?? ['the end', size];
    return end > limit ? [`${name} reaches into ${next}`] : [];
  });
}

describe('layout', () => {
  it.each(Object.entries(BLOCKS))(
    '%s: no fields overlap, and all fields lie in the block',
    (prefix, block) => {
      const offsets = offsetsOf(prefix, block);
      expect(offsets.map(([name]) => name).sort()).toEqual(Object.keys(block.fields).sort());
      expect(collisionsOf(offsets, block)).toEqual([]);
      // A field that is one byte longer would overlap the next field somewhere.
      const longer = Object.fromEntries(
        Object.entries(block.fields).map(([name, size]) => [name, size + 1]),
      );
      expect(collisionsOf(offsets, { ...block, fields: longer })).not.toEqual([]);
    },
  );

  it('keeps the results that agents with equal groups share in two vectors', () => {
    expect(layout.RESULT_SHARED_BYTES).toBe(32);
  });

  it('aligns the words of 64 bits that the host reads', () => {
    expect(layout.TASK_LINE_BASE % LONG).toBe(0);
    expect(layout.TASK_BYTES % 64).toBe(0);
    expect(layout.WORKER_TALLY % LONG).toBe(0);
    expect(layout.QUERY_BYTES % LONG).toBe(0);
  });
});
