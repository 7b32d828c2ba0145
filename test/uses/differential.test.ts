import { expect, it } from 'vitest';
import { readUses, useOf } from '../../oracle/uses.js';
import { Robots } from '../../src/library/index.js';
import { chainOf } from '../../src/protocol/agent.js';
import { PROFILES } from '../../src/protocol/verdict.js';
import { cases } from '../random/cases.js';
import { Random } from '../random/random.js';
import { drawnFile, oracleUse, TARGETS } from './uses.js';

const AGENTS = ['bot', 'image:bot', 'nobody', '*', 'other:', 'image>other'];
const USES = ['train', 'search', 'input', 'own', 'train-ai'];
const POLICY_TOKENS = [undefined, undefined, 'NoTrain', 'bot'];
/** Questions about each file. */
const ASKED = 24;

it('the library answers as the slow model does, about drawn files', () => {
  const files = cases(1_200);
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
      const question = JSON.stringify({ seed, profile, text, agent, use, policyToken, url });
      expect(found, question).toEqual({ answer: expected, line });
      count(`${answer} ${reason}`);
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
  ]) {
    expect(seen.get(kind) ?? 0, kind).toBeGreaterThan((files * ASKED) / 500);
  }
});
