import { expect, it } from 'vitest';
import { REASON_BITS, REASON_MASK } from '../../src/kernel/layout.js';
import { REASONS, type Reason, VERDICTS, type Verdict } from '../../src/protocol/verdict.js';
import { cases } from '../random/cases.js';
import { Random } from '../random/random.js';
import { kernelOver } from './harness.js';

const NAMED = 'User-agent: one\nDisallow: /one\n';
const ANY = 'User-agent: *\nDisallow: /a\nAllow: /a/b\nDisallow: /*.gif$\n';
/** Rules that all search the long path, which spends the budget. */
const WINDOWS = Array.from({ length: 4000 }, (_, number) => `a${1000 + number}a`);
const COSTLY = `User-agent: *\n${WINDOWS.map((window) => `Disallow: /*${window}*Q\n`).join('')}`;
const LONG_PATH = `/${WINDOWS.join('')}${'b'.repeat(20_000)}`;

/** Hosts with everything that decides what is remembered: no group, one, several; access; ports. */
const FILES = {
  'named.example': NAMED,
  'any.example': ANY,
  'both.example': `${NAMED}\n${ANY}`,
  'twice.example': `${NAMED}\n${ANY}\nUser-agent: one\nDisallow: /two\n`,
  'empty.example': '',
  'ruleless.example': 'User-agent: one\n\nUser-agent: *\nDisallow: /\n',
  'costly.example': COSTLY,
  'https://ports.example': ANY,
  'http://ports.example': NAMED,
  'ports.example:8080': 'User-agent: *\nDisallow: /\n',
  'ftp://old.example': ANY,
};
const STATUSES = { 'gone.example': 404, 'broken.example': 503 };

const PATHS = ['', '/', '/a', '/a/b', '/a/../one', '/one', '/two', '/x.gif', '/%61', '/robots.txt'];

/** Each agent has memory of its own; later runs of a kernel use what earlier runs found. */
const AGENTS = ['one', 'other', '*'].map((name) => [{ name, chain: [name] }]);

function drawUrl(random: Random): string {
  const [name = ''] = random
    .pick(Object.keys({ ...FILES, ...STATUSES, 'no.example': '' }))
    .split(':8080');
  const host = name.replace(/^\w+:\/\//, '');
  const scheme = random.pick(['http', 'https', 'https', 'ftp']);
  const port = random.pick(['', '', '', ':80', ':443', ':8080']);
  return `${scheme}://${host}${port}${random.chance(0.02) ? LONG_PATH : random.pick(PATHS)}`;
}

it('outcomes are the same with and without what is remembered', () => {
  const random = new Random(20261127);
  const run = kernelOver(FILES, 'rfc9309', undefined, STATUSES);
  const seen = new Set<string>();
  for (let batch = 0; batch < cases(60); batch++) {
    const urls = Array.from({ length: random.between(1, 150) }, () => drawUrl(random));
    const lines = `${urls.join('\n')}\n`;
    const asked = { agents: random.pick(AGENTS), format: 'text' } as const;
    const { output, tally } = run(lines, asked);
    const plain = run(lines, { ...asked, remembered: 0 });
    expect(output).toBe(plain.output);
    expect(tally).toEqual(plain.tally);
    tally.forEach((count, outcome) => {
      if (count > 0)
        seen.add(`${VERDICTS[outcome >> REASON_BITS]} ${REASONS[outcome & REASON_MASK]}`);
    });
  }
  const expected: [Verdict, Reason][] = [
    ['allow', 'rule'],
    ['deny', 'rule'],
    ['allow', 'no-rule'],
    ['allow', 'no-group'],
    ['allow', 'robots-txt'],
    ['allow', 'unavailable'],
    ['deny', 'unreachable'],
    ['deny', 'over-budget'],
    ['unknown', 'unknown-host'],
  ];
  expect([...seen].sort()).toEqual(expected.map((pair) => pair.join(' ')).sort());
});
