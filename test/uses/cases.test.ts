import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readUses, useOf } from '../../oracle/uses.js';
import { Robots, Table, TableBuilder } from '../../src/library/index.js';
import { chainOf } from '../../src/protocol/agent.js';
import type { Profile } from '../../src/protocol/verdict.js';
import { oracleUse } from './uses.js';

interface UseCase {
  readonly id: string;
  readonly clause: string;
  readonly robots: string;
  readonly agent: string;
  readonly use: string;
  readonly url: string;
  readonly answer: 'granted' | 'refused' | 'unstated' | '';
  readonly line: number;
  readonly profile?: Profile;
  readonly policyToken?: string;
}

const CASES = readFileSync('fixtures/uses/cases.ndjson', 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line) as UseCase);

describe('hand-made cases of uses', () => {
  it('are many, and have every answer', () => {
    expect(CASES.length).toBeGreaterThan(150);
    const answers = new Set(CASES.map(({ answer }) => answer));
    expect(answers).toEqual(new Set(['granted', 'refused', 'unstated', '']));
    expect(new Set(CASES.map(({ id }) => id)).size).toBe(CASES.length);
  });

  it.each(CASES)('$id $clause: $agent, $use, $url', (asked) => {
    const { robots, agent, use, url, answer, line, profile = 'rfc9309', policyToken } = asked;
    const expected = { answer: answer === '' ? undefined : answer, line };
    const single = Robots.parse(robots, { profile }).use(url, agent, use, { policyToken });
    expect({ answer: single.answer, line: single.signal?.line ?? 0 }).toEqual(expected);

    const builder = new TableBuilder({ profile, signals: true });
    const host = { scheme: 'https', host: 'example.com', port: undefined } as const;
    builder.add(host, Buffer.from(robots), { source: 'a' });
    const judged = Table.from(builder.build()).use(url, agent, use, { policyToken });
    expect({ answer: judged.answer, line: judged.signal?.line ?? 0 }).toEqual(expected);

    const { chain, disregardsAny = false } = chainOf(agent);
    const oracle = readUses(Buffer.from(robots), profile);
    const slow = useOf(oracle, { chain, disregardsAny }, oracleUse(use, policyToken), url);
    expect({ answer: slow.answer, line: slow.line }).toEqual({ answer, line });
  });
});
