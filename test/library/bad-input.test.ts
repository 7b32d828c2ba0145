import { Readable } from 'node:stream';
import { runInNewContext } from 'node:vm';
import { beforeAll, describe, expect, it } from 'vitest';
import {
  compileTable,
  filterStream,
  formatAuthority,
  parseAuthority,
  Robots,
  RobotsFilterError,
  Table,
  TableBuilder,
  verdicts,
} from '../../src/library/index.js';
import robotsParser from '../../src/library/robots-parser.js';

/** Any arguments: what a program without types may pass. */
type Call = (...args: readonly unknown[]) => unknown;
const loose = (call: unknown): Call => call as Call;

const BODY = 'user-agent: *\ndisallow: /a\n';
const AGENT = "the agent is undefined. Pass a product token such as 'MyBot'";
const URL_NEEDED = 'the URL is undefined. Pass a string or a Uint8Array';

let table: Table;
let robots: Robots;
let builder: TableBuilder;

beforeAll(() => {
  builder = new TableBuilder();
  builder.add('h.example', BODY);
  table = Table.from(builder.build());
  robots = Robots.parse(BODY);
});

/** The message of the RobotsFilterError `usage` that a call throws, or rejects with. */
async function complaint(call: () => unknown): Promise<string> {
  try {
    await call();
  } catch (error) {
    if (error instanceof RobotsFilterError && error.code === 'usage') return error.message;
    throw error;
  }
  return 'nothing was wrong';
}

const methods = (of: () => object, names: readonly string[]): [string, () => unknown, string][] =>
  names.flatMap((name): [string, () => unknown, string][] => {
    const call = (...args: unknown[]) => {
      const it = of() as Record<string, Call>;
      return it[name]?.(...args);
    };
    return [
      [`${name}(url)`, () => call('https://h.example/'), AGENT],
      [`${name}(undefined, agent)`, () => call(undefined, 'a'), URL_NEEDED],
      [`${name}(URL, agent)`, () => call(new URL('https://h.example'), 'a'), 'Pass its href'],
      [`${name}(url, 1)`, () => call('/', 1), 'the agent is 1.'],
      [`${name}(url, [])`, () => call('/', []), 'at least one product token'],
      [`${name}(url, [1])`, () => call('/', [1]), 'the agent is [ 1 ].'],
      [`${name}(url, 'a/1')`, () => call('/', 'a/1'), 'use "a"'],
      [`${name}(agent, url)`, () => call('a', 'https://h.example/'), 'pass the URL first'],
    ];
  });

describe('a wrong call says what to pass', () => {
  const cases: [string, () => unknown, string][] = [
    ['Robots.parse()', () => loose(Robots.parse)(), 'the body for Robots.parse is undefined'],
    ['Robots.parse(1)', () => loose(Robots.parse)(1), 'as a string or a Uint8Array'],
    ['Robots.parse(body, 1)', () => loose(Robots.parse)(BODY, 1), 'Pass an object with any of'],
    [
      'Robots.parse(body, { maxbytes })',
      () => loose(Robots.parse)(BODY, { maxbytes: 600_000 }),
      'Robots.parse has no option "maxbytes". Did you mean maxBytes?',
    ],
    [
      'Robots.parse(body, { profile })',
      () => loose(Robots.parse)(BODY, { profile: 'bing' }),
      'use one of rfc9309',
    ],
    ...methods(() => robots, ['verdict', 'isAllowed', 'isDisallowed']),
    ...['h.example/x', 'www.Example.com/', 'a.b-c.de/x?q'].map(
      (url): [string, () => unknown, string] => [
        `isAllowed(${JSON.stringify(url)}, agent)`,
        () => robots.isAllowed(url, 'a'),
        `the URL is '${url}', without a scheme`,
      ],
    ),
    [
      'isDisallowed(bytes without a scheme, agent)',
      () => robots.isDisallowed(Buffer.from('h.example/x'), 'a'),
      'Pass it with its scheme, or with a slash before it',
    ],
    ['rulesFor()', () => loose(robots.rulesFor.bind(robots))(), AGENT],
    ['crawlDelay()', () => loose(robots.crawlDelay.bind(robots))(), AGENT],
    ...methods(() => table, ['verdict', 'isAllowed', 'isDisallowed']),
    ['Table.verdicts()', () => loose(table.verdicts.bind(table))(), 'urls is undefined'],
    ['Table.verdicts(url)', () => loose(table.verdicts.bind(table))('/', 'a'), 'takes one URL'],
    ['Table.verdicts(urls)', () => loose(table.verdicts.bind(table))(['/']), AGENT],
    ['Table.verdicts([1])', () => loose(table.verdicts.bind(table))(['/', 1], 'a'), 'urls[1] is'],
    ['Table.filter()', () => loose(table.filter.bind(table))(), 'URLs from is undefined'],
    ['Table.filter(text)', () => loose(table.filter.bind(table))('ab', 'a'), "is 'ab'"],
    [
      'Table.filter(stream of bytes)',
      () => table.filter(new Readable({ read() {} }), 'a'),
      'a stream of bytes',
    ],
    ['Table.filter(urls)', () => loose(table.filter.bind(table))(['/']), AGENT],
    [
      'Table.filter(urls, agent, { urlOf })',
      () => loose(table.filter.bind(table))(['/'], 'a', { urlOf: 1 }),
      'Did you mean url?',
    ],
    ['Table.from()', () => loose(Table.from)(), 'Table.open takes a path'],
    ['Table.open()', () => loose(Table.open)(), 'the path for Table.open is undefined'],
    ['Table.open(path, { check })', () => loose(Table.open)('x', { check: 1 }), 'verify'],
    ['Table.save()', () => loose(table.save.bind(table))(), 'the path for Table.save'],
    ['new TableBuilder(1)', () => new TableBuilder(1 as never), 'Pass an object with any of'],
    [
      'new TableBuilder({ agent })',
      () => new TableBuilder({ agent: 'a' } as never),
      'Did you mean agents?',
    ],
    ['new TableBuilder({ agents })', () => new TableBuilder({ agents: 'a' } as never), 'a list'],
    [
      'build() into other memory',
      () => builder.build(() => new Uint8Array(10)),
      'returned Uint8Array of 10 bytes. Return a Uint8Array of',
    ],
    [
      'build(() => undefined)',
      () => builder.build((() => undefined) as never),
      'returned undefined',
    ],
    ['Table.open(URL)', () => loose(Table.open)(new URL('file:///x')), 'Pass fileURLToPath(url)'],
    ['add()', () => loose(builder.add.bind(builder))(), "such as 'example.com'"],
    ['add(mailto)', () => builder.add('mailto:a@b', BODY), "add is 'mailto:a@b'"],
    [
      'add(host)',
      () => loose(builder.add.bind(builder))('h.example'),
      'TableBuilder.add is undefined',
    ],
    [
      'add(host, body, { statusCode })',
      () => loose(builder.add.bind(builder))('h.example', BODY, { statusCode: 404 }),
      'Did you mean status?',
    ],
    ['filterStream()', () => loose(filterStream)(), 'Pass a Table'],
    ['filterStream(bytes)', () => loose(filterStream)(table.bytes), 'Pass a Table'],
    [
      'filterStream(table, { agent })',
      () => loose(filterStream)(table, { agent: 'a' }),
      'filterStream has no option "agent". Did you mean agents?',
    ],
    [
      'filterStream(table, { agents: 1 })',
      () => loose(filterStream)(table, { agents: 1 }),
      'agents is 1',
    ],
    [
      'filterStream(table, { urlField: 1 })',
      () => loose(filterStream)(table, { urlField: 1 }),
      'urlField is 1',
    ],
    ['verdicts()', () => loose(verdicts)(), 'Pass a Table'],
    ['verdicts(table, text)', () => loose(verdicts)(table, 'ab', 'a'), "is 'ab'"],
    ['verdicts(table, urls)', () => loose(verdicts)(table, ['/']), AGENT],
    ['parseAuthority()', () => loose(parseAuthority)(), 'the authority is undefined'],
    ['formatAuthority()', () => loose(formatAuthority)(), 'Pass what parseAuthority returned'],
    ['compileTable()', () => loose(compileTable)(), 'the source is undefined'],
    ['compileTable([])', () => loose(compileTable)([]), 'a list of paths'],
    ['compileTable(path, { asof })', () => loose(compileTable)('x', { asof: 1 }), 'mean asOf?'],
  ];

  it.each(cases.map(([name, call, message]) => ({ name, call, message })))(
    '$name',
    async ({ name, call, message }) => {
      const said = await complaint(async () => {
        const result = await call();
        // An iteration may complain when it begins.
        if (name.includes('filter(urls)')) for await (const _ of result as Iterable<unknown>);
      });
      expect(said).toContain(message);
      expect(said).not.toContain('\n');
    },
  );

  it('but bytes of another realm are bytes', () => {
    const foreign = (bytes: Uint8Array): Uint8Array =>
      runInNewContext('Uint8Array.from(bytes)', { bytes: [...bytes] });
    const body = foreign(Buffer.from(BODY));
    expect(body).not.toBeInstanceOf(Uint8Array);
    const url = foreign(Buffer.from('https://h.example/a'));
    expect(Robots.parse(body).verdict(url, 'x').verdict).toBe('deny');
    expect(Table.from(foreign(table.bytes)).verdict(url, 'x').verdict).toBe('deny');
    const site = 'https://h.example/robots.txt';
    expect(robotsParser(site, body).isAllowed('https://h.example/a', 'x')).toBe(false);
    const added = new TableBuilder();
    added.add('h.example', body);
    const compiled = added.build((length) => foreign(new Uint8Array(length)));
    expect(Table.from(compiled).isDisallowed(url, 'x')).toBe(true);
  });

  it('and leaves everything as it was', () => {
    expect(robots.verdict('/a', 'x').verdict).toBe('deny');
    expect(table.verdict('https://h.example/a', 'x').verdict).toBe('deny');
  });
});
