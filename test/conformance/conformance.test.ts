import { describe, expect, it } from 'vitest';
import { decidingLine, readGroups } from '../../oracle/robots.js';
import { Robots, Table, TableBuilder } from '../../src/library/index.js';
import { parseAuthority } from '../../src/protocol/authority.js';
import type { Profile } from '../../src/protocol/verdict.js';
import {
  type Answer,
  type ConformanceCase,
  casesOf,
  disagreement,
  SUITES,
  titleOf,
} from './conformance-cases.js';

describe('Robots.verdict agrees with every conformance case', () => {
  it.each(SUITES.map((suite) => [titleOf(suite), suite] as const))('%s', (_title, suite) => {
    const cases = casesOf(suite).filter(({ scope }) => scope?.applies !== false);
    expect(cases).toHaveLength(suite.verdicts);
    const disagreements = cases.map((testCase) => {
      const robots = Robots.parse(testCase.robots, { profile: suite.profile });
      const { verdict, rule } = robots.verdict(testCase.url, testCase.agents);
      const line =
        testCase.line && decidingLine(readGroups(testCase.robots, suite.profile), testCase.line);
      return disagreement({ ...testCase, line }, { verdict, line: rule?.line ?? 0 });
    });
    expect(disagreements.filter((line) => line !== undefined)).toEqual([]);
  });
});

describe('Table.verdict agrees with every conformance case about scope (RFC 9309 section 2.3)', () => {
  const suites = SUITES.filter(({ scopes }) => scopes > 0);

  it.each(suites.map((suite) => [titleOf(suite), suite] as const))('%s', (_title, suite) => {
    const cases = casesOf(suite).filter(({ scope }) => scope !== undefined);
    expect(cases).toHaveLength(suite.scopes);
    const disagreements = cases.map((testCase) =>
      disagreement(testCase, scopeAnswer(testCase, suite.profile)),
    );
    expect(disagreements.filter((line) => line !== undefined)).toEqual([]);
    expect(cases.filter(({ scope }) => scope?.applies)).toHaveLength(19);
  });
});

/** Asks a table of this one robots.txt; a URL without an applicable robots.txt may be fetched. */
function scopeAnswer({ robots, agents, url, scope }: ConformanceCase, profile: Profile): Answer {
  const robotsUrl = scope?.robotsUrl ?? '';
  const builder = new TableBuilder({ profile });
  const authority = parseAuthority(robotsUrl);
  if (authority === undefined) throw new Error(`${robotsUrl} is not the URL of an authority`);
  // A file outside the top level is not a robots.txt (Google's document, "File location").
  if (new URL(robotsUrl).pathname === '/robots.txt') {
    builder.add(authority, robots, { source: robotsUrl });
  }
  const { verdict, rule } = Table.from(builder.build()).verdict(url, agents);
  return { verdict: verdict === 'unknown' ? 'allow' : verdict, line: rule?.line ?? 0 };
}
