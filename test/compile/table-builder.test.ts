import { describe, expect, it } from 'vitest';
import { shownValue } from '../../src/base/arguments.js';
import { RobotsFilterError } from '../../src/base/errors.js';
import { PartMerger } from '../../src/compile/part-merger.js';
import { TableBuilder, type TableBuilderOptions } from '../../src/compile/table-builder.js';
import { TableContents } from '../../src/compile/table-contents.js';
import { BodyClaims, PartBuilder } from '../../src/compile/table-part.js';
import { checkTable } from '../../src/judge/table-memory.js';
import { type Authority, formatAuthority, parseAuthority } from '../../src/protocol/authority.js';
import type { Profile } from '../../src/protocol/verdict.js';
import { HOST_PLAIN_NAME } from '../../src/table/format.js';
import { AutomatonView, rulesOf } from '../../src/view/automaton-view.js';
import { ShardView } from '../../src/view/shard-view.js';
import { type TableAuthority, TableReader } from '../../src/view/table-content.js';
import { Random } from '../random/random.js';

interface Added {
  readonly authority: string;
  readonly robots: string;
  readonly status?: number;
}

function authorityOf(text: string): Authority {
  const authority = parseAuthority(text);
  if (authority === undefined) throw new Error(`${text} is not an authority`);
  return authority;
}

function builderOf(added: readonly Added[], options: TableBuilderOptions = {}): TableBuilder {
  const builder = new TableBuilder(options);
  for (const { authority, robots, status } of added) {
    builder.add(authorityOf(authority), new TextEncoder().encode(robots), {
      source: `${authority}/robots.txt`,
      status,
    });
  }
  return builder;
}

function tableOf(added: readonly Added[], options: TableBuilderOptions = {}): Uint8Array {
  return builderOf(added, options).build();
}

/** The files that apply to a host, in lines `https://host:port <- source`. */
function scopes(table: Uint8Array, host: string): string[] {
  const lines: string[] = [];
  for (const { schemes, port, source } of new ShardView(table).find(host)?.authorities ?? []) {
    for (const scheme of schemes) {
      lines.push(`${formatAuthority({ scheme, host, port })} <- ${source}`);
    }
  }
  return lines.sort();
}

/** The content of a host's file: for each list of groups its product tokens and rules. */
function groups(table: Uint8Array, host: string): string[] {
  const view = new ShardView(table);
  const [authority] = view.find(host)?.authorities ?? [];
  if (authority === undefined) return [];
  return view.groups(authority.robots).map((group) => {
    const rules = rulesOf(view, group).map(({ allow, text, line }) => {
      return `${line} ${allow ? '+' : '-'}${text}`;
    });
    return `${group.productTokens.map((token) => `<${token}>`).join('')}: ${rules.join(', ')}`;
  });
}

const DENY_ALL = 'user-agent: *\ndisallow: /\n';

describe('RFC 9309 section 2.3: a robots.txt applies to its authority', () => {
  it('without a scheme: to http and https, on the default ports', () => {
    const table = tableOf([{ authority: 'h.example', robots: DENY_ALL }]);
    expect(scopes(table, 'h.example')).toEqual([
      'http://h.example <- h.example/robots.txt',
      'https://h.example <- h.example/robots.txt',
    ]);
    expect(checkTable(table, 'table').authorities).toBe(1);
  });

  it('without a scheme but with a port: to that port, the default of one scheme or of none', () => {
    const table = tableOf([
      { authority: 'a:8080', robots: DENY_ALL },
      { authority: 'b:80', robots: DENY_ALL },
      { authority: 'c:443', robots: DENY_ALL },
      { authority: 'd:21', robots: DENY_ALL },
    ]);
    expect(scopes(table, 'a').map((line) => line.split(' ')[0])).toEqual([
      'http://a:8080',
      'https://a:8080',
    ]);
    expect(scopes(table, 'b').map((line) => line.split(' ')[0])).toEqual([
      'http://b',
      'https://b:80',
    ]);
    expect(scopes(table, 'c').map((line) => line.split(' ')[0])).toEqual([
      'http://c:443',
      'https://c',
    ]);
    expect(scopes(table, 'd').map((line) => line.split(' ')[0])).toEqual([
      'http://d:21',
      'https://d:21',
    ]);
  });

  it('with a scheme: to that scheme only; the default port means the same as no port', () => {
    const table = tableOf([
      { authority: 'ftp://h', robots: DENY_ALL },
      { authority: 'https://h:443', robots: DENY_ALL },
      { authority: 'http://h:8080', robots: DENY_ALL },
    ]);
    expect(scopes(table, 'h').map((line) => line.split(' ')[0])).toEqual([
      'ftp://h',
      'http://h:8080',
      'https://h',
    ]);
  });

  it('a file that names its scheme wins, whatever the order', () => {
    const added = [
      { authority: 'h', robots: DENY_ALL },
      { authority: 'http://h', robots: DENY_ALL },
      { authority: 'https://h:8080', robots: DENY_ALL },
      { authority: 'h:8080', robots: DENY_ALL },
    ];
    for (const order of [added, added.toReversed()]) {
      expect(scopes(tableOf(order), 'h')).toEqual([
        'http://h <- http://h/robots.txt',
        'http://h:8080 <- h:8080/robots.txt',
        'https://h <- h/robots.txt',
        'https://h:8080 <- https://h:8080/robots.txt',
      ]);
    }
  });

  it('a later file of the same authority replaces the earlier one, and the replacement is counted', () => {
    const builder = builderOf([
      { authority: 'http://h:80', robots: DENY_ALL },
      { authority: 'h', robots: DENY_ALL },
      { authority: 'http://h', robots: 'user-agent: *\ndisallow: /new\n' },
      { authority: 'h:80', robots: DENY_ALL },
    ]);
    // The second `http://h`, and `h:80`, which is also the `h` of http.
    expect(builder.stats).toMatchObject({ files: 4, replaced: 2, bodies: 2 });
    expect(groups(builder.build(), 'h')).toEqual(['<*>: 2 -/new']);
  });

  it('port 0 is refused', () => {
    const refusal = '"h:0" (h:0/robots.txt): nothing can be fetched from port 0. Leave it out';
    expect(() => builderOf([{ authority: 'h:0', robots: DENY_ALL }])).toThrow(refusal);
  });

  it.each([
    ['port', 65_536, 'Use a whole number from 1 to 65535, or leave it out'],
    ['port', 65_536 + 80, 'Use a whole number from 1 to 65535, or leave it out'],
    ['port', -1, 'Use a whole number from 1 to 65535, or leave it out'],
    ['port', 1.5, 'Use a whole number from 1 to 65535, or leave it out'],
    ['port', Number.NaN, 'Use a whole number from 1 to 65535, or leave it out'],
    ['port', '80', 'Use a whole number from 1 to 65535, or leave it out'],
    ['port', null, 'Use a whole number from 1 to 65535, or leave it out'],
    ['scheme', 'gopher', 'Use one of http, https, ftp'],
    ['scheme', 'toString', 'Use one of http, https, ftp'],
    ['scheme', null, 'Use one of http, https, ftp'],
    ['host', 'Example.com', 'Pass what parseAuthority returns'],
    ['host', 'example.com.', 'Pass what parseAuthority returns'],
    ['host', 'h:80', 'Pass what parseAuthority returns'],
    // The last bytes of its units are those of `a`.
    ['host', '\u0161', 'Pass what parseAuthority returns'],
  ] as const)('an authority with the %s %j is refused', (part, value, remedy) => {
    const parts: unknown = { scheme: 'http', host: 'h', port: undefined, [part]: value };
    const authority = parts as Authority;
    expect(() => new TableBuilder().add(authority, DENY_ALL)).toThrow(
      expect.objectContaining({
        code: 'usage',
        message: `the ${part} of the authority for TableBuilder.add is ${shownValue(value)}. ${remedy}`,
      }),
    );
  });

  it.each([
    'http://h:65535',
    'https://h:1',
    'h:443',
    'ftp://127.0.0.1',
    '[2001:db8::1]',
    'xn--bcher-kva.example',
    'a_b.example',
    'a..b',
  ])('what parseAuthority returns for %s is taken', (text) => {
    const authority = authorityOf(text);
    const builder = new TableBuilder();
    builder.add(authority, DENY_ALL);
    expect(builder.stats.files).toBe(1);
  });

  it('a host longer than a table can hold is refused', () => {
    const add = (host: string) => () =>
      new TableBuilder().add({ scheme: undefined, host, port: undefined }, new Uint8Array(0), {
        source: 'the list',
      });
    expect(add('h'.repeat(255))).not.toThrow();
    expect(add('h'.repeat(256))).toThrow(RobotsFilterError);
    expect(add('')).toThrow(/the list/);
  });
});

describe('RFC 9309 section 2.3.1: access results', () => {
  it.each([
    [undefined, 'successful'],
    [200, 'successful'],
    [204, 'successful'],
    [299, 'successful'],
    [301, 'unavailable'],
    [399, 'unavailable'],
    [400, 'unavailable'],
    [404, 'unavailable'],
    [428, 'unavailable'],
    [429, 'unavailable'],
    [429, 'unavailable', 'draft-koster-rep-00'],
    [428, 'unavailable', 'google'],
    [429, 'unreachable', 'google'],
    [430, 'unavailable', 'google'],
    [499, 'unavailable'],
    [500, 'unreachable'],
    [503, 'unreachable'],
    [600, 'unreachable'],
    [199, 'unreachable'],
    [0, 'unreachable'],
    [Number.NaN, 'unreachable'],
  ] as const)('status %s is %s %s', (status, expected, profile?: Profile) => {
    const builder = new TableBuilder({ profile });
    builder.add(authorityOf('h'), new TextEncoder().encode(DENY_ALL), { source: 'h', status });
    const view = new ShardView(builder.build());
    const [authority] = view.find('h')?.authorities ?? [];
    expect(authority?.accessResult).toBe(expected);
    const { robots } = authority as TableAuthority;
    expect(view.groups(robots)).toHaveLength(expected === 'successful' ? 1 : 0);
  });
});

describe('RFC 9309 section 2.2.1: the groups that a product token obeys', () => {
  const robots = [
    'user-agent: B-bot',
    'user-agent: a-bot',
    'disallow: /ab',
    'user-agent: *',
    'disallow: /any',
    'user-agent: c-bot',
    'user-agent: 007',
    'user-agent: A-Bot',
    'allow: /ac',
    'user-agent: d-bot',
    'disallow:',
    'user-agent: *',
    'disallow: /*more',
    'user-agent: e-bot',
  ].join('\n');

  it('are all groups that name it, in the order of the file; a group may have no rules', () => {
    expect(groups(tableOf([{ authority: 'h', robots }]), 'h')).toEqual([
      '<*>: 5 -/any, 13 -/*more',
      '<a-bot>: 3 -/ab, 9 +/ac',
      '<b-bot>: 3 -/ab',
      '<c-bot>: 9 +/ac',
      '<d-bot><e-bot>: ',
    ]);
  });

  it('in draft-koster-rep-00 only the first group of `*` counts', () => {
    const table = tableOf([{ authority: 'h', robots }], { profile: 'draft-koster-rep-00' });
    expect(groups(table, 'h')[0]).toBe('<*>: 5 -/any');
    expect(checkTable(table, 'table').profile).toBe('draft-koster-rep-00');
  });

  it('in the google profile a token may be empty', () => {
    const table = tableOf([{ authority: 'h', robots }], { profile: 'google' });
    expect(groups(table, 'h')).toContain('<><c-bot>: 9 +/ac');
    expect(new ShardView(table).tokenNumber('')).toBe(1);
  });

  it('have numbered tokens: `*`, the empty token, then the others sorted', () => {
    const view = new ShardView(tableOf([{ authority: 'h', robots }]));
    const tokens = ['*', '', 'a-bot', 'b-bot', 'c-bot', 'd-bot', 'e-bot'];
    expect([...view.tokens()]).toEqual(tokens);
    expect(tokens.map((token) => view.tokenNumber(token))).toEqual([0, 1, 2, 3, 4, 5, 6]);
    for (const token of ['a', 'a-bot2', 'zzz', 'B-bot', '007']) {
      expect(view.tokenNumber(token)).toBe(-1);
    }
  });

  it('in a reduced table are those of some tokens and of `*`, and the header says so', () => {
    const table = tableOf([{ authority: 'h', robots }], { agents: ['A-BOT', 'Unheard-of'] });
    expect(groups(table, 'h')).toEqual(['<*>: 5 -/any, 13 -/*more', '<a-bot>: 3 -/ab, 9 +/ac']);
    const view = new ShardView(table, 'some.table');
    expect([...view.tokens()]).toEqual(['*', '', 'a-bot', 'unheard-of']);
    expect(checkTable(table, 'table').reduced).toBe(true);
    const ask = (...chain: string[]) => {
      return () => view.checkAgent({ name: chain.join('>'), chain });
    };
    expect(ask('a-bot', '*')).not.toThrow();
    expect(ask('Unheard-Of')).not.toThrow();
    expect(ask('a-bot', 'c-bot')).toThrow(/some\.table.*"c-bot".*--agent c-bot/);
    const whole = new ShardView(tableOf([{ authority: 'h', robots }]));
    expect(() => whole.checkAgent({ name: 'x', chain: ['x'] })).not.toThrow();
  });
});

describe('equal contents are stored once', () => {
  it('bodies, robots records, automata, sources', () => {
    const rules = 'disallow: /a\ndisallow: /*b\n';
    const added: Added[] = [];
    for (let host = 0; host < 50; host++) {
      added.push({ authority: `h${host}`, robots: `user-agent: *\n${rules}` });
      added.push({ authority: `c${host}`, robots: `user-agent: *\n${rules}# ${host % 5}\n` });
      added.push({ authority: `x${host}`, robots: `user-agent: x\n# two lines\n\n${rules}` });
      added.push({ authority: `n${host}`, robots: '', status: 404 + host });
    }
    const builder = builderOf(added);
    expect(builder.stats).toMatchObject({ files: 200, bodies: 7, replaced: 0 });
    const header = checkTable(builder.build(), 'table');
    expect(header).toMatchObject({ hosts: 200, robots: 3, automata: 1, rules: 2, tokens: 3 });
    // All sources are the host, and the text after it.
    expect(header.sections.sources.end - header.sections.sources.start).toBe(64);
  });

  it('replaced and unreachable contents leave no bytes in the table', () => {
    const kept: Added = { authority: 'h', robots: 'user-agent: *\ndisallow: /kept' };
    const replaced: Added = { authority: 'h', robots: 'user-agent: lost\ndisallow: /lost' };
    const table = tableOf([replaced, { ...replaced, authority: 'i' }, kept]);
    const expected = tableOf([{ ...replaced, authority: 'i' }, kept]);
    expect(Buffer.compare(table, expected)).toBe(0);
    expect([...new ShardView(tableOf([replaced, kept])).tokens()]).toEqual(['*', '']);
    const gone = tableOf([{ ...replaced, status: 500 }]);
    expect([...new ShardView(gone).tokens()]).toEqual(['*', '']);
  });
});

describe('the data that a URL is judged by is contiguous', () => {
  it('the hosts of a robots.txt, its record, and its automata that no earlier robots.txt has', () => {
    const shared = 'user-agent: *\ndisallow: /shared\n';
    const bodies = [
      'user-agent: *\ndisallow: /1\n',
      `${shared}user-agent: b\ndisallow: /2\n`,
      shared,
    ];
    const table = tableOf(
      ['a.example', 'b.example', 'http://c.example', 'd.example', 'e.example', 'f.example'].map(
        (authority, index) => ({ authority, robots: bodies[index % 3] as string }),
      ),
    );
    const view = new ShardView(table);
    const robotsOf = (host: string): number => view.find(host)?.authorities[0]?.robots as number;
    const automataOf = (host: string): number[] =>
      view
        .groups(robotsOf(host))
        .flatMap((merged) => merged.groups.map(({ automaton }) => automaton));
    const nameOf = (host: string): number => Buffer.from(table).indexOf(host);
    const { start } = checkTable(table, 'table').sections.hosts;
    const inOrder = [
      start,
      ...[nameOf('a.example'), nameOf('d.example'), robotsOf('a.example')],
      ...automataOf('a.example'),
      ...[nameOf('b.example'), nameOf('e.example'), robotsOf('b.example')],
      ...automataOf('b.example'),
      ...[nameOf('c.example'), nameOf('f.example'), robotsOf('c.example')],
    ];
    expect(inOrder).toEqual(inOrder.toSorted((a, b) => a - b));
    expect(new Set(inOrder).size).toBe(13);
    expect(automataOf('b.example')).toEqual([...automataOf('c.example'), expect.any(Number)]);
    expect(robotsOf('a.example')).toBe(robotsOf('d.example'));
  });
});

describe('the bytes of a host span as few cache lines as possible', () => {
  it('for up to 512 bytes; zeros before the host pad to the next cache line', () => {
    const random = new Random(64);
    const hosts = Array.from({ length: 400 }, (_, index) => `h${1000 + index}.example`);
    const table = tableOf(
      hosts.map((authority, index) => {
        const rules = Array.from(
          { length: random.between(0, 60) },
          () => `disallow: /${random.run(['a', 'b', 'c'], 1, 20)}\n`,
        );
        return { authority, robots: `user-agent: *\n${rules.join('')}disallow: /${index}$\n` };
      }),
    );
    const view = new ShardView(table);
    const reader = new TableReader(table, 'table');
    let end = checkTable(table, 'table').sections.hosts.start;
    const moved = { on: 0, not: 0, long: 0 };
    for (const host of hosts) {
      const start = Buffer.from(table).indexOf(host) - HOST_PLAIN_NAME;
      const [authority] = view.find(host)?.authorities ?? [];
      const [group] = view.groups(authority?.robots as number);
      const automaton = group?.groups[0]?.automaton as number;
      expect([...table.subarray(end, start)]).toEqual(new Array(start - end).fill(0));
      const bytesBefore = end % 64;
      end = automaton + new AutomatonView(reader, automaton).bytes;
      const bytes = Math.min(end - start, 512);
      expect(Math.floor((start + bytes - 1) / 64) - Math.floor(start / 64)).toBe(
        Math.ceil(bytes / 64) - 1,
      );
      const fitted = bytesBefore + bytes <= 64 * Math.ceil(bytes / 64);
      expect(start % 64).toBe(fitted ? bytesBefore : 0);
      moved[fitted ? 'not' : 'on']++;
      if (end - start > 512) moved.long++;
    }
    for (const count of Object.values(moved)) expect(count).toBeGreaterThan(40);
  });
});

describe('the same content makes the same bytes', () => {
  it('whatever the order of additions and the number of builds', () => {
    const random = new Random(9309);
    const added: Added[] = [];
    const places = new Set<string>();
    for (let index = 0; index < 300; index++) {
      const host = random.run(['a', 'b', 'c', '.x', '-'], 2, 6).replace(/^[.-]+/, 'z');
      const port = random.pick(['', '', ':80', ':8080']);
      const authority = `${random.pick(['', '', 'http://', 'https://', 'ftp://'])}${host}${port}`;
      const normal = formatAuthority(authorityOf(authority));
      // The order decides between `h` and `h:80`: precedence.test.ts.
      const place = normal.includes('://') ? normal : normal.replace(/:80$/, '');
      if (places.has(place)) continue;
      places.add(place);
      const agents = random.run(['user-agent: *\n', 'user-agent: a\n', 'user-agent: bc\n'], 1, 3);
      const rules = random.run(
        ['allow: /a\n', 'disallow: /*b\n', 'disallow: /c$\n', 'user-agent: d\n', '\n'],
        0,
        8,
      );
      added.push({
        authority,
        robots: agents + rules,
        status: random.pick([200, 200, 200, 404, 500]),
      });
    }
    expect(added.length).toBeGreaterThan(150);
    const builder = builderOf(added);
    const table = builder.build();
    expect(Buffer.compare(builder.build(), table)).toBe(0);
    for (let round = 0; round < 5; round++) {
      const shuffled = [...added];
      for (let index = shuffled.length - 1; index > 0; index--) {
        const other = random.between(0, index);
        [shuffled[index], shuffled[other]] = [shuffled[other] as Added, shuffled[index] as Added];
      }
      expect(Buffer.compare(tableOf(shuffled), table)).toBe(0);
    }
  });

  it('in memory that the caller provides', () => {
    const builder = builderOf([{ authority: 'h', robots: DENY_ALL }]);
    const shared = new SharedArrayBuffer(1 << 12);
    const table = builder.build((bytes) => new Uint8Array(shared, 1024, bytes));
    expect(table.buffer).toBe(shared);
    expect(Buffer.from(table).equals(builder.build())).toBe(true);
  });
});

describe('a table of many hosts', () => {
  it('is empty for no hosts', () => {
    const table = new TableBuilder().build();
    expect(checkTable(table, 'table')).toMatchObject({ hosts: 0, authorities: 0, robots: 0 });
    const view = new ShardView(table);
    expect([...view.hosts()]).toEqual([]);
    expect(view.find('h')).toBeUndefined();
  });

  it('finds each host and no other, and lists all hosts', () => {
    const hosts = Array.from({ length: 3000 }, (_, index) => `h${index * 7}.example`);
    const table = tableOf(hosts.map((authority) => ({ authority, robots: DENY_ALL })));
    const view = new ShardView(table);
    for (const host of hosts) expect(view.find(host)?.host).toBe(host);
    for (const host of hosts) expect(view.find(`x${host}`)).toBeUndefined();
    const listed = Array.from(view.hosts(), ({ host }) => host);
    expect(listed.toSorted()).toEqual(hosts.toSorted());
    const header = checkTable(table, 'table');
    expect(header.buckets).toBe(600);
    expect(header.longestProbe).toBeLessThan(8);
  });
});

describe('what the builder reports', () => {
  it('warnings once for each distinct body, with its first source', () => {
    const warnings: string[] = [];
    const builder = builderOf(
      [
        { authority: 'a', robots: 'disallow: /x\n' },
        { authority: 'b', robots: 'disallow: /x\n' },
        { authority: 'c', robots: 'user-agent: *\nallow: x\n' },
        { authority: 'd', robots: 'nonsense', status: 404 },
      ],
      { onWarning: (source, { code }) => warnings.push(`${source} ${code}`) },
    );
    expect(warnings).toEqual(['a/robots.txt rule-before-group', 'c/robots.txt malformed-pattern']);
    expect(builder.stats.warnings).toBe(2);
    expect(builder.sourcesOf('malformed-pattern')).toEqual(['c/robots.txt']);
    expect(builder.sourcesOf('html')).toEqual([]);
  });

  it('the same warnings for parts, whichever builder compiled a body', () => {
    const bodies = ['disallow: /x\n', 'nonsense\n', 'disallow: /y\n'];
    const contents = new TableContents({});
    const claims = new BodyClaims();
    const parts = ['first', 'second'].map((source) => {
      const part = new PartBuilder({}, { key: contents.key, claims });
      const merger = new PartMerger(contents);
      const compile = () => {
        for (const [index, body] of bodies.entries()) {
          part.add(authorityOf(`${source}${index}`), new TextEncoder().encode(body), {
            source: `"${source}"${index}`,
          });
        }
        const table = part.take();
        return () => {
          merger.receive(table);
          merger.add(table);
        };
      };
      return compile;
    });
    // The second part is compiled first, and so leaves nothing to compile for the first part.
    const merges = parts.toReversed().map((compile) => compile());
    for (const merge of merges.toReversed()) merge();
    expect(contents.sourcesOf('rule-before-group')).toEqual(['"first"0', '"first"2']);
    expect(contents.sourcesOf('missing-colon')).toEqual(['"first"1']);
    expect(contents.stats).toMatchObject({ files: 6, bodies: 3, warnings: 3 });
    expect(contents.layOut().table().length).toBeGreaterThan(0);
  });

  it('warns of files without a date, which a history leaves out', async () => {
    const builder = new TableBuilder({ history: true });
    const warned = new Promise<Error & { code?: string }>((resolve) => {
      const listen = (warning: Error & { code?: string }): void => {
        if (warning.code !== 'ROBOTS_FILTER_DATE') return;
        process.off('warning', listen);
        resolve(warning);
      };
      process.on('warning', listen);
    });
    builder.add('a.example', 'User-agent: *\nDisallow: /');
    builder.add('b.example', 'User-agent: *\nDisallow: /', { date: Date.UTC(2026, 0, 1) });
    builder.build();
    const { name, message } = await warned;
    expect(name).toBe('RobotsFilterWarning');
    expect(message).toContain('leaves out robots.txt files without a date, here 1');
  });

  it('histories, though another part has the same body without a date', () => {
    const contents = new TableContents({ history: true });
    const claims = new BodyClaims();
    const merges = [undefined, Date.UTC(2026, 0, 1)].map((date) => {
      const part = new PartBuilder({ history: true }, { key: contents.key, claims });
      part.add(authorityOf('a.example'), new TextEncoder().encode('user-agent: *'), {
        source: 'a',
        date,
      });
      const table = part.take();
      const merger = new PartMerger(contents);
      merger.receive(table);
      return () => merger.add(table);
    });
    for (const merge of merges) merge();
    expect(contents.undated).toBe(1);
    expect(contents.stats).toMatchObject({ files: 2, bodies: 1 });
    expect(contents.layOut().table().length).toBeGreaterThan(0);
  });

  it('impossible options, with an error at once', () => {
    expect(() => new TableBuilder({ maxBytes: 1 })).toThrow(RobotsFilterError);
    expect(() => new TableBuilder({ profile: 'bing' as 'google' })).toThrow(RobotsFilterError);
  });

  it('the total bytes of the bodies in the table', () => {
    const table = tableOf([
      { authority: 'a', robots: DENY_ALL },
      { authority: 'b', robots: DENY_ALL },
      { authority: 'b', robots: '#' },
    ]);
    expect(checkTable(table, 'table').compiledBytes).toBe(DENY_ALL.length + 1);
  });
});

it('a host with more authorities than a record can have loses those at its highest ports only', () => {
  const added = Array.from({ length: 32_768 }, (_, index): Added[] => [
    { authority: `https://evil.example:${32_768 - index}`, robots: '', status: 404 },
    { authority: `http://evil.example:${32_768 - index}`, robots: '', status: 503 },
  ]).flat();
  const good = { authority: 'good.example', robots: 'user-agent: *\ndisallow: /no\n' };
  const table = tableOf([...added, good]);
  const left = scopes(table, 'evil.example').map((line) => line.split(' ')[0]);
  expect(left).toHaveLength(65_535);
  expect(left).toContain('http://evil.example:32768');
  expect(left).not.toContain('https://evil.example:32768');
  expect(groups(table, 'good.example')).toEqual(['<*>: 2 -/no']);
  expect(checkTable(table, 'table').authorities).toBe(65_536);
  const fewer = added.filter(({ authority }) => authority !== 'https://evil.example:32768');
  expect(Buffer.compare(table, tableOf([good, ...fewer]))).toBe(0);
});
