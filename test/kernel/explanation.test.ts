import { describe, expect, it } from 'vitest';
import { TableBuilder } from '../../src/compile/table-builder.js';
import { Robots, Table } from '../../src/library/index.js';
import { parseAuthority } from '../../src/protocol/authority.js';
import { ShardView } from '../../src/view/shard-view.js';
import { kernelOver } from './harness.js';

/** The rule's text from the library and from both forms of a run, which must agree. */
function textOf(pattern: string, path: string, profile: 'rfc9309' | 'google' = 'rfc9309'): string {
  const robots = `user-agent: *\n\ndisallow: ${pattern}\n`;
  const url = `https://e.com${path}`;
  const { rule } = Robots.parse(robots, { profile }).verdict(url, '*');
  expect(rule?.line, path).toBe(3);
  const text = (rule as { text: string }).text;
  const run = kernelOver({ 'e.com': robots }, profile);
  const { output } = run(`${JSON.stringify({ url })}\n`, { explain: true });
  const record = JSON.parse(output) as { rule: { text: string; line: number } };
  expect(record.rule).toMatchObject({ text, line: 3 });
  const columns = run(`${url}\n`, { explain: true, format: 'text' }).output.split('\t');
  expect(JSON.parse(`"${columns[4] as string}"`)).toBe(text);
  return text;
}

describe('the rule that decided is shown as written', () => {
  it.each([
    ['/a', '/a'],
    ['/a/b', '/a/b/c'],
    ['/a*', '/a'],
    ['*', '/a'],
    ['/*', '/'],
    ['/a**', '/ab'],
    ['/a*$', '/ab'],
    ['/a$', '/a'],
    ['/*.gif$', '/b.gif'],
    ['/*a*b', '/a-b'],
    ['/a*b*c*', '/abc'],
    ['/a*b**c', '/abc'],
    ['/%7Ea', '/~a'],
    ['/~a', '/%7Ea'],
    ['/%C3%A9/', '/\u00e9/'],
    ['/\u00e9/', '/%C3%A9/'],
    ['/%c3%a9*%2F', '/\u00e9/%2F'],
    ['/%2F*%3A*%20$', '/%2f/:/%3A%20'],
    ['/*?a=%2F', '/x?a=/'],
    ['/a"\\', '/a%22%5C'],
    ['/a$b', '/a%24b'],
    ['/a%', '/a%20'],
    ['/a%2', '/a%2F'],
    ['/*/%', '/a/%20y'],
    ['/*%2*F$', '/a%2Fb%2F'],
    ['/%*0$', '/%20'],
    ['/%%32F', '/%2F'],
    [`/${'0123456789abcdef'.repeat(20)}%20b`, `/${'0123456789abcdef'.repeat(20)}%20bc`],
  ])('%s', (pattern, path) => {
    expect(textOf(pattern, path)).toBe(`Disallow: ${pattern}`);
  });

  it('for each place of an encoded byte in a vector', () => {
    for (let before = 0; before < 40; before++) {
      const pattern = `/${'a'.repeat(before)}%20%C3%A9b`;
      expect(textOf(pattern, `${pattern}c`)).toBe(`Disallow: ${pattern}`);
      expect(textOf(`/x*${pattern}`, `/x${pattern}c`)).toBe(`Disallow: /x*${pattern}`);
    }
  });

  it('truncated to 1,000 bytes', () => {
    const long = 'a'.repeat(998);
    expect(textOf(`/${long}b`, `/${long}bc`)).toBe(`Disallow: /${long}b`);
    expect(textOf(`/${long}bc`, `/${long}bcd`)).toBe(`Disallow: /${'a'.repeat(996)}\u2026`);
    expect(textOf(`/*${long}`, `/${long}`)).toBe(`Disallow: /*${long}`);
  });

  it('in the google profile, even if a rule for an index decides for its directory', () => {
    const robots = Robots.parse('user-agent: *\nallow: /a/index.html\ndisallow: /', {
      profile: 'google',
    });
    for (const path of ['/a/', '/a/index.html']) {
      expect(robots.verdict(`http://e.com${path}`, '*').rule?.text).toBe('Allow: /a/index.html');
    }
    expect(textOf('/%aa"', '/%AA"', 'google')).toBe('Disallow: /%aa"');
  });

  it('from the first line among equally long rules, wherever the automaton stores them', () => {
    const ways: (readonly [string, string])[] = [
      ['/ab*', '/abc'],
      ['/*bc', '/abc'],
      ['/a*c', '/abc'],
      ['/abc', '/abc'],
      ['/ab$', '/ab'],
    ];
    let compared = 0;
    for (const [first] of ways) {
      for (const [second] of ways) {
        for (const path of ['/abc', '/ab', '/ab$']) {
          const only = (rule: string) =>
            Robots.parse(`user-agent: *\ndisallow: ${rule}`).verdict(`http://e.com${path}`, '*');
          if (only(first).verdict !== 'deny' || only(second).verdict !== 'deny') continue;
          const both = Robots.parse(`user-agent: *\ndisallow: ${first}\ndisallow: ${second}`);
          expect(both.verdict(`http://e.com${path}`, '*').rule).toMatchObject({
            line: 2,
            text: `Disallow: ${first}`,
          });
          compared++;
        }
      }
    }
    expect(compared).toBeGreaterThan(10);
  });

  it('from the first group among several with equally long rules', () => {
    const robots = Robots.parse(
      'user-agent: a\ndisallow: /*bc\n\nuser-agent: a\nallow: /ab\ndisallow: /abc\n',
    );
    expect(robots.verdict('http://e.com/abc', 'a').rule?.line).toBe(2);
    expect(robots.verdict('http://e.com/ab', 'a').rule?.line).toBe(5);
  });
});

describe('the source of a robots.txt is shown as given', () => {
  const SOURCES = [
    'dir/HOST',
    'HOST',
    'https://HOST/robots.txt',
    'HOST/HOST',
    'all.ndjson:1',
    'all.ndjson:4294967295',
    'all.ndjson:123456789012',
    'all.ndjson:007',
    '0',
    '',
    'a list',
    'caf\u00e9 "1" \\ \u0007',
    'a\n5',
    `${'x'.repeat(3000)}/HOST/${'y'.repeat(500)}9`,
  ];
  const AUTHORITIES = ['HOST', 'http://HOST', 'HOST:8080', 'ftp://HOST'];

  it('by the view of a table and by the kernel, for any source and any number of authorities', () => {
    const builder = new TableBuilder();
    const expected = new Map<string, string>();
    for (const [index, source] of SOURCES.entries()) {
      for (const several of [false, true]) {
        const host = `${several ? 'several' : 'one'}-${index}.example`;
        const authorities = several ? AUTHORITIES : [AUTHORITIES[index % 4] as string];
        for (const [place, text] of authorities.entries()) {
          const authority = parseAuthority(text.replace('HOST', host));
          if (authority === undefined) throw new Error(text);
          const said = source.replaceAll('HOST', host) + (several ? `${place}` : '');
          const { scheme = 'https', port } = authority;
          expected.set(`${scheme}://${host}${port === undefined ? '' : `:${port}`}/`, said);
          builder.add(authority, Buffer.from('user-agent: *\ndisallow: /'), { source: said });
        }
      }
    }
    const bytes = builder.build();
    const view = new ShardView(bytes);
    const table = Table.from(bytes);
    expect(expected.size).toBe(SOURCES.length * (1 + AUTHORITIES.length));
    for (const [url, source] of expected) {
      expect(table.verdict(url, '*').rule, url).toMatchObject({ text: 'Disallow: /', source });
      const { protocol, hostname, port } = new URL(url);
      const found = view
        .find(hostname)
        ?.authorities.find(
          (each) =>
            each.schemes.includes(protocol.slice(0, -1) as 'http') &&
            (each.port ?? '').toString() === port,
        );
      expect(JSON.parse(`"${found?.source}"`), url).toBe(source);
    }
  });

  it('and takes no room if the host and the line number determine it', () => {
    const tableOf = (source: (host: string, index: number) => string): number => {
      const builder = new TableBuilder();
      for (let index = 0; index < 100; index++) {
        const host = `h${index}.example`;
        const authority = { scheme: undefined, host, port: undefined };
        builder.add(authority, new Uint8Array(), { source: source(host, index) });
      }
      return builder.build().length;
    };
    const least = tableOf(() => 'robots');
    expect(tableOf((host) => `robots/${host}.txt`)).toBeLessThan(least + 16);
    expect(tableOf((_, index) => `robots.ndjson:${index}`)).toBeLessThan(least + 4 * 100 + 24);
  });
});
