import { describe, expect, it } from 'vitest';
import { TableBuilder } from '../../src/compile/table-builder.js';
import { type AgentSummary, TableAudit } from '../../src/inspect/table-audit.js';
import { Robots } from '../../src/judge/robots.js';
import type { Reach } from '../../src/patterns/reach.js';
import { parseAgent } from '../../src/protocol/agent.js';
import type { Profile } from '../../src/protocol/verdict.js';
import { ShardView } from '../../src/view/shard-view.js';
import { TableView } from '../../src/view/table-view.js';
import { cases } from '../random/cases.js';
import { Random } from '../random/random.js';

const HOST = { scheme: undefined, host: 'a.example', port: undefined };

function summaryOf(robots: string, agent = 'bot', profile: Profile = 'rfc9309'): AgentSummary {
  const builder = new TableBuilder({ profile });
  builder.add(HOST, new TextEncoder().encode(robots), { source: '' });
  const view = new TableView([new ShardView(builder.build())]);
  const authority = view.find(HOST.host)?.authorities[0];
  const audit = new TableAudit(view, [parseAgent(agent, profile)], profile === 'google');
  const [summary] = audit.summaries(
    authority?.robots ?? 0,
    authority?.accessResult ?? 'successful',
  );
  if (summary === undefined) throw new Error('no summary');
  return summary;
}

function reachOf(rules: readonly string[], profile?: Profile): Reach {
  return summaryOf(`user-agent: *\n${rules.join('\n')}\n`, 'bot', profile).reach;
}

describe('how much some rules allow', () => {
  it.each([
    [[], 'all'],
    [['disallow:'], 'all'],
    [['allow: /'], 'all'],
    [['disallow: /'], 'none'],
    [['disallow: *'], 'none'],
    [['disallow: /*'], 'none'],
    [['disallow: /**'], 'none'],
    [['disallow: /', 'allow: /'], 'all'],
    [['disallow: /*', 'allow: /'], 'none'],
    [['disallow: /', 'allow: /*'], 'all'],
    [['disallow: /a', 'allow: /a'], 'all'],
    [['disallow: /a', 'allow: /a*'], 'all'],
    [['disallow: /a', 'allow: /*a'], 'all'],
    [['disallow: /a', 'allow: /*b'], 'part'],
    [['disallow: /a$', 'allow: /a'], 'part'],
    [['disallow: /a$', 'allow: /*a$'], 'all'],
    [['disallow: /', 'allow: /a'], 'part'],
    [['disallow: /', 'allow: /$'], 'part'],
    [['disallow: /', 'disallow: /abc', 'allow: /ab'], 'part'],
    [['disallow: /', 'disallow: /*b', 'allow: /b'], 'none'],
    [['disallow: /', 'disallow: /a*', 'allow: /a$'], 'part'],
    [['disallow: /robots.txt$'], 'all'],
    [['disallow: /robots.txt'], 'part'],
    [['disallow: /', 'allow: /robots.txt$'], 'none'],
    [['disallow: /', 'allow: /robots.txt'], 'part'],
    [['disallow: /*/x', 'allow: */x*'], 'all'],
    [['disallow: */x', 'allow: /*/x'], 'part'],
    [['disallow: /*%2Fx', 'allow: /*%2Fx'], 'all'],
    [['disallow: /*%2Fx', 'allow: /*%2F*'], 'all'],
    [['disallow: /*%2Fx', 'allow: /aaaaaaaaaaaaaa'], 'part'],
  ] as const)('%j: %s', (rules, reach) => {
    expect(reachOf(rules)).toBe(reach);
  });

  it('in the google profile, /robots.txt is a path like others', () => {
    expect(reachOf(['disallow: /robots.txt$'], 'google')).toBe('part');
    expect(reachOf(['disallow: /', 'allow: /robots.txt$'], 'google')).toBe('none');
  });

  it('names the group, the number of rules and the line that decides /', () => {
    const robots =
      'user-agent: *\ndisallow: /a\n\nuser-agent: bot\nuser-agent: other\ndisallow: /b\ndisallow: /\n\nuser-agent: silent\n';
    const { tokens, rules, rootAllowed, rootLine } = summaryOf(robots);
    expect({ tokens, rules, rootAllowed, rootLine }).toEqual({
      tokens: ['bot'],
      rules: 2,
      rootAllowed: false,
      rootLine: 7,
    });
    expect(summaryOf(robots, 'none>Other')).toMatchObject({ tokens: ['other'], reach: 'none' });
    expect(summaryOf(robots, 'silent')).toMatchObject({ tokens: ['silent'], reach: 'all' });
    expect(summaryOf(robots, 'x')).toMatchObject({ tokens: ['*'], reach: 'part', rules: 1 });
    expect(summaryOf('user-agent: y\ndisallow: /', 'x')).toMatchObject({
      tokens: [],
      reach: 'all',
    });
    expect(summaryOf(robots, 'silent>bot', 'google')).toMatchObject({ tokens: ['silent', 'bot'] });
  });

  it.each([
    [['disallow: /**', 'allow: /x'], 1],
    [['disallow: /x', 'allow: /**'], 1],
    [['disallow: *', 'disallow: /'], 1],
    [['disallow: /', 'allow: *'], 1],
    [['allow: /', 'disallow: /x'], 2],
    [['disallow: /*b', 'disallow: /ab', 'disallow: /abc'], 2],
    [['disallow: */a', 'allow: /*/a', 'allow: /a***'], 2],
    [['disallow: /*a', 'disallow: /a$'], 1],
    [['disallow: /robots.txt$', 'disallow: /a'], 1],
    [['disallow: /*%2Fx', 'allow: /**', 'allow: /a'], 2],
  ] as const)('of %j, %i can decide', (rules, count) => {
    expect(summaryOf(`user-agent: *\n${rules.join('\n')}\n`).rules).toBe(count);
  });

  it('a rule that two groups of an agent have counts once', () => {
    const twice = 'user-agent: *\ndisallow: /a\n\nuser-agent: *\ndisallow: /a\nallow: /b\n';
    expect(summaryOf(twice).rules).toBe(2);
  });

  it('in the google profile, a rule for /robots.txt can decide', () => {
    expect(summaryOf('user-agent: *\ndisallow: /robots.txt$', 'bot', 'google').rules).toBe(1);
  });

  it('reads literals of any length, and any number of them', () => {
    const long = 'a'.repeat(200_000);
    const stars = '*b'.repeat(100_000);
    expect(reachOf([`disallow: /*${long}`])).toBe('part');
    expect(reachOf([`disallow: /*${long}`, `allow: /*${long}`])).toBe('all');
    expect(reachOf([`disallow: /${stars}`, `allow: /${stars}`])).toBe('all');
  });

  it('takes little time, whatever the rules are', () => {
    const rules = Array.from({ length: 1500 }, (_, n) => `disallow: /a${n}*\nallow: /a*${n}*b`);
    expect(reachOf(rules)).toBe('part');
    // With "$", each allow rule is compared with all longer rules before the one that overrides it.
    const rulesOf = (count: number, end: string): string[] => [
      ...Array.from(
        { length: count },
        (_, n) => `allow: /a${n}\ndisallow: /${'z'.repeat(20)}${n}${end}`,
      ),
      'disallow: /***********',
    ];
    expect(reachOf(rulesOf(900, '$'))).toBe('none');
    expect(reachOf(rulesOf(2500, ''))).toBe('none');
    // Too many pairs to prove it.
    expect(reachOf(rulesOf(2500, '$'))).toBe('part');
  });
});

const PIECES = ['/', 'a', 'b', 'a', 'b', '*', '*', '?', '%2F', '%2', '%61'];
const SHORT = shortPaths(['a', 'b', '/', 'q', '?'], 4);

function shortPaths(alphabet: readonly string[], most: number): string[] {
  const all = ['/'];
  let last = ['/'];
  for (let length = 1; length <= most; length++) {
    last = last.flatMap((path) => alphabet.map((character) => path + character));
    all.push(...last);
  }
  return all;
}

/** Paths that a pattern matches: each star is nothing, a letter, or the beginning of a query. */
function pathsOf(pattern: string): string[] {
  const body = pattern.endsWith('$') ? pattern.slice(0, -1) : pattern;
  let paths = [''];
  for (const part of body.split('*').map((text, index) => (index === 0 ? text : `*${text}`))) {
    const stars = part.startsWith('*') ? ['', 'q', 'q?q', '/q'] : [''];
    const text = part.replace('*', '');
    paths = paths.flatMap((path) =>
      stars.flatMap((star) => [path + star + text, path + star + text.replaceAll('%2F', '/')]),
    );
  }
  return paths.flatMap((path) => {
    const rooted = path.startsWith('/') ? path : `/${path}`;
    return pattern.endsWith('$') ? [rooted, `/${path}`] : [rooted, `${rooted}q`, `/q${path}q`];
  });
}

describe('against all short paths', () => {
  it('"all" and "none" are true, "part" has a path of each kind, and rules that decide are counted', () => {
    const random = new Random(7);
    const seen = { all: 0, part: 0, none: 0, cancelled: 0 };
    const counts = { rules: 0, lines: 0, unseen: 0 };
    for (let round = 0; round < cases(150); round++) {
      const patterns = Array.from({ length: random.between(1, 4) }, () => {
        if (random.chance(0.08)) return random.pick(['/robots.txt$', '/robots.txt', '/', '/*']);
        const start = random.chance(0.8) ? '/' : '*';
        return start + random.run(PIECES, 0, 3) + (random.chance(0.25) ? '$' : '');
      });
      const lines = patterns.map(
        (pattern) => `${random.chance(0.5) ? 'allow' : 'disallow'}: ${pattern}`,
      );
      if (random.chance(0.4)) lines.push(`disallow: ${random.pick(['/', '*', '/*'])}`);
      if (random.chance(0.2)) lines.splice(1, 0, 'user-agent: *');
      const robots = `user-agent: *\n${lines.join('\n')}\n`;
      const { reach, rootAllowed, rules } = summaryOf(robots);
      const judge = Robots.parse(new TextEncoder().encode(robots));
      const isAllowed = (path: string): boolean =>
        judge.verdict(`https://a.example${path}`, 'bot').verdict === 'allow';
      const paths = [
        ...(round % 5 === 0 ? SHORT : SHORT.slice(0, 156)),
        ...patterns.flatMap(pathsOf),
      ];
      const allowed = paths.filter((path) => path !== '/robots.txt' && isAllowed(path)).length;
      const denied = paths.filter((path) => path !== '/robots.txt' && !isAllowed(path)).length;
      const truth = denied === 0 ? 'all' : allowed === 0 ? 'none' : 'part';
      expect({ robots, reach }).toEqual({ robots, reach: truth });
      expect({ robots, rootAllowed }).toEqual({ robots, rootAllowed: isAllowed('/') });
      const deciding = new Set(
        paths.map((path) => judge.verdict(`https://a.example${path}`, 'bot').rule?.line),
      );
      deciding.delete(undefined);
      expect(rules).toBeGreaterThanOrEqual(deciding.size);
      counts.rules += rules;
      counts.lines += lines.length;
      counts.unseen += rules - deciding.size;
      seen[reach]++;
      if (reach === 'all' && lines.some((line) => line.startsWith('dis'))) seen.cancelled++;
    }
    for (const count of Object.values(seen)) expect(count).toBeGreaterThan(12);
    expect(counts.rules).toBeLessThan(0.9 * counts.lines);
    // Some rules decide on other paths alone.
    expect(counts.unseen).toBeLessThan(counts.rules / 20);
  });
});
