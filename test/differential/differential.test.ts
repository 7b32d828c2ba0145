import { describe, expect, it } from 'vitest';
import { decidingLine, readGroups } from '../../oracle/robots.js';
import { matchesWhole, verdictOf } from '../../oracle/verdict.js';
import type { Profile } from '../../src/protocol/verdict.js';
import { scalesFiles, spellingFiles } from '../hostile/spellings.js';
import { cases } from '../random/cases.js';
import { ask, CASES_OF_SEED, hostileQuestions, type Judge, plainQuestions } from './questions.js';
import { leastOf, NOTHING, Tally } from './tally.js';

/** `npm run differential` asks more. */
const SEEDS = cases(150);

describe('the library and the naive matcher agree', () => {
  it.each(['rfc9309', 'google', 'draft-koster-rep-00'] as const)(
    'on hostile files and URLs, profile %s',
    (profile) => {
      const tally = new Tally();
      for (let seed = 1; seed <= SEEDS; seed++) ask(hostileQuestions(seed, profile), tally);
      expect(tally.cases).toBe(SEEDS * CASES_OF_SEED);
      expect(tally.shortfalls(leastOf(profile, tally.cases))).toEqual([]);
    },
    120_000,
  );

  it.each(['rfc9309', 'google'] as const)(
    'on every byte in every spelling, profile %s',
    (profile) => {
      const tally = new Tally();
      for (const file of spellingFiles()) ask(plainQuestions(file, profile, 'spellings'), tally);
      expect(tally.cases).toBeGreaterThan(40_000);
      expect(tally.shortfalls({ ...NOTHING, allow: 10_000, deny: 2_500 })).toEqual([]);
    },
    120_000,
  );

  it.each(['rfc9309', 'google'] as const)('on the weight of patterns, profile %s', (profile) => {
    const tally = new Tally();
    for (const file of scalesFiles()) ask(plainQuestions(file, profile, 'scales'), tally);
    expect(tally.cases).toBe(800);
    expect(tally.shortfalls({ ...NOTHING, allow: 200, deny: 200, tie: 10 })).toEqual([]);
  });
});

/** Takes an encoded byte for one indivisible character, as the program once did. */
const wholeJudge: Judge = (robots, profile: Profile) => {
  const groups = readGroups(robots, profile);
  return (url, chain) => {
    const agents = typeof chain === 'string' ? chain.split('>') : chain;
    const { verdict, line } = verdictOf(groups, profile, agents, url, matchesWhole);
    return { verdict, line: decidingLine(groups, line) };
  };
};

describe('the questions detect a matcher', () => {
  it.each(['rfc9309', 'google', 'draft-koster-rep-00'] as const)(
    'that never splits an encoded byte, within 20 files, profile %s',
    (profile) => {
      const all = (): void => {
        for (let seed = 1; seed <= 20; seed++) {
          ask(hostileQuestions(seed, profile), new Tally(), wholeJudge);
        }
      };
      expect(all).toThrow(/^seed .*, profile .*: the naive matcher says .*%/s);
    },
  );
});
