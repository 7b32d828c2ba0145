import { isUtf8 } from 'node:buffer';
import { Readable, Writable } from 'node:stream';
import { isDeepStrictEqual } from 'node:util';
import { bytesOf, charactersOf } from '../../oracle/bytes.js';
import { logUrl, readLogLine, withoutLogEscapes } from '../../oracle/log.js';
import { isBlank, readJsonRecord, rowsOf } from '../../oracle/records.js';
import { COMMA } from '../../src/base/ascii.js';
import { TableBuilder } from '../../src/compile/table-builder.js';
import { DecidedRules } from '../../src/inspect/host-order.js';
import { Table, tableMemory } from '../../src/judge/table.js';
import { Filter } from '../../src/pipeline/filter.js';
import { RowSplitter } from '../../src/pipeline/input/row-lines.js';
import type { Agent } from '../../src/protocol/agent.js';
import { HeaderAgents } from '../../src/protocol/header-agents.js';
import type { KnownAgent } from '../../src/protocol/known-agent.js';
import { VERDICTS } from '../../src/protocol/verdict.js';
import { MainThread } from '../../src/workers/main-thread.js';
import { words } from '../../test/hostile/pieces.js';
import type { Random } from '../../test/random/random.js';
import { agree, Fault, shown } from '../fault.js';
import { GuardedKernel } from '../kernel/guarded-kernel.js';
import type { Target } from '../target.js';

const HOSTS = ['a.example', 'b.example'];
const RULES = [
  'user-agent: *\ndisallow: /a\nallow: /a/ok\n\nuser-agent: GPTBot\ndisallow: /b\n\nuser-agent: Tom\ndisallow: /\n',
  'user-agent: x\nuser-agent: MyBot\ndisallow: /a\n\nuser-agent: GPTBot\ndisallow:\n',
];
const known = { operator: '', purpose: 'mine', description: '', source: '', date: '' } as const;
const KNOWN: readonly KnownAgent[] = [
  { ...known, token: 'GPTBot', obeys: 'yes' },
  { ...known, token: 'Tom', published: 'Uncle Tom', obeys: 'yes' },
  { ...known, token: 'AdsBot', obeys: 'yes', fallback: false },
];
/** The names that are longest, and one byte longer. */
const LONG = [92, 93].map((bytes) => 'x'.repeat(bytes));
const VALUES = [
  ...words('GPTBot/1.2 gptbot MyBot/1 x - \xe9 \xc3\xa9MyBot AdsBot/2 Mozilla/5.0 \x00 \\xe9'),
  ...['', 'Mozilla/5.0 (compatible; GPTBot/1.2)', 'Uncle Tom', 'y'.repeat(1023), ...LONG],
  ...['Mozilla/5.0 (X11) Firefox/1', `${'z '.repeat(508)}GPTBot`, `${'z '.repeat(509)}GPTBot`],
];
const ESCAPES = ['\\"', '\\\\', '\\x22', '\\x47PTBot', '\\u0047PTBot', '\\t', '\\', '""', '\\u00'];
const URLS = HOSTS.flatMap((host) =>
  words('/a /a/ok /b /').map((path) => `https://${host}${path}`),
).concat('https://unknown.example/a', 'no', '');

/** Bytes of a batch: lines of an input fill it, leave a byte, or are longer. */
const BATCHES = [64, 256, 1024, 1 << 14];

interface Asked {
  /** `null` if it is not known: the kernel reads some lines that `JSON.parse` refuses. */
  readonly url: string | undefined | null;
  /** The value that names the agent, as text; `undefined` if what counts of it is not known. */
  readonly value: string | undefined;
}

type Format = 'log' | 'ndjson' | 'csv';

/**
 * Records that name their agents, in batches of a few lines: each is judged for its agent, and
 * counted for it, at its host and by its rule.
 */
export const target: Target = {
  name: 'agents',
  summary: 'records that name their agents, against a run for each agent',
  maxBytes: 6000,
  seeds: [
    lineOf('log', 'https://a.example/a', 'GPTBot/1') + lineOf('log', 'https://a.example/b', 'x'),
    `${lineOf('ndjson', 'https://a.example/a', '\\u0047PTBot')}{"url":"https://b.example/a"}\n`,
    lineOf('csv', 'https://a.example/b', 'Mozilla/5.0 (a ""b""; GPTBot/1)'),
    ['log', 'ndjson', 'csv']
      .map((format) => lineOf(format as Format, URLS[0] ?? '', LONG[1] ?? ''))
      .join(''),
    `${lineOf('log', 'https://a.example/a', `${'\\x22'.repeat(256)} GPTBot`)}${lineOf('log', URLS[0] ?? '', 'x').slice(0, -3)}`,
    `${'\\'.repeat(40)}\r\n${lineOf('ndjson', URLS[1] ?? '', `${'\\u0041'.repeat(200)}`)}`,
  ],
  dictionary: [...VALUES, ...ESCAPES, ...URLS, '"agent":', '"url":', ' "-" "', '] "', '\r\n', '\n'],
  generate(random) {
    const format = random.pick(['log', 'ndjson', 'csv'] as const);
    return Array.from({ length: random.between(1, 12) }, () => {
      const value = random.chance(0.2)
        ? random.run([...VALUES, ...ESCAPES], 0, 3)
        : random.pick(VALUES);
      return lineOf(format, random.pick(URLS), value, random);
    }).join('');
  },
  piece: (random) => random.pick([...VALUES, ...ESCAPES, ...URLS]),
  check(build) {
    const kernel = new GuardedKernel(build);
    const builder = new TableBuilder();
    HOSTS.forEach((host, index) => {
      const authority = { scheme: 'https', host, port: undefined } as const;
      builder.add(authority, bytesOf(RULES[index] ?? ''), { source: host });
    });
    const bytes = builder.build();
    const table = Table.from(bytes);
    const agents = new HeaderAgents(KNOWN);
    return async (input) => {
      kernel.load(bytes);
      await checkFormat({ kernel, table, agents, format: formatOf(input), input });
    };
  },
};

/** The format that an input looks like: to read it as the others finds little, and takes long. */
function formatOf(input: Uint8Array): Format {
  const text = charactersOf(input);
  if (text.includes('] "')) return 'log';
  return text.includes('{') ? 'ndjson' : 'csv';
}

/** A record; with `random` some that lack something. */
function lineOf(format: Format, url: string, value: string, random?: Random): string {
  const isBroken = random?.chance(0.05) === true;
  const end = random?.pick(['\n', '\n', '\r\n']) ?? '\n';
  const server = url.split('/')[2] ?? '-';
  const path = url.split('/').slice(3).join('/');
  const text = {
    log: `${server} - - [-] "GET /${path} HTTP/1.1" 200 5 "-" "${value}"`,
    ndjson: `{"url":"${url}","agent":"${value}"}`,
    csv: `${url},"${value}"`,
  }[format];
  return `${isBroken ? text.slice(0, random.between(0, text.length)) : text}${end}`;
}

interface Case {
  readonly kernel: GuardedKernel;
  readonly table: Table;
  readonly agents: HeaderAgents;
  readonly format: Format;
  readonly input: Uint8Array;
}

const NO_CRAWLER: Agent = { name: '*', chain: ['*'] };
/** Bytes of a value that count, and of a name that is counted apart. */
const MOST_VALUE = 1024;
const MOST_NAME = 92;

async function checkFormat({ kernel, table, agents, format, input }: Case): Promise<void> {
  const lines = format === 'csv' ? rowLines(input) : input;
  const records = recordsOf(format, input);
  const drawn = input.reduce((sum, byte) => sum + byte, input.length);
  const filter = filterOf(table, BATCHES[drawn % BATCHES.length] as number);
  try {
    const output: Uint8Array[] = [];
    const sink = new Writable({
      write: (piece, _, done) => {
        output.push(Buffer.from(piece));
        done();
      },
    });
    const stream = Readable.from(piecesOf(lines, 1 + (drawn % 97)));
    const columns = format === 'csv' ? { column: 0, agentColumn: 1 } : {};
    await filter.run({ kind: 'stream', name: 'input', stream, format, ...columns }, sink);
    const rows = Buffer.concat(output).toString().split('\n');
    agree('the end of the output', rows.pop(), '');
    agree('records', rows.length, records.length);
    const expected = new Counts();
    // A line that only the kernel reads as JSON comes out as it is.
    const isSound = records.every(({ url }) => url !== null);
    rows.forEach((row, at) => {
      const { url, value } = records[at] as Asked;
      if (url === null) return;
      const own = JSON.parse(row) as Judged;
      const found = value === undefined ? undefined : (agents.agentOf(value) ?? NO_CRAWLER);
      // What a value that is cut off within an escape names, the run alone knows.
      const agent = found ?? agents.agentOf(own.judged_as ?? '') ?? NO_CRAWLER;
      const judged = kernel.ask({ format: 'text', agents: [agent] });
      const { verdict } =
        url === undefined ? { verdict: 'invalid' } : kernel.judge(judged, bytesOf(url));
      expected.add(own);
      agree(`${format} ${at}: verdict`, own.verdict, verdict);
      const name = verdict === 'invalid' ? undefined : found?.name;
      if (value !== undefined) agree(`${format} ${at}: agent`, own.judged_as ?? undefined, name);
    });
    if (isSound) expected.check(filter, table);
  } finally {
    await filter.close();
  }
}

interface Judged {
  readonly url: string;
  readonly verdict: string;
  readonly rule?: { readonly line: number; readonly source: string };
  readonly reason: string;
  readonly judged_as: string | null;
}

/** The counts of the records that came out. */
class Counts {
  readonly #verdicts = new Map<string, number[]>();
  readonly #hosts = new Map<string, Set<string>>();
  readonly #rules = new Map<string, number>();

  add({ url, verdict, rule, reason, judged_as: name }: Judged): void {
    if (name === null) return;
    // A name that is too long is counted among the others.
    const agent = name.length > MOST_NAME ? '' : name;
    const counts = this.#verdicts.get(agent) ?? VERDICTS.map(() => 0);
    this.#verdicts.set(
      agent,
      counts.map((count, index) => count + (VERDICTS[index] === verdict ? 1 : 0)),
    );
    if (reason === 'unknown-host') return;
    const pair = `${agent} ${new URL(url).host}`;
    this.#hosts.set(pair, (this.#hosts.get(pair) ?? new Set()).add(verdict));
    if (rule === undefined) return;
    const key = `${agent} ${rule.source} ${rule.line} ${verdict}`;
    this.#rules.set(key, (this.#rules.get(key) ?? 0) + 1);
  }

  check(filter: Filter, table: Table): void {
    const { agents, others } = filter.namedAgents();
    const verdicts = agents.map(({ name, verdicts }) => [name, verdicts] as const);
    const all = others.some((count) => count > 0) ? [...verdicts, ['', others] as const] : verdicts;
    same('verdicts by agent', new Map(all), this.#verdicts);
    const names = new Map(agents.map(({ name }, index) => [name, index]));
    const nameAt = (index: number): string => agents[index]?.name ?? '';
    const decided = new DecidedRules(tableMemory(table).view);
    const { rules } = filter.ruleCounts(undefined, names);
    const byRule = rules.map(({ version, line, agent, allow, count }) => {
      const { host } = decided.find({ version, line });
      return [`${nameAt(agent)} ${host.host} ${line} ${allow ? 'allow' : 'deny'}`, count] as const;
    });
    same('rules by agent', new Map(byRule), this.#rules);
    filter.namedHosts(names)?.forEach((extents, index) => {
      const own = [...this.#hosts].filter(([pair]) => pair.startsWith(`${nameAt(index)} `));
      const counted = { all: 0, part: 0, none: 0 };
      for (const [, found] of own) {
        counted[found.size > 1 ? 'part' : found.has('allow') ? 'all' : 'none']++;
      }
      same(`hosts of ${nameAt(index)}`, extents, counted);
    });
  }
}

function same(what: string, found: unknown, expected: unknown): void {
  if (isDeepStrictEqual(found, expected)) return;
  const text = (value: unknown): string =>
    shown(JSON.stringify(value instanceof Map ? [...value] : value));
  throw new Fault(`${what}: ${text(found)}, should be ${text(expected)}`);
}

function filterOf(table: Table, batchBytes: number): Filter {
  return new Filter({
    table: tableMemory(table),
    pool: new MainThread(),
    batchBytes,
    settings: {
      agents: [{ name: 'all', chain: ['*'] }],
      agentField: ['agent'],
      knownAgents: KNOWN,
      output: 'annotate',
      outputFormat: 'ndjson',
      unknown: 'unknown',
      explain: true,
      strict: false,
      urlField: ['url'],
      verdictField: undefined,
      maxLineBytes: 1 << 14,
      countHosts: false,
      countByHost: true,
      countByRule: true,
      ruleEntries: 1 << 12,
    },
  });
}

function* piecesOf(bytes: Uint8Array, size: number): Iterable<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield Buffer.from(bytes.subarray(at, at + size));
}

function rowLines(input: Uint8Array): Uint8Array {
  let lines = '';
  const push = (piece: Buffer) => {
    lines += charactersOf(piece);
  };
  const splitter = new RowSplitter({ delimiter: COMMA, maxRecordBytes: 1e6, linesBefore: 0 }, push);
  splitter.split(Buffer.from(input));
  splitter.end();
  return bytesOf(lines);
}

// ---- The records, as plain readers read them

function recordsOf(format: Format, input: Uint8Array): Asked[] {
  const text = charactersOf(input);
  if (format === 'csv') {
    return rowsOf(text, ',').flatMap((row) => {
      if (row.text === '' || row.text === '\r') return [];
      const [url = '', value = ''] = row.isOpen || row.hasReturn ? [] : row.fields;
      return [{ url: url === '' ? undefined : url, value: row.isOpen ? '' : textOf(value) }];
    });
  }
  const lines = text.split('\n');
  const open = lines.pop() ?? '';
  const all = [...lines.map((line) => line.replace(/\r$/, '')), open];
  const read = format === 'log' ? fromLog : fromJson;
  return all.filter((line) => !isBlank(line)).map(read);
}

function fromLog(line: string): Asked {
  const read = readLogLine(line);
  const url = read && logUrl(line, read);
  const value = Buffer.from((read?.agent ?? '').slice(0, MOST_VALUE), 'latin1').toString();
  return { url, value: withoutLogEscapes(value) };
}

function fromJson(line: string): Asked {
  const read = readJsonRecord(line, ['url'], false);
  if (read.kind === 'refused' || !isUtf8(bytesOf(line))) return { url: null, value: undefined };
  const { agent = '' } = read.value as { readonly agent?: unknown };
  const isLong = line.length > MOST_VALUE;
  const value = typeof agent === 'string' ? agent : '';
  return { url: read.url, value: isLong ? undefined : textOf(value) };
}

/** The text of a value, unless it may be longer than what counts of it. */
function textOf(value: string): string | undefined {
  return value.length > MOST_VALUE / 2 ? undefined : Buffer.from(value, 'latin1').toString();
}
