import { readFileSync } from 'node:fs';
import { main } from 'assemblyscript/asc';
import binaryen from 'assemblyscript/binaryen';
import { beforeAll, describe, expect, it } from 'vitest';
import * as compileLayout from '../../src/kernel/compile-layout.js';
import { Arena, kernelBytes, PAGE_BYTES, requireLittleEndian } from '../../src/kernel/kernel.js';
import * as layout from '../../src/kernel/layout.js';
import { HOST_KEY_BYTES } from '../../src/table/format.js';

const WORD = 4;
const LONG = 8;

/** The files with the classes that describe memory in the kernel. */
const FILES = ['src/kernel/assembly/memory', 'src/kernel/assembly/compile/memory'];

/** Constants of the host, by name. */
const HOST: ReadonlyMap<string, unknown> = new Map(Object.entries({ ...compileLayout, ...layout }));

/** What the host's constants call a class. */
const PREFIXES: Readonly<Record<string, string>> = { CompileBlock: 'COMPILE' };

/** Constants that begin as a field does and are none: flags, numbers, arrays after the fields. */
const OTHERS = [
  /^TASK_(LINE_BASE_KNOWN|OVERLONG|RESUMED|BAD)$/,
  /^BAD_INPUT_LIMIT$/,
  /^DIVISION_SHARES$/,
  /^QUERY_(GOOGLE|EXPLAIN|STRICT|PARQUET|ADDS_SHARD|FRAMES|TIMED|EVER|DATED|REQUIRE_GRANT|NAMES_AGENT|FRAGMENTS)$/,
  /^AGENT_VERDICTS$/,
  /^MARKS_MOST$/,
  /^SHAPES_LIST$/,
  /^RULES_(NOTES|ENTRIES)$/,
  /^RULE_(VERSION|LINE|COUNT_BITS)$/,
  /^WORKER_(BEFORE|LINES|OPEN|FOLLOWERS|HOSTS|MARKS|SHAPES|RESULTS|TALLY)$/,
  /^COMPILE_(RARITY|SHARES|BUCKETS|BUCKETS_BYTES|GOOGLE|DIRECTORIES)$/,
  /^REGISTER_(KEY|KEY_BYTES|SLOTS|SLOT_COUNT|MOST_VALUES|ROOM|ROOM_BYTES|NAMES|MOST_NAMES|BYTES)$/,
  /^VALUE_TEXT$/,
  /^RESULT_GROUPS$/,
];

/** Blocks that are longer than their fields, and where the rest begins. */
const RESTS = [
  'TASK_BAD',
  'DIVISION_SHARES',
  'QUERY_FRAGMENTS',
  'RULES_NOTES',
  'WORKER_BEFORE',
  'SHAPES_LIST',
  'REGISTER_KEY',
  'VALUE_TEXT',
]
  .concat('COMPILE_RARITY')
  .map((rest): [string, string] => [rest.slice(0, rest.indexOf('_')), rest]);

/** `inputEnd` as `INPUT_END`. */
const constantCase = (name: string): string =>
  name.replace(/(?<=.)[A-Z]/g, (letter) => `_${letter}`).toUpperCase();

/** Offsets of the fields in the kernel, by the host's names, and the sizes: `TASK_BYTES`. */
const kernel = new Map<string, number>();

beforeAll(async () => {
  let source = '';
  for (const file of FILES) {
    const text = readFileSync(`${file}.ts`, 'utf8');
    for (const [, name = '', body = ''] of text.matchAll(/^export class (\w+) \{\n(.*?)^\}/gms)) {
      const prefix = PREFIXES[name] ?? constantCase(name);
      source += `import { ${name} } from '../../${file}';\n`;
      if (!body.includes('  bytes: ')) {
        source += `export const ${prefix}_BYTES: i32 = offsetof<${name}>();\n`;
      }
      for (const [, field = ''] of body.matchAll(/^ {2}(\w+): [\w |]+;$/gm)) {
        source += `export const ${prefix}_${constantCase(field)}: i32 = `;
        source += `offsetof<${name}>('${field}');\n`;
      }
    }
  }
  let wasm = new Uint8Array();
  const entry = 'test/kernel/offsets.ts';
  const { error } = await main(
    [entry, '--runtime', 'stub', '--use', 'abort=', '--outFile', 'offsets.wasm'],
    {
      readFile(name) {
        if (name === entry) return source;
        // It would compile the whole kernel.
        if (name === 'asconfig.json') return null;
        try {
          return readFileSync(name, 'utf8');
        } catch {
          return null;
        }
      },
      stderr: process.stderr,
      writeFile(_name, contents) {
        wasm = Uint8Array.from(contents as Uint8Array);
      },
    },
  );
  if (error !== null) throw error;
  const { exports } = new WebAssembly.Instance(new WebAssembly.Module(wasm), {});
  for (const [name, value] of Object.entries(exports)) {
    if (value instanceof WebAssembly.Global) kernel.set(name, Number(value.value));
  }
}, 120_000);

describe('layout', () => {
  it("has the kernel's offset of each field that the host knows", () => {
    const shared = [...kernel].filter(([name]) => HOST.has(name) && !longer(name));
    expect(shared.length).toBeGreaterThan(90);
    expect(shared.filter(([name, offset]) => HOST.get(name) !== offset)).toEqual([]);
  });

  it('has no constant of a block that is neither a field nor one of the others', () => {
    const prefixes = new Set([...kernel.keys()].map((name) => name.slice(0, name.indexOf('_'))));
    const unknown = [...HOST.keys()].filter(
      (name) =>
        prefixes.has(name.slice(0, name.indexOf('_'))) &&
        !kernel.has(name) &&
        !OTHERS.some((other) => other.test(name)),
    );
    expect(unknown).toEqual([]);
  });

  it.each(RESTS)('%s: nothing begins within the fields', (prefix, rest) => {
    expect(HOST.get(rest)).toBeGreaterThanOrEqual(kernel.get(`${prefix}_BYTES`) ?? Infinity);
  });

  it('has places for arrays, one after another', () => {
    const { WORKER_LINES, WORKER_OPEN, WORKER_FOLLOWERS, WORKER_HOSTS, WORKER_MARKS } = layout;
    const { GROUP_LINES, LINE_BYTES, HOST_SPACE, MARKS_BYTES, WORKER_RESULTS } = layout;
    expect(layout.TASK_BYTES).toBeGreaterThanOrEqual(
      layout.TASK_BAD + layout.MAX_BAD * layout.BAD_BYTES,
    );
    expect(layout.WORKER_BEFORE % LONG).toBe(0);
    expect(WORKER_LINES).toBe(layout.WORKER_BEFORE + LINE_BYTES);
    expect(WORKER_OPEN).toBe(WORKER_LINES + GROUP_LINES * LINE_BYTES);
    expect(WORKER_FOLLOWERS).toBe(WORKER_OPEN + GROUP_LINES * WORD);
    expect(WORKER_HOSTS).toBe(WORKER_FOLLOWERS + GROUP_LINES * WORD);
    expect(WORKER_MARKS).toBe(WORKER_HOSTS + GROUP_LINES * HOST_SPACE);
    expect(WORKER_RESULTS).toBeGreaterThanOrEqual(WORKER_MARKS + MARKS_BYTES);
    expect(layout.WORKER_TALLY).toBeGreaterThanOrEqual(
      WORKER_RESULTS + layout.MAX_AGENTS * layout.RESULT_BYTES,
    );
    expect(layout.RULES_ENTRIES).toBe(layout.RULES_NOTES + layout.NOTES_MOST * layout.NOTE_BYTES);
    expect(MARKS_BYTES).toBe((kernel.get('MARKS_FIRST') ?? 0) + (layout.MARKS_MOST + 19) * WORD);
  });

  it('has room for the key of a hash of values, as tables have for that of hosts', () => {
    expect(layout.REGISTER_KEY_BYTES).toBe(HOST_KEY_BYTES);
  });

  it('begins notes as it begins entries', () => {
    expect(kernel.get('NOTE_VERSION')).toBe(layout.RULE_VERSION);
    expect(kernel.get('NOTE_LINE')).toBe(layout.RULE_LINE);
    expect(kernel.get('RULE_PLACE')).toBe(layout.RULE_VERSION);
  });

  it('keeps the results that agents with equal groups share in two vectors', () => {
    expect(kernel.get('RESULT_GROUPS_LINK')).toBe(32);
    expect(kernel.get('RESULT_GROUPS_LIST')).toBe(layout.RESULT_GROUPS);
  });

  it('has an array of texts behind the fields of an agent', () => {
    expect(kernel.get('AGENT_ALLOW')).toBe(layout.AGENT_VERDICTS);
  });

  it('aligns the words of 64 bits that the host reads', () => {
    expect(layout.TASK_LINE_BASE % LONG).toBe(0);
    expect(layout.TASK_BYTES % 64).toBe(0);
    expect(layout.WORKER_TALLY % LONG).toBe(0);
    expect(layout.QUERY_BYTES % LONG).toBe(0);
  });
});

/** Whether the name is the size of a block that has more than its fields. */
function longer(name: string): boolean {
  return name === 'MARKS_BYTES' || RESTS.some(([prefix]) => name === `${prefix}_BYTES`);
}

it('says that the system refused the addresses if the memory cannot grow', () => {
  const arena = new Arena(new WebAssembly.Memory({ initial: 1, maximum: 2, shared: true }));
  expect(arena.take(PAGE_BYTES)).toEqual({ address: PAGE_BYTES, bytes: PAGE_BYTES });
  expect(() => arena.take(1)).toThrow(
    expect.objectContaining({
      code: 'limit',
      message: expect.stringMatching(/^The system refused the addresses for a memory\./),
    }),
  );
});

it('holds no data: instances that share a memory would overwrite each other', () => {
  const text = binaryen.readBinary(kernelBytes()).emitText();
  expect(text).toContain('(func ');
  expect(text).not.toContain('(data ');
});

it('refuses a big-endian machine', () => {
  expect(() => requireLittleEndian('LE')).not.toThrow();
  expect(() => requireLittleEndian('BE')).toThrow(/is big-endian.*x86-64 or ARM64/);
});
