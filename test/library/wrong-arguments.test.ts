import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { API_REPORT } from '../../build/public-api.js';
import { shownValue } from '../../src/base/arguments.js';
import * as library from '../../src/library/index.js';
import robotsParser from '../../src/library/robots-parser.js';
import { ROOT } from '../docs/scratch.js';

const { Robots, RobotsFilterError, Table, TableBuilder } = library;

/** A call with arguments that are right, of which each is replaced by wrong ones in turn. */
interface Call {
  readonly run: (...args: readonly never[]) => unknown;
  readonly args: readonly unknown[];
  /** Number of arguments that must be there. */
  readonly needed: number;
  /** Index of the options. */
  readonly options?: number;
  /** Values of options that are wrong, beside those that no option may have. */
  readonly wrongOptions?: readonly Readonly<Record<string, unknown>>[];
}

const BODY = 'user-agent: *\ndisallow: /a\n';
const URL_OF_TABLE = 'https://h.example/';
const robots = Robots.parse(BODY);
const builder = new TableBuilder({ records: true, signals: true });
builder.add('h.example', BODY);
const table = Table.from(builder.build());

const asked = (of: object, name: string): Call => ({
  run: (...args) => (of as Record<string, (...args: never[]) => unknown>)[name]?.(...args),
  args: [URL_OF_TABLE, 'a'],
  needed: 2,
});

const CALLS: Readonly<Record<string, Call>> = {
  'Robots.parse': {
    run: Robots.parse,
    args: [BODY, {}],
    needed: 1,
    options: 1,
    wrongOptions: [{ profile: 'bing' }, { profile: 1 }, { maxBytes: '600000' }, { maxBytes: 1 }],
  },
  'Robots.prototype.verdict': asked(robots, 'verdict'),
  'Robots.prototype.isAllowed': asked(robots, 'isAllowed'),
  'Robots.prototype.isDisallowed': asked(robots, 'isDisallowed'),
  'Robots.prototype.rulesFor': { run: (agent) => robots.rulesFor(agent), args: ['a'], needed: 1 },
  'Robots.prototype.crawlDelay': {
    run: (agent) => robots.crawlDelay(agent),
    args: ['a'],
    needed: 1,
  },
  'Robots.prototype.preferences': {
    run: (agent, url) => robots.preferences(agent, url),
    args: ['a', '/'],
    needed: 1,
  },
  'Robots.prototype.use': {
    run: (url, agent, use, options) => robots.use(url, agent, use, options),
    args: ['/', 'a', 'train', {}],
    needed: 3,
    options: 3,
    wrongOptions: [{ policyToken: 1 }, { policyToken: '' }, { policyToken: 'a b' }],
  },
  'Table.from': { run: Table.from, args: [table.bytes], needed: 1 },
  'Table.open': {
    run: Table.open,
    args: ['none.table', {}],
    needed: 1,
    options: 1,
    wrongOptions: [{ verify: 1 }, { verify: 'true' }],
  },
  'Table.prototype.at': { run: (time) => table.at(time), args: [new Date()], needed: 1 },
  'Table.prototype.verify': { run: () => table.verify(), args: [], needed: 0 },
  'Table.prototype.save': { run: (path) => table.save(path), args: ['/dev/null/x'], needed: 1 },
  'Table.prototype.verdict': {
    run: (url, agent, options) => table.verdict(url, agent, options),
    args: [URL_OF_TABLE, 'a', {}],
    needed: 2,
    options: 2,
    wrongOptions: [{ at: '2024' }, { at: [1] }, { at: Number.NaN }, { maxAge: 9 }],
  },
  'Table.prototype.isAllowed': asked(table, 'isAllowed'),
  'Table.prototype.isDisallowed': asked(table, 'isDisallowed'),
  'Table.prototype.rulesFor': asked(table, 'rulesFor'),
  'Table.prototype.crawlDelay': asked(table, 'crawlDelay'),
  'Table.prototype.preferences': asked(table, 'preferences'),
  'Table.prototype.sitemaps': {
    run: (url) => table.sitemaps(url),
    args: [URL_OF_TABLE],
    needed: 1,
  },
  'Table.prototype.use': {
    run: (url, agent, use, options) => table.use(url, agent, use, options),
    args: [URL_OF_TABLE, 'a', 'train', {}],
    needed: 3,
    options: 3,
    wrongOptions: [{ policyToken: 1 }, { policyToken: '*' }, { at: '2024' }, { maxAge: 9 }],
  },
  'Table.prototype.verdicts': {
    run: (urls, agent, options) => table.verdicts(urls, agent, options),
    args: [[URL_OF_TABLE], 'a', {}],
    needed: 2,
    options: 2,
    wrongOptions: [{ at: '2024' }, { at: [1, 2] }, { at: Number.NaN }, { maxAge: '9d' }],
  },
  'Table.prototype.filter': {
    run: (items, agent, options) => table.filter(items, agent, options),
    args: [[URL_OF_TABLE], 'a', {}],
    needed: 2,
    options: 2,
    wrongOptions: [{ url: 'url' }, { unknown: true }],
  },
  TableBuilder: {
    run: (options) => new TableBuilder(options),
    args: [{}],
    needed: 0,
    options: 0,
    wrongOptions: [
      { profile: 'bing' },
      { maxBytes: 1 },
      { agents: 'a' },
      { agents: [1] },
      { records: 1 },
      { signals: 1 },
      { history: 1 },
      { onWarning: true },
    ],
  },
  'TableBuilder.prototype.add': {
    run: (authority, body, details) => builder.add(authority, body, details),
    args: ['h.example', BODY, {}],
    needed: 2,
    options: 2,
    wrongOptions: [{ source: 1 }, { status: '404' }, { access: 'gone' }, { date: new Date(0) }],
  },
  'TableBuilder.prototype.build': {
    run: (allocate) => builder.build(allocate),
    args: [(bytes: number) => new Uint8Array(bytes)],
    needed: 0,
  },
  'TableBuilder.prototype.sourcesOf': {
    run: (code) => builder.sourcesOf(code),
    args: ['html'],
    needed: 1,
  },
  compileTable: {
    run: library.compileTable,
    args: ['none', {}],
    needed: 1,
    options: 1,
    wrongOptions: [
      { profile: 'bing' },
      { maxBytes: 1 },
      { agents: 'a' },
      { agents: [1] },
      { records: 1 },
      { history: 1 },
      { signals: 'yes' },
      { followLinks: 'no' },
      { stale: 'deny' },
      { asOf: '2026-01-01' },
      { threads: 0 },
      { threads: 257 },
      { threads: '2' },
      { onWarning: 1 },
      { signal: {} },
    ],
  },
  filterStream: {
    run: library.filterStream,
    args: [table, {}],
    needed: 1,
    options: 1,
    wrongOptions: [
      { agents: 1 },
      { agents: [] },
      { agents: [''] },
      { input: 'csv' },
      { output: 'json' },
      { unknown: 'invalid' },
      { explain: 'yes' },
      { strict: 0 },
      { urlField: '' },
      { urlField: [] },
      { timeField: '' },
      { agentField: '', input: 'ndjson' },
      { agentField: 'a' },
      { agentField: 'url', input: 'ndjson' },
      { agentField: 'a', input: 'ndjson', agents: 'GPTBot' },
      { agentField: 'a', input: 'ndjson', uses: 'train' },
      { timeField: 'time', inForce: 'ever' },
      { maxAge: 9 },
      { inForce: 'at' },
      { verdictField: 1 },
      { uses: 1 },
      { uses: ['a b'] },
      { uses: ['train', 'TRAIN'] },
      { uses: ['train'], policyTokens: 'T' },
      { uses: ['train'], requireGrant: 1 },
      { threads: 1.5 },
      { maxLineBytes: -1 },
      { maxLineBytes: '1' },
      { onBadRecord: {} },
    ],
  },
  verdicts: { run: library.verdicts, args: [table, [URL_OF_TABLE], 'a'], needed: 3 },
  knownAgents: { run: library.knownAgents, args: ['ai-training'], needed: 0 },
  parseAuthority: { run: library.parseAuthority, args: ['h.example'], needed: 1 },
  formatAuthority: {
    run: library.formatAuthority,
    args: [{ scheme: undefined, host: 'h.example', port: undefined }],
    needed: 1,
  },
};

/** The interface of the options of each call that has options. */
const OPTION_TYPES: Readonly<Record<string, string>> = {
  'Robots.parse': 'ParseOptions',
  'Robots.prototype.use': 'RobotsUseOptions',
  'Table.open': 'TableOpenOptions',
  'Table.prototype.use': 'TableUseOptions',
  'Table.prototype.filter': 'TableFilterOptions',
  'Table.prototype.verdict': 'TableTimeOptions',
  'Table.prototype.verdicts': 'TableTimesOptions',
  TableBuilder: 'TableBuilderOptions',
  'TableBuilder.prototype.add': 'RobotsDetails',
  compileTable: 'CompileTableOptions',
  filterStream: 'FilterStreamOptions',
};

/** The members of an interface in the report of the API, with those that it extends. */
function membersOf(name: string): string[] {
  const report = readFileSync(join(ROOT, API_REPORT), 'utf8');
  const [, parent, body] =
    new RegExp(`^interface ${name}(?:<\\w+>)?(?: extends (\\w+))? \\{\\n([^}]*)`, 'm').exec(
      report,
    ) ?? [];
  const own = [...(body ?? '').matchAll(/^ {2}readonly (\w+)/gm)].map(([, member = '']) => member);
  return [...(parent === undefined ? [] : membersOf(parent)), ...own];
}

/** What no argument of any call may be. */
const WRONG: readonly unknown[] = [null, 1, true, Symbol('s'), new Date(0), new URL(URL_OF_TABLE)];

/** The wrong value is an object without any option, and so empty options. */
const isEmptyOptions = (value: unknown): boolean => typeof value === 'object' && value !== null;

/** The complaint about a call; fails if the call throws anything else, or nothing. */
async function complaint(run: () => unknown): Promise<string> {
  let result: unknown;
  try {
    result = await run();
    // What yields may complain when it begins.
    if (typeof result === 'object' && result !== null && Symbol.asyncIterator in result) {
      for await (const _ of result as AsyncIterable<unknown>) break;
    }
  } catch (error) {
    if (error instanceof RobotsFilterError && error.code === 'usage') return error.message;
    return `not a complaint: ${error}`;
  }
  return 'not a complaint: nothing was wrong';
}

/** The functions and methods of the library, by name. */
function functionsOf(exports: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(exports).flatMap(([name, value]) => {
    if (typeof value !== 'function') return [];
    if (value === RobotsFilterError) return [];
    const { prototype } = value as { prototype?: object };
    if (prototype === undefined || !/^class\b/.test(String(value))) return [name];
    const own = Object.entries(Object.getOwnPropertyDescriptors(value));
    const methods = Object.entries(Object.getOwnPropertyDescriptors(prototype));
    return [
      // Only `parse`, `from` and `open` make the other objects.
      ...(name === 'TableBuilder' ? [name] : []),
      ...own.filter(([, d]) => typeof d.value === 'function').map(([own]) => `${name}.${own}`),
      ...methods
        .filter(([method, d]) => method !== 'constructor' && typeof d.value === 'function')
        .map(([method]) => `${name}.prototype.${method}`),
    ];
  });
}

describe('wrong arguments', () => {
  it('are tried in every function and method that is exported', () => {
    expect(Object.keys(CALLS).sort()).toEqual(functionsOf(library).sort());
  });

  it('are tried for every option that the report of the API names', () => {
    const tried = Object.entries(CALLS).flatMap(([name, { wrongOptions }]) =>
      wrongOptions === undefined
        ? []
        : [[name, [...new Set(wrongOptions.flatMap(Object.keys))].sort()]],
    );
    const declared = Object.entries(OPTION_TYPES).map(([name, type]) => [
      name,
      membersOf(type).sort(),
    ]);
    expect(Object.fromEntries(tried)).toEqual(Object.fromEntries(declared));
    expect(declared.flatMap(([, members]) => members).length).toBeGreaterThan(30);
  });

  it.each(Object.entries(CALLS))('%s complains about them', async (_, call) => {
    const { run, args, needed, options, wrongOptions = [] } = call;
    const tried: string[] = [];
    const failed: string[] = [];
    const tryWith = async (given: readonly unknown[]): Promise<void> => {
      const said = await complaint(() => run(...(given as never[])));
      const label = given.map((value) => shownValue(value)).join(', ');
      tried.push(label);
      if (said.startsWith('not a complaint') || said.includes('\n'))
        failed.push(`${label}: ${said}`);
    };
    for (let count = 0; count < needed; count++) await tryWith(args.slice(0, count));
    for (let at = 0; at < args.length; at++) {
      const wrong = at < needed ? [undefined, ...WRONG] : WRONG;
      for (const value of wrong) {
        if (at === options && isEmptyOptions(value)) continue;
        await tryWith(args.map((right, index) => (index === at ? value : right)));
      }
    }
    const isWithOptions = options !== undefined;
    for (const value of isWithOptions ? [{ unheardOf: 1 }, ...wrongOptions] : []) {
      await tryWith(args.map((right, index) => (index === options ? value : right)));
    }
    expect(wrongOptions.length > 0).toBe(isWithOptions);
    expect(failed).toEqual([]);
    if (args.length > 0) expect(tried.length).toBeGreaterThan(3);
  });

  it('are taken by robots-parser’s interface, as in that package', () => {
    for (const value of [undefined, ...WRONG.slice(0, 3), {}]) {
      const parsed = robotsParser(value as never, value as never);
      for (const method of ['isAllowed', 'isDisallowed', 'getMatchingLineNumber'] as const) {
        expect(() => parsed[method](value as never, value as never)).not.toThrow();
      }
      expect(() => parsed.getCrawlDelay(value as never)).not.toThrow();
    }
  });
});
