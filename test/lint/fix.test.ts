import { describe, expect, it } from 'vitest';
import { readGroups } from '../../oracle/robots.js';
import { verdictOf } from '../../oracle/verdict.js';
import { RobotsDocument } from '../../src/lint/document.js';
import { fixBody, Linter } from '../../src/lint/lint.js';
import { LINT_RULE_NAMES } from '../../src/lint/rules.js';
import { knownAgents } from '../../src/protocol/known-agents.js';
import { parseRobots } from '../../src/protocol/parse.js';
import { hostileFile } from '../hostile/file.js';
import { cases } from '../random/cases.js';
import { Random } from '../random/random.js';

const linter = new Linter({
  rules: new Set(LINT_RULE_NAMES),
  agents: knownAgents(),
  mostListed: 1,
  collectEdits: true,
});

function fixed(text: string): string {
  const body = Buffer.from(text);
  return Buffer.from(fixBody(body, linter.lint(body)).body).toString();
}

const ROUNDS = cases(150);

describe('hostile files', () => {
  it('have the groups of the parser, no verdict by a rule that never decides, and the same verdicts when they are fixed', () => {
    const random = new Random(4);
    const counts = { groups: 0, never: 0, edits: 0, verdicts: 0 };
    for (let round = 0; round < ROUNDS; round++) {
      const { robots, urls, chains } = hostileFile(random, 'rfc9309', { urls: 8, chains: 3 });
      // The lines recur, so that some of them are duplicates.
      const lines = robots.split('\n');
      const body = Buffer.from([...lines, ...lines.slice(-4)].join('\n'), 'latin1');
      const parsed = parseRobots(body);
      const document = new RobotsDocument(body);
      expect(
        document.groups.map(({ agents, rules }) => ({
          productTokens: agents.map(({ token }) => token).filter((token) => token !== ''),
          rules: rules.map(({ allow, pattern, line }) => [allow, Buffer.from(pattern), line.line]),
          line: agents[0]?.line.line,
        })),
      ).toEqual(
        parsed.groups.map(({ productTokens, rules, line }) => ({
          productTokens,
          rules: rules.map((rule) => [rule.allow, Buffer.from(rule.pattern), rule.line]),
          line,
        })),
      );
      counts.groups += parsed.groups.length;
      const all = new Linter({
        rules: new Set(['duplicate-rule', 'contradicting-rule', 'shadowed-rule']),
        agents: [],
        mostListed: 1000,
        collectEdits: false,
      }).lint(body);
      const never = new Set(all.findings.map(({ line }) => line));
      counts.never += never.size;
      const mended = fixBody(body, linter.lint(body));
      counts.edits += mended.edits;
      const groups = readGroups(body, 'rfc9309');
      const mendedGroups = readGroups(mended.body, 'rfc9309');
      for (const url of urls) {
        for (const chain of chains) {
          const before = verdictOf(groups, 'rfc9309', chain, url);
          expect(never.has(before.line) ? `line ${before.line} decides on ${url}` : '').toBe('');
          const { verdict } = verdictOf(mendedGroups, 'rfc9309', chain, url);
          expect(verdict).toBe(before.verdict);
          counts.verdicts++;
        }
      }
    }
    expect(counts.groups).toBeGreaterThan(ROUNDS);
    expect(counts.never).toBeGreaterThan(ROUNDS / 3);
    expect(counts.edits).toBeGreaterThan(ROUNDS / 3);
    expect(counts.verdicts).toBe(ROUNDS * 8 * 3);
  });
});

/** Pieces of lines that edits touch, or that stand beside them. */
const KEYS = [
  'User-agent',
  'User-agent',
  'Allow',
  'Disallow',
  'Disallow',
  'Crawl-delay',
  'Noindex',
];
const AGENTS = ['*', 'a', 'a/1.0', 'a/1, b', 'b', 'b c', '* a', '\u00a0a', 'a # b'];
const PIECES = [
  '/',
  '/',
  '*',
  '%2',
  '%61',
  '%',
  '%34',
  '%31',
  '%2F',
  '%2f',
  '%7E',
  'a',
  '4',
  '1',
  '$',
  ' ',
  ',',
  '?',
  '%3A',
  ':',
];
const ENDS = ['\n', '\n', '\r\n', '\r', '\n\n', ' # c\n', '#c\n'];
const BEGINS = ['', '', '', '\ufeff', '\ufeff\ufeff', '\ufeff\u001f'];

function drawnFile(random: Random): string {
  let file = random.pick(BEGINS);
  for (let line = random.between(2, 14); line > 0; line--) {
    const key = random.pick(KEYS);
    const value =
      key === 'User-agent'
        ? random.pick(AGENTS)
        : random.pick(['/', '/', '*', '']) + random.run(PIECES, 0, 5);
    file += `${key}: ${value}${random.pick(ENDS)}`;
  }
  return file;
}

/** Paths that spell what a pattern does, with its escapes decoded once, twice or not at all. */
function pathsFor(file: string, random: Random): string[] {
  const patterns = file
    .split(/[\r\n]/)
    .map((line) => line.replace(/^[^:]*: /, '').replace(/ ?#.*/, ''))
    .filter((pattern) => pattern.startsWith('/') || pattern.startsWith('*'));
  return [0, 1, 2, 3, 4, 5].map(() => {
    const pattern = patterns.length === 0 ? '/' : random.pick(patterns);
    const path = pattern.replaceAll('*', random.pick(['', 'a', '/'])).replace(/\$$/, '');
    const decoded = random.pick([0, 1, 2]);
    let text = path;
    for (let time = 0; time < decoded; time++) {
      text = text.replace(/%(61|34|31|7E)/g, (encoded) => decodeURIComponent(encoded));
    }
    return `http://h.example${text.startsWith('/') ? '' : '/'}${text}${random.pick(['', '', 'x'])}`;
  });
}

describe('drawn files', () => {
  it('have the same verdicts for every agent when they are fixed, in one pass and in several', () => {
    const random = new Random(5);
    const counts = { edits: 0, denied: 0, allowed: 0, percent: 0, marks: 0 };
    const rounds = cases(600);
    for (let round = 0; round < rounds; round++) {
      const file = drawnFile(random);
      const body = Buffer.from(file);
      const before = readGroups(body, 'rfc9309');
      const urls = pathsFor(file, random);
      let mended: Uint8Array = body;
      for (let pass = 0; pass < 3; pass++) {
        const { body: next, edits } = fixBody(mended, linter.lint(mended));
        if (edits === 0) break;
        counts.edits += edits;
        if (pass === 0 && file.includes('%2%61')) counts.percent++;
        if (file.startsWith('\ufeff\ufeff')) counts.marks++;
        mended = next;
        const after = readGroups(mended, 'rfc9309');
        for (const url of urls) {
          for (const agent of ['a', 'b', 'z']) {
            const { verdict } = verdictOf(after, 'rfc9309', [agent], url);
            const expected = verdictOf(before, 'rfc9309', [agent], url).verdict;
            if (verdict !== expected) {
              throw new Error(`${agent} ${url}: ${JSON.stringify([file, mended.toString()])}`);
            }
            if (verdict === 'allow') counts.allowed++;
            else counts.denied++;
          }
        }
      }
    }
    expect(counts.edits).toBeGreaterThan(rounds / 2);
    expect(counts.denied).toBeGreaterThan(rounds / 2);
    expect(counts.allowed).toBeGreaterThan(rounds / 2);
    expect(counts.percent).toBeGreaterThan(0);
    expect(counts.marks).toBeGreaterThan(0);
  });
});

describe('a fix', () => {
  it.each([
    ['\ufeffUser-agent: *\nDisallow: /a', 'User-agent: *\nDisallow: /a'],
    ['User-agent: GPTBot/1.2 # new\nDisallow: /', 'User-agent: GPTBot # new\nDisallow: /'],
    ['User-agent: *\nDisallow: /%7Ea%2d%2F\n', 'User-agent: *\nDisallow: /~a-%2F\n'],
    [
      'User-agent: *\r\nDisallow: /a\r\nDisallow: /a\r\nAllow: /',
      'User-agent: *\r\nDisallow: /a\r\nAllow: /',
    ],
    ['User-agent: *\nAllow: /\nDisallow: /*', 'User-agent: *\nDisallow: /*'],
    // The group would lose its last rule, and run into the next one.
    [
      'User-agent: a\nDisallow: /\n\nUser-agent: a\nDisallow: /\n\nUser-agent: b\nDisallow: /b',
      'User-agent: a\nDisallow: /\n\nUser-agent: a\nDisallow: /\n\nUser-agent: b\nDisallow: /b',
    ],
    // What it stands for would end another escape.
    ['User-agent: *\nDisallow: /%2%61', 'User-agent: *\nDisallow: /%2%61'],
    ['User-agent: *\nDisallow: /%%34%31/%7E', 'User-agent: *\nDisallow: /%%34%31/%7E'],
    ['User-agent: *\nDisallow: /%/%61', 'User-agent: *\nDisallow: /%/a'],
    // Without the first mark, the second one would be no part of the line.
    ['\ufeff\ufeffUser-agent: *\nDisallow: /', '\ufeff\ufeffUser-agent: *\nDisallow: /'],
    ['User-agent: Sogou web spider\nDisallow: a', 'User-agent: Sogou web spider\nDisallow: a'],
  ])('makes %j %j', (before, after) => {
    expect(fixed(before)).toBe(after);
  });

  it('leaves UTF-16 and files beyond the limit as they are', () => {
    const utf16 = Buffer.from('\ufeffUser-agent: a/1\nDisallow: /', 'utf16le');
    expect(fixBody(utf16, linter.lint(utf16)).edits).toBe(0);
    const long = Buffer.from(`User-agent: a/1\nDisallow: /${' '.repeat(512_000)}`);
    expect(fixBody(long, linter.lint(long)).edits).toBe(0);
  });
});
