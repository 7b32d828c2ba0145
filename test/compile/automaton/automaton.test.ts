import { describe, expect, it } from 'vitest';
import { canonicalPattern, canonicalTarget, googlePattern } from '../../../oracle/url.js';
import { matches, matchesWhole } from '../../../oracle/verdict.js';
import { AutomatonCompiler, RuleMemory, ruleMemory } from '../../../src/kernel/automata.js';
import { type Rule, RulePlaces } from '../../../src/protocol/robots-file.js';
import type { Profile } from '../../../src/protocol/verdict.js';
import { cases } from '../../random/cases.js';
import { Random } from '../../random/random.js';
import { DecodedAutomaton } from './decoded-automaton.js';

const compiler = new AutomatonCompiler();

function bytes(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

/** `+/a` allows, `-/a` disallows. */
function rulesOf(...lines: string[]): Rule[] {
  return lines.map((line, index) => ({
    allow: line.startsWith('+'),
    pattern: bytes(line.slice(1)),
    line: index + 1,
  }));
}

interface Compiled {
  readonly automaton: DecodedAutomaton;
  readonly firstLine: number;
  readonly bytes: Uint8Array;
}

function placesOf(rules: readonly Rule[]): RulePlaces {
  const text = Buffer.concat(rules.map(({ pattern }) => pattern));
  const places = new RulePlaces(text);
  let at = 0;
  for (const { allow, pattern, line } of rules) {
    places.add(allow, at, at + pattern.length, line);
    at += pattern.length;
  }
  return places;
}

/** The rules' automaton; `undefined` if none of them can match. */
function automatonOf(rules: readonly Rule[], profile: Profile): Uint8Array | undefined {
  return compiler.compile(placesOf(rules), 0, rules.length, profile)?.slice();
}

function compile(rules: readonly Rule[], profile: Profile = 'rfc9309'): Compiled {
  const bytes = automatonOf(rules, profile);
  if (bytes === undefined) throw new Error('no rule can match');
  return { automaton: new DecodedAutomaton(bytes), firstLine: compiler.firstLine, bytes };
}

/** The text that patterns are compared with. */
function textOf(path: string, profile: Profile): Uint8Array {
  if (profile === 'google') return bytes(path);
  const [start, query] = splitQuery(path);
  return bytes(canonicalTarget({ path: start, query }));
}

/**
 * The automaton's verdict on a path: `allow 3` or `deny 3`, with the line of the rule, or `none`.
 */
function verdict({ automaton, firstLine }: Compiled, path: string): string {
  const found = automaton.match(textOf(path, 'rfc9309'));
  if (found === undefined) return 'none';
  return `${(found.rank & 1) === 1 ? 'allow' : 'deny'} ${firstLine + found.line}`;
}

describe('RFC 9309 section 2.2.2: the most specific match is the one with the most bytes', () => {
  it('a longer pattern wins, whatever the order in the file', () => {
    const compiled = compile(rulesOf('-/', '+/a', '-/a/b', '+/a/b/c$'));
    expect(verdict(compiled, '/x')).toBe('deny 1');
    expect(verdict(compiled, '/ab')).toBe('allow 2');
    expect(verdict(compiled, '/a/b/d')).toBe('deny 3');
    expect(verdict(compiled, '/a/b/c')).toBe('allow 4');
    expect(verdict(compiled, '/a/b/c/')).toBe('deny 3');
  });

  it('among equally long patterns an allow wins, then the first line', () => {
    const compiled = compile(rulesOf('-/a*c', '+/ab*', '-/*bc', '+/*b*'));
    expect(verdict(compiled, '/abc')).toBe('allow 2');
    expect(verdict(compiled, '/axc')).toBe('deny 1');
    expect(verdict(compiled, '/xbc')).toBe('allow 4');
  });

  it('`*` and `$` count as one byte each, and an escape as three', () => {
    expect(verdict(compile(rulesOf('-/aa', '+/a*')), '/aa')).toBe('allow 2');
    expect(verdict(compile(rulesOf('-/a**', '+/aab')), '/aab')).toBe('allow 2');
    expect(verdict(compile(rulesOf('-/a***', '+/aab')), '/aab')).toBe('deny 1');
    expect(verdict(compile(rulesOf('+/a%20', '-/*****')), '/a%20')).toBe('deny 2');
  });
});

describe('the rules that remain', () => {
  it('the first of equal rules, and the allow if an allow equals a disallow', () => {
    const compiled = compile(rulesOf('-/a', '-/a', '-/%61', '+/b', '-/b', '-/c', '+/c', '+/c'));
    expect(compiled.automaton.ruleCount).toBe(3);
    expect(verdict(compiled, '/a')).toBe('deny 1');
    expect(verdict(compiled, '/b')).toBe('allow 4');
    expect(verdict(compiled, '/c')).toBe('allow 7');
  });

  it('the longest of different patterns that match the same paths', () => {
    const compiled = compile(rulesOf('+/a', '-/a*', '+/b**c', '-/b*c', '-/d*$', '+/d**'));
    expect(compiled.automaton.ruleCount).toBe(3);
    expect(verdict(compiled, '/a')).toBe('deny 2');
    expect(verdict(compiled, '/bc')).toBe('allow 3');
    expect(verdict(compiled, '/d')).toBe('allow 6');
  });

  it('patterns that differ only in their second form', () => {
    const compiled = compile(rulesOf('-/*%2F%%32Fa', '-/*%%32F%2Fa'));
    expect(compiled.automaton.ruleCount).toBe(2);
  });

  it('one of several patterns with the same canonical form', () => {
    const compiled = compile(rulesOf('-/%%32F', '-/%2F', '-/%2f'));
    expect(compiled.automaton.ruleCount).toBe(1);
    expect(verdict(compiled, '/%2F')).toBe('deny 1');
  });

  it('none, if no pattern of the group can match', () => {
    expect(automatonOf(rulesOf('-', '+a', '-%2Fa', '-$'), 'rfc9309')).toBeUndefined();
    expect(automatonOf([], 'rfc9309')).toBeUndefined();
  });
});

describe('the trie', () => {
  it('stores labels of any length in chains', () => {
    for (const length of [254, 255, 256, 509, 510, 511, 2000]) {
      const compiled = compile(rulesOf(`-/${'a'.repeat(length)}`, `+/${'a'.repeat(length)}b$`));
      const path = `/${'a'.repeat(length)}`;
      expect(verdict(compiled, path)).toBe('deny 1');
      expect(verdict(compiled, `${path}b`)).toBe('allow 2');
      expect(verdict(compiled, `${path}bc`)).toBe('deny 1');
      expect(verdict(compiled, path.slice(1))).toBe('none');
      expect(verdict(compiled, path.slice(0, -1))).toBe('none');
      // Each node except the first has the byte before its label in the edge that leads to the
      // node.
      const ofPath = 1 + Math.ceil((length + 1 - 255) / 256);
      expect(compiled.automaton.nodes().length).toBe(1 + ofPath);
    }
  });

  it('has nodes with an edge for every byte that can begin an edge', () => {
    const lines: string[] = [];
    for (let byte = 0; byte < 256; byte++) {
      const character = String.fromCharCode(byte);
      if (character !== '*') lines.push(`-/a${character}x`);
    }
    const compiled = compile(rulesOf(...lines));
    for (const [index, line] of lines.entries()) {
      if (line.includes('%')) continue;
      expect(verdict(compiled, line.slice(1)), line).toBe(`deny ${index + 1}`);
    }
  });

  it('has offsets as wide as its size requires', () => {
    const wide = Array.from({ length: 8000 }, (_, index) => `-/${index}/${index * index}`);
    const compiled = compile(rulesOf(...wide));
    expect(compiled.automaton.offsetBytes).toBe(4);
    expect(compile(rulesOf(...wide.slice(0, 500))).automaton.offsetBytes).toBe(2);
    for (const index of [0, 1, 500, 7999]) {
      expect(verdict(compiled, `/${index}/${index * index}`)).toBe(`deny ${index + 1}`);
    }
    expect(compile(rulesOf(`-/${'a'.repeat(65_535)}`)).automaton.offsetBytes).toBe(4);
  });

  it('has its wildcard rules in blocks of 32, in descending rank', () => {
    const lines = Array.from({ length: 100 }, (_, index) => `-/*${'x'.repeat(index + 1)}y`);
    const compiled = compile(rulesOf(...lines));
    expect(compiled.automaton.nodes()).toEqual([{ label: 1, edges: 0, blocks: [32, 32, 32, 4] }]);
    expect(verdict(compiled, `/${'x'.repeat(70)}y`)).toBe('deny 70');
    expect(verdict(compiled, '/axyb')).toBe('deny 1');
    expect(verdict(compiled, '/yx')).toBe('none');
  });
});

describe('the rules that an automaton keeps for people', () => {
  it('have the text as written and the length that ranks them', () => {
    const { automaton } = compile(rulesOf('-/%7ea*"\\', '+/\xc3\xa9\xff$'));
    expect(automaton.rules()).toEqual([
      { rank: 20, line: 0, text: '/%7ea*\\"\\\\' },
      { rank: 23, line: 1, text: '/\u00e9\ufffd$' },
    ]);
  });

  it('are truncated to 1,000 bytes before escaping', () => {
    const { automaton } = compile(rulesOf(`-/${'a'.repeat(1000)}`, `-/${'b'.repeat(999)}`));
    expect(automaton.rules()).toEqual([
      { rank: 2000, line: 1, text: `/${'b'.repeat(999)}` },
      { rank: 2002, line: 0, text: `/${'a'.repeat(996)}\u2026` },
    ]);
    expect(automaton.textBytes).toBe(2 + 997 + 3);
  });

  it.each([
    ['prefixes', ['/a', '/ab/c?d=e&f', '/']],
    ['prefixes and another star', ['/a*', '*', '/ab*']],
    ['ends', ['/$', '/a/b$']],
    ['stars', ['/*a', '*/b*c$', '/d*e*f*', '/*?']],
    ['bytes that stay encoded', ['/%2F', '/%C3%A9*%20b', '/%C3%AF$', '/%24*']],
    ['parts of encoded bytes', ['/%', '/a%2', '/%C3%A*%2', '/%2$', '/*%*2F$']],
    ['two forms', ['/*%2Fa', '/a*%3A*%40$']],
  ])('are not written down where they are what the automaton says: %s', (_what, patterns) => {
    const { automaton } = compile(rulesOf(...patterns.map((pattern) => `-${pattern}`)));
    expect(automaton.textBytes).toBe(0);
    const byLine = automaton.rules().sort((a, b) => a.line - b.line);
    expect(byLine.map(({ text }) => text)).toEqual(patterns);
  });

  it.each([
    '/%c3%a9',
    '/\xc3\xa9',
    '/%61',
    '/a**',
    '/a*$',
    '/a**b',
    '/a$b',
    '/a"',
    '/a*%2f',
    '/a*%61$',
    '/%%32F',
  ])('are written down where they are not: %s', (pattern) => {
    const { automaton } = compile(rulesOf(`-${pattern}`, '+/other'));
    const text = new TextDecoder().decode(bytes(pattern)).replace('"', '\\"');
    expect(automaton.rules().map((rule) => rule.text)).toContain(text);
    expect(automaton.textBytes).toBe(2 + new TextEncoder().encode(text).length);
  });

  it('in the google profile have the text of the index rule for its directory too', () => {
    const { automaton } = compile(rulesOf('+/a/index.html', '-/b"'), 'google');
    expect(automaton.rules()).toEqual([
      { rank: 6, line: 1, text: '/b\\"' },
      { rank: 9, line: 0, text: '/a/index.html' },
      { rank: 27, line: 0, text: '/a/index.html' },
    ]);
  });
});

describe('the memory for compiling', () => {
  const page = 65_536;

  it('is one for all compilers, unless a group has made it long', () => {
    const rules = rulesOf('-/a');
    const usual = ruleMemory();
    new AutomatonCompiler().compile(placesOf(rules), 0, 1, 'rfc9309');
    expect(ruleMemory()).toBe(usual);
    const long = rulesOf(`-/${'%'.repeat(6_000_000)}`);
    new AutomatonCompiler().compile(placesOf(long), 0, 1, 'rfc9309');
    expect(ruleMemory()).not.toBe(usual);
    expect(ruleMemory().bytes.length).toBeLessThan(10 * page);
  });

  it('grows by pages, wherever in a page a group ends', () => {
    const lengths = new Set<number>();
    // Text, canonical form and automaton grow with the pattern.
    for (let length = page; length <= page + page / 3; length += 173) {
      const rules = rulesOf('-/a*b', `+/${'c'.repeat(length)}`, '-/a*%2F$', '-/%');
      // The compiler's memory has held longer groups, and need not grow.
      const fresh = new RuleMemory();
      expect(fresh.load(placesOf(rules), 0, rules.length, 'rfc9309')).toBe(0);
      // `toEqual` takes a third of a second for an automaton of this size.
      const usual = automatonOf(rules, 'rfc9309') ?? Buffer.of();
      expect(Buffer.compare(fresh.writeAutomaton(), usual), `${length}`).toBe(0);
      lengths.add(fresh.bytes.length);
    }
    expect(lengths.size).toBeGreaterThan(1);
  });

  it.each(['rfc9309', 'google'] as const)('holds the widest forms: profile %s', (profile) => {
    // Each byte takes three, each literal stands between stars, and each text needs escapes.
    for (const count of [1, 3, 4, 31, 32, 33, 65]) {
      const patterns = Array.from({ length: count }, (_, index) => {
        const literal = `${String.fromCharCode(0xa0 + index)}"%2f\x01`;
        return `+/${`*${literal}`.repeat(1 + (index % 40))}/index.htm`;
      });
      const { automaton } = compile(rulesOf(...patterns), profile);
      expect(automaton.ruleCount).toBe(profile === 'google' ? 2 * count : count);
      const lines = new Set(automaton.rules().map(({ line }) => line));
      expect(lines.size).toBe(count);
    }
  });
});

describe('lines', () => {
  it('are stored relative to the first line, in as few bytes as possible', () => {
    const sizes = [200, 300, 70_000].map((last) => {
      const rules = rulesOf('-/a', '+/b').map((rule, index) => ({
        ...rule,
        line: index === 0 ? 100 : 100 + last,
      }));
      const compiled = compile(rules);
      expect(verdict(compiled, '/a')).toBe('deny 100');
      expect(verdict(compiled, '/b')).toBe(`allow ${100 + last}`);
      return compiled.bytes.length;
    });
    expect(sizes.map((size) => size - (sizes[0] as number))).toEqual([0, 2, 6]);
  });

  it('do not separate equal groups at different places of a file', () => {
    const rules = rulesOf('-/a', '+/a/b', '-/*c');
    const later = rules.map((rule) => ({ ...rule, line: rule.line + 1000 }));
    expect(compile(later).bytes).toEqual(compile(rules).bytes);
    expect(verdict(compile(later), '/a/b')).toBe('allow 1002');
  });
});

/**
 * Pieces of patterns and paths that have much in common, with everything that canonical forms
 * change.
 */
const PIECES = [
  ...['a', 'b', 'a', 'b', 'ab', '/', '/', '.', '-', '=', '&', '?', 'index', 'page', 'aaa', 'abab'],
  ...['%2F', '%2f', '/', ':', '%3A', '%40', '@', '%61', '%7E', '~', '%20', '%C3%A9', '\xc3\xa9'],
  ...['%', '%2', '%%32F', 'F', '20', '$', '%24', '%2A'],
];

function randomPattern(random: Random): string {
  let pattern = random.pick(['/', '/', '/', '/', '*', '/*']);
  for (let pieces = random.between(0, 6); pieces > 0; pieces--) {
    pattern += random.chance(0.3) ? random.pick(['*', '*', '**']) : random.pick(PIECES);
  }
  return pattern + random.pick(['', '', '', '$', '*$', '*']);
}

/** A path that one of the patterns may match, or any other path. */
function randomPath(random: Random, patterns: readonly string[]): string {
  if (random.chance(0.2)) return `/${random.run(PIECES, 0, 8)}`;
  let path = '';
  for (const character of random.pick(patterns)) {
    if (character === '*') path += random.run(PIECES, 0, 3);
    else if (!random.chance(0.02)) path += character;
  }
  if (random.chance(0.5)) path += random.run(PIECES, 0, 2);
  return `/${path.replace(/^\/|\$$/g, '')}`;
}

interface Expected {
  readonly rank: 'none' | 'allow' | 'deny';
  readonly line: number;
  readonly bytes: number;
  /** Whether the rule matches only because a pattern may begin or end its match within a `%XX`. */
  readonly splitByte: boolean;
}

/** The rule that decides, found by trying all rules. */
function naiveBest(rules: readonly Rule[], path: string, profile: Profile): Expected {
  const target = String.fromCharCode(...textOf(path, profile));
  let best: Expected = { rank: 'none', line: 0, bytes: 0, splitByte: false };
  for (const rule of rules) {
    const pattern = String.fromCharCode(...rule.pattern);
    for (const { readings, length } of readingsOf(pattern, rule.allow, profile)) {
      if (!readings.some((reading) => matches(reading, target))) continue;
      const beats =
        length > best.bytes || (length === best.bytes && rule.allow && best.rank === 'deny');
      if (!beats) continue;
      const splitByte = !readings.some((reading) => matchesWhole(reading, target));
      best = { rank: rule.allow ? 'allow' : 'deny', line: rule.line, bytes: length, splitByte };
    }
  }
  return best;
}

function splitQuery(path: string): [string, string | undefined] {
  const question = path.indexOf('?');
  return question < 0 ? [path, undefined] : [path.slice(0, question), path.slice(question + 1)];
}

function readingsOf(
  pattern: string,
  allow: boolean,
  profile: Profile,
): { readings: readonly string[]; length: number }[] {
  if (profile !== 'google') return [canonicalPattern(pattern)];
  const escaped = googlePattern(pattern);
  const all = [escaped];
  const slash = escaped.lastIndexOf('/');
  if (allow && escaped.startsWith('/index.htm', slash)) all.push(`${escaped.slice(0, slash + 1)}$`);
  return all.map((text) => ({ readings: [text], length: text.length }));
}

describe('an automaton and the naive matcher agree on random rules and paths', () => {
  it.each([
    ['rfc9309', 3, cases(600)],
    ['rfc9309', 60, cases(60)],
    ['google', 3, cases(300)],
    ['google', 60, cases(30)],
  ] as const)('profile %s, up to %i rules, %i times', (profile, most, rounds) => {
    const tally = { none: 0, allow: 0, deny: 0, wildcard: 0, twoForms: 0, splitByte: 0 };
    for (let seed = 1; seed <= rounds; seed++) {
      const random = new Random(seed);
      const rules: Rule[] = [];
      for (let line = 1; line <= random.between(1, most); line++) {
        rules.push({ allow: random.chance(0.4), pattern: bytes(randomPattern(random)), line });
      }
      const patterns = rules.map(({ pattern }) => String.fromCharCode(...pattern));
      const { automaton, firstLine } = compile(rules, profile);
      const texts = new Map(
        automaton.rules().map(({ rank, line, text }) => [`${rank} ${line}`, text]),
      );
      for (let round = 0; round < 20; round++) {
        const path = randomPath(random, patterns);
        const decided = automaton.match(textOf(path, profile), random.between(0, 255));
        const rank = decided?.rank ?? 0;
        const line = decided === undefined ? 0 : firstLine + decided.line;
        const found = rank === 0 ? 'none' : (rank & 1) === 1 ? 'allow' : 'deny';
        const { splitByte, ...expected } = naiveBest(rules, path, profile);
        const what = `seed ${seed}: ${JSON.stringify(path)} by ${JSON.stringify(patterns)}`;
        const bytesOfRule = rank >> 1;
        expect({ rank: found, line, bytes: bytesOfRule }, what).toEqual(expected);
        if (decided !== undefined) {
          const written = new TextDecoder().decode(bytes(patterns[line - 1] as string));
          expect(texts.get(`${rank} ${decided.line}`), what).toBe(written);
        }
        tally[expected.rank]++;
        if (splitByte) tally.splitByte++;
        const winner = patterns[expected.line - 1] ?? '';
        if (winner.includes('*')) tally.wildcard++;
        if (/\*.*%2F/i.test(winner)) tally.twoForms++;
      }
    }
    const asked = rounds * 20;
    expect(tally.none).toBeGreaterThan(asked / 100);
    expect(tally.allow).toBeGreaterThan(asked / 10);
    expect(tally.deny).toBeGreaterThan(asked / 10);
    expect(tally.wildcard).toBeGreaterThan(asked / 10);
    expect(tally.twoForms).toBeGreaterThan(asked / 500);
    expect(tally.splitByte).toBeGreaterThan(asked / 200);
  });
});
