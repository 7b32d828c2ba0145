import { describe, expect, it } from 'vitest';
import { TableBuilder } from '../../src/compile/table-builder.js';
import { type AgentChange, TableDiff } from '../../src/inspect/table-diff.js';
import { Robots } from '../../src/judge/robots.js';
import { Table, tableMemory } from '../../src/judge/table.js';
import { parseAgent } from '../../src/protocol/agent.js';
import type { Profile } from '../../src/protocol/verdict.js';
import { cases } from '../random/cases.js';
import { Random } from '../random/random.js';

const HOST = { scheme: undefined, host: 'a.example', port: undefined };
const FILES = cases(40);
const PAIRS = cases(60);
const MIXED_PAIRS = cases(45);
const LETTERS = ['a', 'b', '/'];
const RESERVED = ['a', '/', '?', '.', '%2F', 'F'];
/** Pieces of escapes: `%2` before `%61` is decoded to `%2a`, which is not decoded again. */
const BARE = ['%', '2', 'a', '%61', '%32'];
const MIXED = '/ % 2 6 1 a A $ ? # ~ . é %2 %25 %61 %41 %2a %2F %2e %7E %C3 %c3%A9'.split(' ');

function tableOf(robots: string, profile: Profile = 'rfc9309'): Table {
  const builder = new TableBuilder({ profile });
  builder.add(HOST, new TextEncoder().encode(robots), { source: '' });
  return Table.from(builder.build());
}

function changesOf(old: Table, next: Table): readonly AgentChange[] {
  const [one, other] = [tableMemory(old).view, tableMemory(next).view];
  const sides = [one, other].map((view) => view.find(HOST.host)?.authorities[0]);
  const agent = parseAgent('bot', old.profile);
  const diff = new TableDiff(one, other, [agent], old.profile === 'google');
  if (sides[0] === undefined || sides[1] === undefined) throw new Error('no host');
  return diff.changes(sides[0], sides[1]);
}

/** All paths of up to so many pieces after the slash. */
function shortPaths(pieces: readonly string[], most: number): string[] {
  let longest = ['/'];
  const paths = new Set(longest);
  for (let length = 1; length <= most; length++) {
    longest = longest.flatMap((path) => pieces.map((piece) => path + piece));
    for (const path of longest) paths.add(path);
  }
  return [...paths];
}

/** The first of some paths on which the verdicts differ. */
function differingPath(
  old: string,
  next: string,
  paths: readonly string[],
  profile: Profile,
): string | undefined {
  const [one, other] = [old, next].map((text) => Robots.parse(text, { profile }));
  return paths.find((path) => {
    const url = `https://a.example${path}`;
    return one?.isAllowed(url, 'bot') !== other?.isAllowed(url, 'bot');
  });
}

function drawRule(random: Random, pieces: readonly string[], most: number): string {
  let pattern = '/';
  for (let left = random.between(0, most); left > 0; left--) {
    pattern += random.pick(pieces);
  }
  if (random.chance(0.2)) pattern += '$';
  return `${random.chance(0.4) ? 'Allow' : 'Disallow'}: ${pattern}\n`;
}

function drawRules(random: Random, pieces: readonly string[], most: number): string[] {
  return Array.from({ length: random.between(0, most) }, () => drawRule(random, pieces, 4));
}

const fileOf = (rules: readonly string[]): string => `User-agent: *\n${rules.join('')}`;

/** Two files: often the second one is the first with a rule more, or with some rules less. */
function drawPair(random: Random, pieces: readonly string[]): readonly [string, string] {
  const rules = drawRules(random, pieces, 4);
  if (random.chance(0.4)) return [fileOf(rules), fileOf(drawRules(random, pieces, 4))];
  const others = rules.filter(() => random.chance(0.8));
  if (random.chance(0.8)) others.push(drawRule(random, pieces, 4));
  return [fileOf(rules), fileOf(others)];
}

/** Paths that the patterns of a file may match: pieces in place of each `*`, and at the end. */
function pathsNear(random: Random, text: string, pieces: readonly string[]): string[] {
  const patterns = text.split('\n').flatMap((line) => line.split(': ')[1] ?? []);
  return patterns
    .filter((pattern) => pattern.startsWith('/'))
    .flatMap((pattern) =>
      Array.from({ length: 6 }, () => {
        const path = pattern.replace(/\$$/, '') + random.run(pieces, 0, 1);
        return path.replaceAll('*', () => random.run(pieces, 0, 2));
      }),
    );
}

interface Tally {
  different: number;
  same: number;
  /** Differences on short paths that were not found. */
  missed: string[];
  /** Paths that were found, and on which the verdicts are equal. */
  invented: string[];
  undecided: number;
}

/** Compares what is found between pairs of files with a search over some paths. */
function compare(
  pairs: number,
  draw: () => readonly [string, string],
  pathsFor: (old: string, next: string) => readonly string[],
  profile: Profile = 'rfc9309',
): Tally {
  const tally: Tally = { different: 0, same: 0, missed: [], invented: [], undecided: 0 };
  for (let pair = 0; pair < pairs; pair++) {
    const [old, next] = draw();
    const [change] = changesOf(tableOf(old, profile), tableOf(next, profile));
    // A path that was found takes the place of the search, if the verdicts on it differ.
    const path =
      differingPath(old, next, change?.paths ?? [], profile) ??
      differingPath(old, next, pathsFor(old, next), profile);
    if (path === undefined) tally.same++;
    else tally.different++;
    if (change === undefined) {
      if (path !== undefined) tally.missed.push(`${old}${next}${path}`);
      continue;
    }
    if (change.paths.length === 0) tally.undecided++;
    for (const found of change.paths) {
      if (differingPath(old, next, [found], profile) === undefined) {
        tally.invented.push(`${old}${next}${found}`);
      }
    }
  }
  return tally;
}

describe('the changes between two files', () => {
  it('without wildcards are found exactly when the verdict on some path differs', () => {
    const random = new Random(28);
    const paths = shortPaths(LETTERS, 4);
    const draw = (): [string, string] => [
      fileOf(drawRules(random, LETTERS, 3)),
      fileOf(drawRules(random, LETTERS, 3)),
    ];
    const { different, same, ...wrong } = compare(FILES, draw, () => paths);
    expect(wrong).toEqual({ missed: [], invented: [], undecided: 0 });
    expect(Math.min(different, same)).toBeGreaterThan(FILES / 20);
  });

  // With CASES=20: of 24,000 pairs 16,079 differ on a short path, and none of them is missed.
  it.each([
    ['literals and wildcards', LETTERS, 30, 'rfc9309'],
    ['queries, dots and escapes', RESERVED, 31, 'rfc9309'],
    ['literals and wildcards of the google profile', LETTERS, 32, 'google'],
    ['queries, dots and escapes of the google profile', RESERVED, 33, 'google'],
    ['escapes that come out of decoding', BARE, 34, 'rfc9309'],
  ] as const)('with %s: no difference is missed, and none invented', (_, pieces, seed, profile) => {
    const random = new Random(seed);
    const draw = (): readonly [string, string] => drawPair(random, [...pieces, '*']);
    const paths = shortPaths([...pieces, '*'], 4);
    const { different, same, ...wrong } = compare(PAIRS, draw, () => paths, profile);
    expect(wrong).toEqual({ missed: [], invented: [], undecided: 0 });
    expect(Math.min(different, same)).toBeGreaterThan(PAIRS / 10);
  });

  it.each(['rfc9309', 'google'] as const)('of all kinds of bytes are found: %s', (profile) => {
    const random = new Random(35);
    const pieces = [...MIXED, '*', '*'];
    const short = shortPaths(MIXED, 2);
    const { different, same, ...wrong } = compare(
      MIXED_PAIRS,
      () => drawPair(random, pieces),
      (old, next) => [
        ...pathsNear(random, old, MIXED),
        ...pathsNear(random, next, MIXED),
        ...short,
        ...Array.from({ length: 200 }, () => `/${random.run(MIXED, 3, 6)}`),
      ],
      profile,
    );
    expect(wrong).toEqual({ missed: [], invented: [], undecided: 0 });
    expect(Math.min(different, same)).toBeGreaterThan(MIXED_PAIRS / 10);
  });

  it.each([
    ['Disallow: /shop/', 'Disallow: /shop/\nAllow: /*.html$', '/shop/.html'],
    [
      'Disallow: /wp-admin/',
      'Disallow: /wp-admin/\nAllow: /*/admin-ajax.php',
      '/wp-admin/admin-ajax.php',
    ],
    ['Allow: /\nDisallow: /b\nDisallow: /cc', 'Allow: /*\nDisallow: /b\nDisallow: /cc', '/b'],
    ['Allow: /\nDisallow: /b', 'Allow: /*\nDisallow: /b', '/b'],
    ['Disallow: /*/..', 'Disallow: /', '/'],
    ['Disallow: /*a', 'Disallow: /*a\nDisallow: /*/../', '/?/../'],
    ['Disallow: /robots.txt$', 'Disallow: /robots.tx', '/robots.tx'],
    ['Disallow:', 'Disallow: /%2%61', '/%2%61'],
    ['Disallow:', 'Disallow: /%%34%31', '/%4%31'],
    ['Disallow:', 'Disallow: /%2%46?%2%46$', '/%2F?%2%46'],
    ['Disallow:', 'Disallow: /%2%45%2%45/', '/%2%45%2%45/'],
  ])('between %j and %j show on %s', (old, next, path) => {
    const [change] = changesOf(
      tableOf(`User-agent: *\n${old}\n`),
      tableOf(`User-agent: *\n${next}\n`),
    );
    expect(change?.paths).toContain(path);
  });

  it('leave out what has no effect: comments, order, rules that never decide', () => {
    const old = tableOf('User-agent: *\nDisallow: /a\nAllow: /b\n');
    for (const text of [
      '# note\nuser-agent: *\n\nAllow: /b\nDisallow: /a\n',
      'User-agent: *\nDisallow: /a\nDisallow: /ab\nAllow: /b\n',
      'User-agent: bot\nDisallow: /a\nUser-agent: *\nDisallow: /\n',
      'User-agent: *\nDisallow: /a*\nDisallow: /a\n',
      'User-agent: *\nDisallow: /a\nAllow: /b\nDisallow: /../b\nDisallow: /a*b*c*/%41\n',
    ]) {
      expect(changesOf(old, tableOf(text))).toEqual([]);
    }
  });

  it('are undecided, after little time, between rules that are too entangled', () => {
    const rules = Array.from({ length: 40 }, (_, n) => {
      const text = `/*a${n}*b${n}*c${n}*d${n}`;
      return `${n % 2 === 0 ? 'Allow' : 'Disallow'}: ${text}\n`;
    });
    rules.push('Disallow: /*zq\n');
    const [old, next] = [tableOf(fileOf(rules)), tableOf(fileOf([...rules, 'Disallow: /*zq*a\n']))];
    expect(changesOf(old, next)).toEqual([{ agent: 0, old: 'part', new: 'part', paths: [] }]);
  });
});
