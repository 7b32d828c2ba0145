import { describe, expect, it } from 'vitest';
import { matches } from '../../oracle/verdict.js';
import { Robots } from '../../src/judge/robots.js';
import { findNeverDeciding } from '../../src/patterns/never-deciding.js';
import { rankedRules } from '../../src/patterns/rules.js';
import { cases } from '../random/cases.js';
import { Random } from '../random/random.js';

interface DrawnRule {
  readonly allow: boolean;
  readonly text: string;
  readonly pattern: Uint8Array;
}

/** As findNeverDeciding, with the rules as they were drawn. */
function neverDeciding<Rule extends Pick<DrawnRule, 'allow' | 'pattern'>>(
  rules: readonly Rule[],
  most: number,
): { found: { rule: Rule; deciding: Rule[]; same: boolean }[]; leftOut: Rule | undefined } {
  const at = ({ line }: { readonly line: number }): Rule => rules[line] as Rule;
  const { found, leftOut } = findNeverDeciding(rankedRules(rules), { left: most });
  return {
    found: found.map(({ rule, deciding, same }) => ({
      rule: at(rule),
      deciding: deciding.map(at),
      same,
    })),
    leftOut: leftOut && at(leftOut),
  };
}

/** All paths over an alphabet up to a length. */
function pathsOver(alphabet: string, length: number): string[] {
  const paths = ['/'];
  for (let at = 0; at < paths.length; at++) {
    const path = paths[at] as string;
    if (path.length === length) break;
    for (const character of alphabet) paths.push(path + character);
  }
  return paths;
}

/** A pattern without `*`s that only repeat one another is as long in its canonical form. */
function drawPattern(random: Random): string {
  const begin = random.pick(['/', '/', '/', '*', '*/', '/*', '/a']);
  const end = random.pick(['', '', '', '$', '*', '*$']);
  return begin + random.run(['a', 'b', '/', '*', 'a', '*'], 0, 5) + end;
}

function drawRules(random: Random): DrawnRule[] {
  return Array.from({ length: random.between(2, 6) }, () => {
    const text = drawPattern(random);
    return { allow: random.chance(0.5), text, pattern: Buffer.from(text) };
  });
}

/** The rule that decides on a path: the longest one, then allow, then the first. */
function decidingOn(path: string, rules: readonly DrawnRule[]): DrawnRule | undefined {
  let best: DrawnRule | undefined;
  for (const rule of rules) {
    if (!matches(rule.text, path)) continue;
    const longer = rule.text.length - (best?.text.length ?? -1);
    if (longer > 0 || (longer === 0 && rule.allow && best?.allow === false)) best = rule;
  }
  return best;
}

describe('rules that never decide', () => {
  const paths = pathsOver('ab/', 6);
  // A path may need a byte that no pattern has.
  const further = [...paths, ...pathsOver('ab/x', 6)];

  it('decide on no path of up to six characters', () => {
    const random = new Random(2);
    const counts = { rules: 0, same: 0, one: 0, several: 0, overruled: 0, deciding: 0, missed: 0 };
    for (let round = 0; round < cases(350); round++) {
      const rules = drawRules(random);
      const { found, leftOut } = neverDeciding(rules, 1_000_000);
      expect(leftOut).toBeUndefined();
      const never = new Set(found.map(({ rule }) => rule));
      counts.rules += rules.length;
      for (const { rule, deciding, same } of found) {
        if (same) counts.same++;
        else if (deciding.length === 1) counts.one++;
        else counts.several++;
        if (deciding.some(({ allow }) => allow !== rule.allow)) counts.overruled++;
        // Each path has one of the deciding rules, as the message says.
        for (const path of paths) {
          if (!matches(rule.text, path)) continue;
          if (!deciding.some(({ text }) => matches(text, path))) {
            throw new Error(`${rule.text} is not covered on ${path}: ${round}`);
          }
        }
      }
      const decides = new Set<DrawnRule>();
      for (const path of paths) {
        const rule = decidingOn(path, rules);
        if (rule === undefined) continue;
        decides.add(rule);
        if (never.has(rule)) throw new Error(`${rule.text} decides on ${path}: round ${round}`);
      }
      counts.deciding += decides.size;
      for (const rule of rules) {
        if (never.has(rule) || decides.has(rule)) continue;
        if (!further.some((path) => decidingOn(path, rules) === rule)) counts.missed++;
      }
    }
    expect(counts.same).toBeGreaterThan(40);
    expect(counts.one).toBeGreaterThan(40);
    expect(counts.several).toBeGreaterThan(0);
    expect(counts.overruled).toBeGreaterThan(40);
    expect(counts.deciding).toBeGreaterThan(800);
    // Rules that decide only on longer paths are not missed, but are counted here.
    expect(counts.missed).toBeLessThan(counts.rules / 50);
  });

  it('decide on no URL, whatever bytes and escapes the patterns hold', () => {
    const random = new Random(3);
    const pieces = '* * / % 2 1 a ? . $ ~ é %2 %61 %41 %2a %2F %7E %c3%A9'.split(' ');
    let found = 0;
    let decided = 0;
    for (let round = 0; round < cases(300); round++) {
      const rules = Array.from({ length: random.between(2, 5) }, (_, index) => {
        const text = random.pick(['/', '/', '*']) + random.run(pieces, 0, 3);
        return { allow: random.chance(0.5), text, pattern: Buffer.from(text), line: index + 2 };
      });
      const lines = rules.map(({ allow, text }) => `${allow ? 'Allow' : 'Disallow'}: ${text}\n`);
      const robots = Robots.parse(`User-agent: *\n${lines.join('')}`);
      const never = neverDeciding(rules, 1_000_000).found;
      found += never.length;
      const own = rules.flatMap(({ text }) => Array<string>(8).fill(text));
      for (const text of [...own, ...Array<string>(40).fill('/**')]) {
        const filled = text.replaceAll('*', () => random.run(pieces, 0, 2));
        const path = filled.startsWith('/') ? filled : `/${filled}`;
        const { line } = robots.verdict(`https://a.example${path}`, 'bot').rule ?? {};
        if (line !== undefined) decided++;
        const wrong = never.find(({ rule }) => rule.line === line);
        expect(wrong && `${lines.join('')}${wrong.rule.text} on ${path}`).toBeUndefined();
      }
    }
    expect(found).toBeGreaterThan(cases(30));
    expect(decided).toBeGreaterThan(cases(3000));
  });

  it.each([
    [['Disallow: /a', 'Disallow: /a*'], ['/a']],
    [['Disallow: /a', 'Allow: /a'], ['/a']],
    [['Allow: /', 'Disallow: /*'], ['/']],
    [['Disallow: /%61', 'Disallow: /a'], ['/a']],
    [['Disallow: /a$', 'Allow: /*a'], ['/a$']],
    [
      ['Disallow: /*b', 'Disallow: *b', 'Disallow: /ab'],
      ['*b', '/ab'],
    ],
    [['Disallow: /x*.pdf$', 'Allow: /*.pdf', 'Disallow: /*.p'], []],
    // Where the literal stands at the start, another rule decides than elsewhere.
    [['Disallow: */a', 'Allow: /*/a', 'Allow: /a***'], ['*/a']],
    [['Disallow: */a', 'Allow: /*/a'], []],
    // One literal anywhere, with and without the first slash of the path.
    [['Disallow: /', 'Disallow: *'], ['*']],
    [['Disallow: *', 'Allow: /'], ['*']],
    [
      ['Disallow: */', 'Disallow: *$', 'Disallow: /**'],
      ['*/', '*$'],
    ],
    [['Disallow: *b', 'Allow: /*b'], ['*b']],
    [['Disallow: *%3Aa', 'Disallow: /*%3Aa'], ['*%3Aa']],
    [['Disallow: */$', 'Disallow: /'], []],
    [['Disallow: */*a', 'Disallow: /*a'], ['/*a']],
    [['Disallow: /a', 'Disallow: /b'], []],
    [['Disallow: /*%3Aa', 'Disallow: /:a'], []],
  ])('%j', (lines, never) => {
    const rules = lines.map((line) => {
      const [key, text = ''] = line.split(': ');
      return { allow: key === 'Allow', text, pattern: Buffer.from(text) };
    });
    const { found } = neverDeciding(rules, 100_000);
    expect(found.map(({ rule }) => rule.text).sort()).toEqual([...never].sort());
  });

  it('are not sought when the budget is used up', () => {
    const rules = Array.from({ length: 100 }, (_, index) => ({
      allow: true,
      pattern: Buffer.from(`/*aaaa${index}`),
    }));
    expect(neverDeciding(rules, 1000).leftOut).toBeDefined();
    expect(neverDeciding(rules, 1_000_000).leftOut).toBeUndefined();
  });
});
