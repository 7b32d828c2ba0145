import { describe, expect, it } from 'vitest';
import { RobotsFilterError } from '../../../src/base/errors.js';
import { TableBuilder } from '../../../src/compile/table-builder.js';
import { checkTable } from '../../../src/judge/table-memory.js';
import { verifyShard } from '../../../src/verify/verify-table.js';
import { rulesOf } from '../../../src/view/automaton-view.js';
import { ShardView } from '../../../src/view/shard-view.js';
import { type Field, fieldsOf } from './fields.js';
import { crowdedTable, datedTable, forged, richTable, wideTable } from './tables.js';

const TABLES = {
  rich: richTable(),
  google: richTable('google'),
  wide: wideTable(),
  crowded: crowdedTable(),
  dated: datedTable(),
};
type TableName = keyof typeof TABLES;

const FIELDS = Object.fromEntries(
  Object.entries(TABLES).map(([name, table]) => [name, fieldsOf(table)]),
) as Record<TableName, Field[]>;

/** The fault of a table with a valid checksum; `undefined` if there is none. */
function refusal(table: Uint8Array): string | undefined {
  const header = checkTable(table, 'some.table');
  try {
    verifyShard(table, header, 'some.table');
    return undefined;
  } catch (error) {
    if (error instanceof RobotsFilterError && error.code === 'table') return error.message;
    throw error;
  }
}

function numberAt(table: Uint8Array, { at, bytes }: Field): number {
  return Buffer.from(table.buffer, table.byteOffset, table.length).readUIntLE(at, bytes);
}

/** The fields with a name in a table, and their values. */
function all(name: string, table: TableName = 'rich'): (Field & { readonly value: number })[] {
  const fields = FIELDS[table].filter((field) => field.name === name);
  if (fields.length === 0) throw new Error(`no ${name}`);
  return fields.map((field) => ({ ...field, value: numberAt(TABLES[table], field) }));
}

/** One of these fields. */
function one(
  name: string,
  is: (value: number, index: number) => boolean = () => true,
  table: TableName = 'rich',
): Field & { readonly value: number } {
  const found = all(name, table).find(({ value }, index) => is(value, index));
  if (found === undefined) throw new Error(`no such ${name}`);
  return found;
}

/** Another value for a field, from its present value and its offset. */
type Change = number | ((value: number, at: number) => number);

/**
 * A single changed number: the field, which field of that name, its new value, and the expected
 * message; in the rich table unless another is named.
 */
const SINGLE: readonly (readonly [
  field: string,
  is: (value: number, index: number) => boolean,
  change: Change,
  found: RegExp,
  table?: TableName,
])[] = [
  // Header
  ['header factor', any, (value) => value & ~1, /section header, byte 344: the factor .* is even/],
  ['header 32', any, 45, /section header, byte 0: it states 45 hosts, and the table has 46/],
  ['header 36', any, 1, /states 1 authorities, and the table has 50/],
  ['header 40', any, 1, /states 1 robots records, and/],
  ['header 44', any, 1, /states 1 automata, and/],
  ['header 48', any, 1, /states 1 rules, and/],
  ['header 52', any, (value) => value - 1, /section tokens, byte 352: product token 0 starts at/],
  ['header 60', any, 9, /byte 60: the longest probe is 9 buckets; the limit is 8/, 'crowded'],
  // Tokens
  ['token start', any, (value) => value + 1, /section tokens, byte 352: .* 0 starts at/],
  ['token bytes', nth(5), 0xffff_ff00, /product token 5 has 4294967040 bytes, beyond/],
  ['token', any, 0x2b, /product token 0 is not \*/],
  ['token bytes', nth(1), 1, /product token 1 is not empty/],
  ['token', nth(1), 0x7a, /product token 3 is not sorted/],
  ['token', nth(2), 0x4f, /product token 2 is not in lower case/],
  // Buckets
  ['free slot tag', any, 1, /section buckets, byte \d+: a free slot has a tag/],
  ['slot', nth(3), 0, /a free slot has a tag/],
  ['slot tag', any, 0, /a used slot has no tag/],
  ['slot', any, 352, /the host at 352 is outside its section/],
  ['slot', any, 0xffff_fffc, /the host at 4294967292 is outside/],
  ['slot', any, () => one('slot', nth(7)).value, /a second slot has the host at/],
  ['passed', is(0), 1, /cannot have been passed/],
  ['passed', is(0), 0x8000_0000, /cannot have been passed/],
  [
    'passed',
    is(1),
    0,
    /section hosts, .* the host h\d+\.example is in a bucket where it is not/,
    'crowded',
  ],
  ['header 60', any, 1, /is in a bucket where it is not looked for/, 'crowded'],
  // Hosts
  ['host form', any, 3, /section hosts, byte \d+: a host of form 3/],
  ['host form', is(1), 0, /is not canonical/],
  ['host', any, 0x41, /the host ".*" is not canonical/],
  ['host', any, 0x71, /the host q.* is in a bucket where it is not looked for/],
  ['host bytes', any, 0, /the host "" is not canonical/],
  ['slot tag', any, (value) => value ^ 2, /is in a bucket where it is not looked for/],
  ['entries', any, 0, /a host without authorities/],
  ['entries', any, 0xffff, /the host ends beyond its section/],
  ['port', nth(1), 0xffff, /not sorted by port/],
  ['port', nth(4), 443, /not sorted by port/],
  ['port', nth(3), 443, /port 443 is the default of its scheme/],
  ['schemes', any, 0, /: schemes 0/],
  ['schemes', any, 8, /: schemes 8/],
  ['schemes', nth(1), 1, /a scheme occurs twice at port 0/],
  ['entry form', any, 0, /the form of the authority differs from its host's/],
  ['entry host', any, (value) => value + 1, /the authority names another host/],
  ['source', any, (value) => value + 1, /no source starts at/],
  ['source', any, 0, /no source starts at 0/],
  ['source', any, 0xffff_ffff, /no source starts at 4294967295/],
  [
    'source',
    (value) => uses('source', value) > 30,
    () => sourceOfKind(1),
    /does not fit the form of its host/,
  ],
  // Histories
  ['header 8', any, 9, /section hosts, byte \d+: a host of form 3/, 'dated'],
  ['host form', any, 2, /./, 'dated'],
  ['entry form', any, 2, /the form of the authority differs from its host's/, 'dated'],
  ['entry history', any, (value) => value + 4, /the history is not at/, 'dated'],
  ['entry history', last, 0, /the history is not at/, 'dated'],
  ['entry history', last, () => one('entry history', any, 'dated').value, /is not at/, 'dated'],
  ['entry history', any, 0xffff_fff0, /the history is not at/, 'dated'],
  ['versions', any, 0, /a history without versions/, 'dated'],
  ['versions', any, 0xffff_ffff, /the history ends beyond its section/, 'dated'],
  ['versions', is(5), 4, /another robots record than its last version/, 'dated'],
  ['version time', nth(0), 0, /the times do not ascend/, 'dated'],
  ['version time', last, 1, /the times do not ascend/, 'dated'],
  ['robots', nth(0), 0x10, /refers to the robots record at 16, outside the section/, 'dated'],
  ['source', last, 0, /no source starts at 0/, 'dated'],
  // References
  ['robots', any, 0x10, /refers to the robots record at 16, outside the section/],
  ['robots', any, 0xffff_fff0, /robots record at 4294967280, outside/],
  ['robots', any, () => one('slot').value, /robots record at \d+, where none starts/],
  ['robots', any, (value) => value + 1, /./],
  ['automaton', not0, (value) => value - 1, /automaton at \d+, where none starts|starts within/],
  ['automaton', nth(500), (value) => value + 3, /starts within another part/, 'wide'],
  ['automaton', not0, 8, /automaton at 8, outside the section/],
  // Robots records
  ['record head', any, 3, /a robots record that begins with 3/],
  ['record head', any, 8, /a robots record that begins with 8/],
  ['record tokens', not0, 0xffff, /65535 product tokens, beyond its section/],
  ['record token', any, 6, /there is no product token 6/],
  ['record token', any, 0xffff, /there is no product token 65535/],
  ['wide record token', nth(1), 0, /product tokens do not ascend/, 'wide'],
  ['wide record list', nth(1), 0xffff_ffff, /no list of groups starts at/, 'wide'],
  ['wide record list', nth(2), (value) => value - 8, /./, 'wide'],
  ['wide record list', nth(2), (value) => value + 1, /no list of groups starts at/, 'wide'],
  ['record list', any, 0, /no list of groups starts at/],
  [
    'group line',
    even,
    (value) => value | 1,
    /refers to the automaton|starts within|not zero|no list/,
  ],
  // Automata
  ['widths', any, 3, /an automaton of widths 3/],
  ['widths', any, 12, /an automaton of widths 12/],
  ['widths', any, (value) => value | 64, /an automaton of widths/],
  ['automaton bytes', any, 0xffff, /the automaton ends beyond its section/],
  ['automaton bytes', any, 1, /the automaton ends before it begins/],
  ['automaton bytes', any, (value) => value - 1, /./],
  ['automaton rules', any, (value) => value + 1, /the automaton states \d+ rules, and has/],
  ['nodes end', any, 0, /the automaton ends before it begins/],
  ['nodes end', any, (value) => value + 5, /./],
  ['nodes end', any, (value) => value - 1, /./],
  // Nodes
  ['flags', any, (value) => value | 128, /a node of flags/],
  ['flags', any, (value) => value | 48, /a node of flags/],
  ['label bytes', last, 255, /the nodes of the automaton end within a node/],
  ['edges', any, 0, /a node of no edges/],
  ['edges', last, 255, /./],
  ['further edge', any, (_value, at) => TABLES.rich[at - 1] ?? 0, /a second edge of/],
  ['distance', any, (value) => value + 1, /the edge does not lead to the node at/],
  ['distance', any, 0, /the edge does not lead to the node at/],
  ['distance', any, 0xffff_ff00, /the edge does not lead to the node at/, 'wide'],
  // Prefix rules
  ['prefix form', any, 128, /a prefix rule of form 128/],
  ['prefix form', any, 16, /a prefix rule of form 16/],
  ['prefix form', has(8), (value) => value | 2, /a prefix rule of form/],
  ['prefix form', has(8), (value) => value & ~4, /a prefix rule of form/],
  ['prefix form', is(3), 1, /a rule without a pattern/],
  ['prefix line', any, 0x8000_0000, /the line of the rule is too great/, 'wide'],
  ['surplus', any, 0x4000_0000, /the rule is too long/],
  ['prefix text', any, 0xffff, /no text of the automaton starts there/],
  ['prefix text', any, (value) => value + 1, /no text of the automaton starts there/],
  ['label', is(0x6e), 0x22, /the rule has no text, and none can be derived/],
  ['label', is(0x6e), 0x80, /the rule has no text, and none can be derived/],
  // Blocks
  ['block bytes', any, (value) => value + 1, /the blocks of the node do not end at/],
  ['block head', (value) => value < 4, (value) => value | 64, /a block without masks begins/],
  ['block head', (value) => value < 4, (value) => value | 128, /a block without masks begins/],
  ['block head', (value) => value < 4, 31, /./],
  ['block head', has(64), (value) => value & ~64, /./],
  ['place', nth(1), (value) => value + 1, /the rule is at/],
  ['place', nth(0), 255, /the rule is at/],
  ['next block', any, (value) => value + 1, /the next block is at/],
  ['next block', any, 0, /the next block is at/],
  ['next block', any, 0xffff, /the next block is at/],
  ['bucket', any, 0, /the masks exclude a path that the rule matches/],
  ['rank', last, 0x3fff, /not in the order of their ranks/],
  ['rank', is(809), (value) => value + 2, /the rank differs from the pattern's/],
  ['rank', any, 0, /./],
  ['rank', (value) => value > 65_535, 0xffff_ffff, /the rank is too great/, 'wide'],
  [
    'rank',
    (value, index) => index > 0 && value > 10,
    2,
    /the rank (is less than|differs from) the pattern's|the order of their ranks/,
  ],
  ['rule bytes', any, 0, /the rule does not end where it can/],
  ['rule bytes', any, 0xffff_ffff, /the rule does not end where it can/, 'wide'],
  ['rule bytes', any, (value) => value + 1, /./],
  ['form', any, (value) => value & ~128, /a rule of a block of form/],
  ['form', any, (value) => value | 1, /a rule of a block of form/],
  ['form', any, (value) => value | 8, /a rule of a block of form/],
  ['form', is(144), 128, /without segments or \$/],
  ['form', is(144), 144 | 64, /without segments or \$/],
  ['line', any, 0xffff_ffff, /the line of the rule is too great/, 'wide'],
  ['rule text', any, 0xffff, /no text of the automaton starts there/],
  ['segment bytes', any, 0, /a segment of 0 bytes/],
  ['segment bytes', any, 0xff, /a segment of 255 bytes, in a rule that ends at/],
  ['segment bytes', any, 0xffff_fffe, /a segment of 4294967294 bytes/, 'wide'],
  ['segment', is(0x77), 0x22, /the rule has no text, and none can be derived/],
  // Texts
  ['text bytes', any, 0xffff, /the text ends beyond its automaton/],
  ['text bytes', any, (value) => value + 1, /./],
  ['text', any, 0x0a, /the text is not escaped as in a JSON string/],
  ['text', any, 0x22, /the text is not escaped as in a JSON string/],
  ['text', any, 0x5c, /the text is not escaped as in a JSON string/],
  ['text', any, 0xc3, /the text is not escaped as in a JSON string/],
  // Sources
  ['source kind', any, 3, /section sources, byte \d+: a source of kind 3/],
  ['source before', any, 4097, /the source is too long/],
  ['source after', last, 4000, /the source ends beyond its section/],
  ['source before', any, (value) => value + 1, /./],
  ['source text', any, 0x0a, /the source is not escaped as in a JSON string/],
];

function any(): boolean {
  return true;
}
function nth(index: number): (value: number, at: number) => boolean {
  return (_value, at) => at === index;
}
function is(wanted: number): (value: number) => boolean {
  return (value) => value === wanted;
}
function has(bits: number): (value: number) => boolean {
  return (value) => (value & bits) !== 0;
}
function not0(value: number): boolean {
  return value !== 0;
}
function even(value: number): boolean {
  return value % 2 === 0;
}
/** Stands for the last field with a name. */
function last(): boolean {
  return false;
}

/** The times of the versions of the history with the most of them. */
function versions(): Field[] {
  const counts = all('versions', 'dated').map(({ value }) => value);
  const most = Math.max(...counts);
  const start = counts.slice(0, counts.indexOf(most)).reduce((sum, count) => sum + count, 0);
  return all('version time', 'dated').slice(start, start + most);
}

/** How many fields with a name hold the value. */
function uses(name: string, value: number): number {
  return all(name).filter((field) => field.value === value).length;
}

function sourceOfKind(kind: number): number {
  return one('source kind', (value) => value === kind).at;
}

describe('a table with a valid checksum is refused by its wrong byte', () => {
  it.each(Object.keys(TABLES) as TableName[])('except a sound one: %s', (name) => {
    expect(refusal(TABLES[name])).toBeUndefined();
  });

  const cases = SINGLE.map(([field, which, change, found, table = 'rich']) => {
    return { field, which, change, found, table };
  });
  it.each(cases)('$field (%#)', ({ field, which, change, found, table }) => {
    const place = which === last ? all(field, table).at(-1) : one(field, which, table);
    if (place === undefined) throw new Error(field);
    const value = typeof change === 'number' ? change : change(place.value, place.at);
    const modulo = 2 ** (8 * place.bytes);
    const damaged = forged(TABLES[table], [
      { ...place, value: ((value % modulo) + modulo) % modulo },
    ]);
    const message = refusal(damaged);
    expect(message).toMatch(found);
    expect(message).toMatch(
      /^some\.table: not a sound table: section (header|tokens|buckets|hosts|sources), byte \d+: .+: do not use it\. Compile the robots\.txt files again$/,
    );
  });

  const ROBOTS_AT = 4;
  const SOURCE_AT = 8;
  const CONFIRMED_AT = 16;
  const wordOf = (version: number, offset = 0): number => {
    const at = (versions().at(version)?.at ?? 0) + offset;
    return numberAt(TABLES.dated, { name: '', at, bytes: 4 });
  };

  it.each<[what: string, version: number, offset: number, value: () => number, found: RegExp]>([
    ['as old as the one before', 1, 0, () => wordOf(0), /the times do not ascend/],
    ['older than the one before', 1, 0, () => wordOf(0) - 1, /the times do not ascend/],
    ['as new as the next', 1, 0, () => wordOf(2), /found before it began/],
    ['of time 0', 0, 0, () => 0, /the times do not ascend/],
    ['found before it began', 1, CONFIRMED_AT, () => wordOf(1) - 1, /found before it began/],
    ['never found', -1, CONFIRMED_AT, () => 0, /found before it began/],
    ['found when the next began', 1, CONFIRMED_AT, () => wordOf(2), /the times do not ascend/],
    ['found at the end of time', 0, CONFIRMED_AT, () => 0xffff_ffff, /the times do not ascend/],
    ['of the same robots record', 1, ROBOTS_AT, () => wordOf(0, ROBOTS_AT), /is that before it/],
    ['of no robots record', 1, ROBOTS_AT, () => 0, /the robots record at 0, outside/],
    ['of one beyond', 1, ROBOTS_AT, () => 0xffff_fff0, /robots record at 4294967280, outside/],
    ['of a host', 1, ROBOTS_AT, () => one('slot', any, 'dated').value, /where none starts/],
    [
      'of other rules, and the last',
      -1,
      ROBOTS_AT,
      () => wordOf(-3, ROBOTS_AT),
      /its last version/,
    ],
    ['of no source', 1, SOURCE_AT, () => 0, /no source starts at 0/],
    ['of a source beyond', 0, SOURCE_AT, () => 0xffff_ffff, /no source starts at 4294967295/],
    ['of half a source', -1, SOURCE_AT, () => wordOf(-1, SOURCE_AT) + 1, /no source starts at/],
  ])('a version %s', (_what, version, offset, value, found) => {
    expect(versions().length).toBeGreaterThan(4);
    const at = (versions().at(version)?.at ?? 0) + offset;
    const damaged = forged(TABLES.dated, [{ at, bytes: 4, value: value() }]);
    expect(refusal(damaged)).toMatch(found);
  });

  it('many hosts that name one long history, which is not read for each of them', () => {
    const builder = new TableBuilder({ history: true });
    for (let version = 0; version < 500; version++) {
      const body = `user-agent: *\ndisallow: /${version % 2}\n`;
      builder.add('long.example', body, { source: 'f', date: 1e12 + 1000 * version });
    }
    for (let port = 1; port <= 60; port++) {
      const authority = { scheme: undefined, host: 'ports.example', port };
      builder.add(authority, Buffer.from(''), { source: 'f', date: 1e12 });
      builder.add(`h${port}.example`, '', { source: 'f', date: 1e12 });
    }
    const table = builder.build();
    expect([...new ShardView(table).hosts()]).toHaveLength(62);
    const fields = fieldsOf(table);
    const [long] = fields.filter(
      (field) => field.name === 'versions' && numberAt(table, field) === 500,
    );
    const pointers = fields.filter(({ name }) => name === 'entry history');
    const damaged = forged(
      table,
      pointers.map((field) => ({ ...field, value: long?.at ?? 0 })),
    );
    expect(refusal(damaged)).toMatch(/the history is not at/);
    const view = new ShardView(damaged, 'it');
    expect(() => [...view.hosts()]).toThrow('its hosts are longer than their section');
    expect(() => view.find('ports.example')).toThrow('the histories of a host are longer');
    expect(view.find('h1.example')?.authorities).toHaveLength(1);
  });

  it('a history of one version more or less than it has', () => {
    for (const { at, value } of all('versions', 'dated')) {
      for (const count of [value - 1, value + 1]) {
        const damaged = forged(TABLES.dated, [{ at, bytes: 4, value: count }]);
        expect(refusal(damaged)).toMatch(
          /section hosts, byte \d+: .*(histor|version|times|nothing)/,
        );
      }
    }
  });

  it('except a source with an escape where its host or number begins', () => {
    const sources = ['x\u0012', 'x\u00121', '\\12', '"7', 'a\u000a\u000b', '\u001f9/b', 'a\\a'];
    const builder = new TableBuilder();
    sources.forEach((source, index) => {
      const authority = { scheme: undefined, host: 'ab7'.charAt(index % 2), port: 100 + index };
      builder.add(authority, Buffer.from('user-agent: *\ndisallow: /\n'), { source });
    });
    const table = builder.build();
    expect(refusal(table)).toBeUndefined();
    const found = [...new ShardView(table).hosts()].flatMap(({ authorities }) =>
      authorities.map(({ source }) => JSON.parse(`"${source}"`) as string),
    );
    expect(found.sort()).toEqual([...sources].sort());
  });

  it('a source whose host would end the JSON string, or make it too long', () => {
    const long = 'l'.repeat(4090);
    const builder = new TableBuilder();
    const sources = { 'a"b.example': 'some file', 'c.example': 'c.example', 'd.example': long };
    for (const [host, source] of Object.entries(sources)) {
      builder.add({ scheme: undefined, host, port: undefined }, Buffer.from(''), { source });
    }
    const table = builder.build();
    expect(refusal(table)).toBeUndefined();
    const fields = fieldsOf(table);
    const source = fields.find(
      (field) => field.name === 'source kind' && numberAt(table, field) === 1,
    );
    const kind = fields.find(
      ({ name, at }) => name === 'source kind' && table[at + 5] === 'l'.charCodeAt(0),
    );
    if (source === undefined || kind === undefined) throw new Error('no source with a host');
    const hosts = fields.filter(({ name }) => name === 'source');
    const broken = hosts.map((field) => ({ ...field, value: source.at }));
    expect(refusal(forged(table, broken))).toMatch(/the source has a host that would be escaped/);
    expect(refusal(forged(table, [{ ...kind, value: 1 }]))).toMatch(/is too long with its host/);
  });

  it('two equal hosts', () => {
    // A host of the same bucket and length takes the name and the tag of another host.
    const slots = all('slot');
    const tags = all('slot tag');
    for (const [index, slot] of slots.entries()) {
      const other = slots.find(
        ({ at, value }, place) =>
          place > index &&
          Math.floor(at / 64) === Math.floor(slot.at / 64) &&
          isNumberedAlike(value, slot.value),
      );
      if (other === undefined) continue;
      const bytes = nameBytes(slot.value);
      const copy = Buffer.from(TABLES.rich);
      copy.copy(copy, other.value + 14, slot.value + 14, slot.value + 14 + bytes);
      const tag = tags[slots.indexOf(other)];
      if (tag === undefined) throw new Error('no tag');
      const damaged = forged(copy, [{ ...tag, value: tags[index]?.value ?? 0 }]);
      expect(refusal(damaged)).toMatch(/the host .* is also at \d+/);
      return;
    }
    throw new Error('no two hosts can be made equal');
  });

  it('bytes that nothing refers to', () => {
    for (const section of ['tokens', 'buckets', 'hosts', 'sources'] as const) {
      const { sections } = checkTable(TABLES.rich, 'it');
      const at = sections[section].end - 1;
      if (TABLES.rich[at] !== 0 || section === 'buckets') continue;
      expect(refusal(forged(TABLES.rich, [{ at, bytes: 1, value: 1 }]))).toMatch(
        new RegExp(`section ${section}, byte ${at}: nothing refers to this byte`),
      );
    }
  });

  it('a list of groups with more rules than a file can have', () => {
    // Groups that name the same automaton share it: one of a thousand rules, three thousand times.
    const rules = (letter: string): string =>
      Array.from({ length: 1000 }, (_, n) => `allow: /${letter}${n}\n`).join('');
    const builder = new TableBuilder();
    const body = `${'user-agent: *\nallow: /\nuser-agent: b\nallow: /b\n'.repeat(3000)}user-agent: c\n${rules('c')}`;
    const authority = { scheme: undefined, host: 'a.example', port: undefined };
    builder.add(authority, Buffer.from(body), { source: '' });
    const table = builder.build();
    const groups = fieldsOf(table).filter(({ name }) => name === 'automaton');
    const many = numberAt(table, groups.at(-1) as Field);
    const damaged = forged(
      table,
      groups.slice(0, 3000).map((field) => ({ ...field, value: many })),
    );
    expect(refusal(damaged)).toMatch(/a list of groups has more than 2097152 rules/);
    const [host] = new ShardView(damaged).hosts();
    const view = new ShardView(damaged, 'it');
    const [first] = view.groups(host?.authorities[0]?.robots ?? 0);
    expect(() => first && rulesOf(view, first)).toThrow(/more rules than a file can hold/);
  });

  it('a narrow record, if product tokens have numbers of more than 16 bits', () => {
    const builder = new TableBuilder({ maxBytes: 4_000_000 });
    const tokens = Array.from({ length: 66_000 }, (_, n) => `user-agent: ${n.toString(26)}\n`)
      .join('')
      .replaceAll(/[0-9]/g, (digit) => 'qrstuvwxyz'.charAt(Number(digit)));
    const hosts = [
      ['a.example', `${tokens}disallow: /\n`],
      ['b.example', ''],
    ] as const;
    for (const [host, body] of hosts) {
      const authority = { scheme: undefined, host, port: undefined };
      builder.add(authority, new TextEncoder().encode(body), { source: '' });
    }
    const table = builder.build();
    expect(refusal(table)).toBeUndefined();
    // A record without product tokens, which can be shortened by two zeros.
    const empty = fieldsOf(table).find(
      (field) => field.name === 'wide record tokens' && numberAt(table, field) === 0,
    );
    if (empty === undefined) throw new Error('no record without product tokens');
    const damaged = forged(table, [{ at: empty.at - 1, bytes: 1, value: 0 }]);
    expect(refusal(damaged)).toMatch(/product tokens have numbers of more than 16 bits/);
  });

  it('masks that let nothing pass', () => {
    const mask = one('mask');
    const copy = Buffer.from(TABLES.rich);
    copy.fill(0, mask.at, mask.at + 16);
    expect(refusal(forged(copy, []))).toMatch(/the masks exclude a path that the rule matches/);
  });
});

function nameBytes(record: number): number {
  return TABLES.rich[record] ?? 0;
}

/** Whether two host records are of form 1, with hosts of the same length. */
function isNumberedAlike(a: number, b: number): boolean {
  return TABLES.rich[a + 1] === 1 && TABLES.rich[b + 1] === 1 && nameBytes(a) === nameBytes(b);
}
