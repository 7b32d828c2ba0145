import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import type { Profile } from '../../src/protocol/verdict.js';

/** A line of a file in fixtures/conformance; the README there explains the members. */
interface Line {
  readonly id: string;
  readonly source: string;
  readonly robots?: string;
  readonly robots_b64?: string;
  readonly agent: string;
  readonly agents?: readonly string[];
  readonly url?: string;
  readonly url_b64?: string;
  readonly expect: 'allow' | 'deny';
  readonly line?: number;
  readonly clause?: string;
  readonly section?: string;
  readonly google?: 'allow' | 'deny';
  readonly rfc9309?: 'allow' | 'deny';
  readonly kind?: 'verdict' | 'scope';
  readonly robots_url?: string;
  readonly applies?: boolean;
}

/** One robots.txt, one crawler, one URL, and the expected answer under one profile. */
export interface ConformanceCase {
  readonly id: string;
  /** Clause of the RFC, section of a document, or the suite of origin. */
  readonly heading: string;
  readonly robots: Uint8Array;
  /** The crawler's product tokens, in the order of its fallback. */
  readonly agents: readonly string[];
  readonly url: string | Uint8Array;
  readonly expect: 'allow' | 'deny';
  /**
   * Line number of the rule that decides, 0 for none; `undefined` if the file does not state the
   * line.
   */
  readonly line: number | undefined;
  /** If the case is about scope: the place of the robots.txt, and whether it applies to the URL. */
  readonly scope: { readonly robotsUrl: string; readonly applies: boolean } | undefined;
}

/** A file of cases under a profile. */
export interface Suite {
  readonly title: string;
  readonly file: string;
  readonly profile: Profile;
  /** Number of cases that ask for a verdict on a URL to which the robots.txt applies. */
  readonly verdicts: number;
  /** Number of cases about scope. */
  readonly scopes: number;
}

const RFC = { title: 'RFC 9309, clause by clause', file: 'rfc9309.ndjson' };
const RFC_RANDOM = { title: 'RFC 9309, random', file: 'rfc9309-differential.ndjson.gz' };
const GOOGLE = { title: 'google/robotstxt, its tests and probes of it', file: 'google.ndjson' };
const GOOGLE_RANDOM = { title: 'google/robotstxt, random', file: 'google-differential.ndjson.gz' };
const DOCUMENT = { title: "Google's document of 2020", file: 'google-spec.ndjson' };
const PEERS = { title: 'cases on which six other implementations agree', file: 'peers.ndjson' };
const CONFLICTS = { title: 'cases that contradict a profile', file: 'conflicts.ndjson' };

/** All cases except those of access results. */
export const SUITES: readonly Suite[] = [
  { ...RFC, profile: 'rfc9309', verdicts: 301, scopes: 0 },
  { ...RFC, profile: 'google', verdicts: 301, scopes: 0 },
  { ...RFC_RANDOM, profile: 'rfc9309', verdicts: 10_000, scopes: 0 },
  { ...GOOGLE, profile: 'google', verdicts: 1_079, scopes: 0 },
  { ...GOOGLE_RANDOM, profile: 'google', verdicts: 9_997, scopes: 0 },
  { ...DOCUMENT, profile: 'rfc9309', verdicts: 191, scopes: 39 },
  { ...DOCUMENT, profile: 'google', verdicts: 191, scopes: 39 },
  { ...PEERS, profile: 'rfc9309', verdicts: 1_220, scopes: 0 },
  { ...PEERS, profile: 'google', verdicts: 1_220, scopes: 0 },
  { ...CONFLICTS, profile: 'rfc9309', verdicts: 122, scopes: 0 },
  { ...CONFLICTS, profile: 'google', verdicts: 122, scopes: 0 },
];

export function titleOf({ title, file, profile }: Suite): string {
  return `${title}: ${file}, profile ${profile}`;
}

/** The cases of a suite, in the order of the file. */
export function casesOf({ file, profile }: Suite): ConformanceCase[] {
  const bytes = readFileSync(new URL(`../../fixtures/conformance/${file}`, import.meta.url));
  const text = (file.endsWith('.gz') ? gunzipSync(bytes) : bytes).toString();
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => caseOf(JSON.parse(line) as Line, file, profile));
}

function caseOf(line: Line, file: string, profile: Profile): ConformanceCase {
  const expect = (profile === 'google' ? line.google : line.rfc9309) ?? line.expect;
  return {
    id: line.id,
    heading: line.clause ?? line.section ?? line.source,
    robots:
      line.robots_b64 === undefined
        ? new TextEncoder().encode(line.robots)
        : Uint8Array.from(Buffer.from(line.robots_b64, 'base64')),
    agents: line.agents ?? [line.agent],
    url:
      line.url_b64 === undefined
        ? (line.url ?? '')
        : Uint8Array.from(Buffer.from(line.url_b64, 'base64')),
    expect,
    line: file.startsWith('google') && profile === 'google' ? line.line : undefined,
    scope:
      line.kind === 'scope' && line.robots_url !== undefined && line.applies !== undefined
        ? { robotsUrl: line.robots_url, applies: line.applies }
        : undefined,
  };
}

/** The fields by which verdicts are compared. */
export interface Answer {
  readonly verdict: string;
  readonly line: number;
}

/**
 * The disagreement of a case with an answer, in one line headed by its clause; `undefined` if there
 * is none.
 */
export function disagreement(testCase: ConformanceCase, answer: Answer): string | undefined {
  const { id, heading, agents, url, expect, line } = testCase;
  if (answer.verdict === expect && (line === undefined || answer.line === line)) return undefined;
  const wanted = line === undefined ? expect : `${expect} by line ${line}`;
  const shownUrl = typeof url === 'string' ? url : Buffer.from(url).toString('latin1');
  return `${heading}: ${id}: ${wanted} expected, ${answer.verdict} by line ${answer.line} came (${agents.join('>')} at ${JSON.stringify(shownUrl.slice(0, 200))})`;
}
