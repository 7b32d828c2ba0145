import { expect, it } from 'vitest';
import { readUses, useOf } from '../../oracle/uses.js';
import { Robots } from '../../src/library/index.js';
import { chainOf } from '../../src/protocol/agent.js';
import { PROFILES } from '../../src/protocol/verdict.js';
import { cases } from '../random/cases.js';
import { Random } from '../random/random.js';
import { drawnFile, oracleUse, TARGETS } from './uses.js';

const AGENTS = ['bot', 'image:bot', 'nobody', '*', 'other:', 'image>other'];
/** What `preferences` says of a key, by the answer about it. */
const WORDS: Readonly<Record<string, readonly unknown[]>> = {
  granted: ['y', 'yes'],
  refused: ['n', 'no'],
  unstated: [undefined, 'maybe'],
};
const USES = ['train', 'search', 'input', 'own', 'train-ai'];
const POLICY_TOKENS = [undefined, undefined, 'NoTrain', 'bot'];
/** Questions about each file. */
const ASKED = 8;

it('the library answers as the slow model does, about drawn files', () => {
  const files = cases(800);
  const seen = new Map<string, number>();
  const count = (key: string): void => {
    seen.set(key, (seen.get(key) ?? 0) + 1);
  };
  for (let seed = 0; seed < files; seed++) {
    const random = new Random(seed);
    const text = drawnFile(random);
    const profile = PROFILES[seed % PROFILES.length] ?? 'rfc9309';
    const robots = Robots.parse(text, { profile });
    const slow = readUses(Buffer.from(text), profile);
    for (let asked = 0; asked < ASKED; asked++) {
      const agent = random.pick(AGENTS);
      const use = random.pick(USES);
      const policyToken = random.pick(POLICY_TOKENS);
      const url = `https://a.example${random.pick(TARGETS)}`;
      const { chain, disregardsAny = false } = chainOf(agent);
      const { answer: expected, line } = useOf(
        slow,
        { chain, disregardsAny },
        oracleUse(use, policyToken),
        url,
      );
      const { answer = '', reason, signal } = robots.use(url, agent, use, { policyToken });
      const found = { answer, line: signal?.line ?? 0 };
      if (found.answer !== expected || found.line !== line) {
        const question = JSON.stringify({ seed, profile, text, agent, use, policyToken, url });
        expect(found, question).toEqual({ answer: expected, line });
      }
      count(`${answer} ${reason}`);
      // The preferences of a file take longer than its answers.
      if (answer === '' || asked > 2) continue;
      // Each key stands in one kind of lines alone.
      const said = robots.preferences(agent, url);
      for (const [key, word] of [
        ['train-ai', said.contentUsage['train-ai']],
        ['ai-train', said.contentSignal['ai-train']],
      ] as const) {
        const ofKey = robots.use(url, agent, key);
        const answers = WORDS[ofKey.answer ?? ''];
        if (answers?.includes(word as never) !== true) {
          expect(answers, JSON.stringify({ key, seed, profile, text, agent, url })).toContain(word);
        }
        count(`${key} ${word}`);
      }
    }
  }
  for (const kind of [
    'granted content-usage',
    'granted content-signal',
    'granted policy-token',
    'refused content-usage',
    'refused content-signal',
    'refused policy-token',
    'unstated no-signal',
    ' not-allowed',
    ...['y', 'n', 'undefined'].map((word) => `train-ai ${word}`),
    ...['yes', 'no', 'maybe', 'undefined'].map((word) => `ai-train ${word}`),
  ]) {
    expect(seen.get(kind) ?? 0, kind).toBeGreaterThan((files * ASKED) / 500);
  }
});

it.each([
  ['/a*', '/*b', '/ab', { x: 'n', y: 'y', z: 'n' }],
  ['/%61', '/a', '/a', { x: 'n', y: 'y', z: 'n' }],
  ['/ab', '/a*', '/abc', { x: 'n', y: 'y', z: 'n' }],
  ['/a*', '/ab', '/abc', { x: 'n', y: 'y', z: 'n' }],
  ['/a$', '/*a', '/a', { x: 'n', y: 'y', z: 'n' }],
  ['/*.txt', '/robots', '/robots.txt', { x: 'n', z: 'n' }],
  ['/*.txts', '/robots', '/robots.txt', { x: 'n', z: 'n' }],
  ['/ab', '/a*', '/ac', { x: 'n', z: 'n' }],
] as const)(
  'of %s and %s, which are equally long or not, %s has both or one',
  (one, other, at, all) => {
    const lines = [`${one} x=y, y=y`, `${other} x=n, z=n`, '/ x=y, q=y', '/zz x=y'];
    const robots = Robots.parse(
      `User-agent: *\n${lines.map((line) => `Content-Usage: ${line}\n`).join('')}`,
    );
    const { contentUsage } = robots.preferences('bot', at);
    expect({ ...contentUsage }).toEqual(all);
    for (const key of 'xyzq') {
      const { answer = '' } = robots.use(at, 'bot', key);
      const word = (contentUsage as Record<string, string>)[key];
      expect(WORDS[answer], key).toContain(word);
    }
  },
);
