/**
 * What captures say of a robots.txt at a time, found by looking at all of them for each question;
 * src/warc does without.
 */

import { bytesOf } from './bytes.js';
import { type OracleGroup, readGroups } from './robots.js';

/** A capture, as fixtures/warc/captures.ndjson has it. One of the later members says what it is. */
export interface OracleCapture {
  readonly file: string;
  readonly offset: number;
  readonly url: string;
  readonly date: string;
  /** A body, with the digest of its payload, and the bytes of a comment at its end. */
  readonly robots?: string;
  readonly digest?: string;
  readonly pad?: number;
  readonly access?: 'unavailable' | 'unreachable';
  readonly redirect?: string;
  /** A revisit: the digest of its payload. */
  readonly revisit?: string;
  readonly refersTo?: string;
  readonly refersToDate?: string;
  /** Whether the server said that nothing has changed. */
  readonly unmodified?: boolean;
}

/** The state of a robots.txt: its groups, an access result, or nothing that is known. */
export type OracleState = readonly OracleGroup[] | 'unavailable' | 'unreachable' | 'unknown';

/** A time from which a state counts. */
export interface OracleVersion {
  /** In seconds since 1970. */
  readonly since: number;
  readonly state: OracleState;
  /** When the robots.txt itself was captured for the last time in this state; or `since`. */
  readonly confirmed: number;
}

/** Redirects that are followed (RFC 9309 section 2.3.1.2). */
const MOST_REDIRECTS = 5;

/** Captures of one moment by falling preference. */
const KINDS = ['rules', 'failure', 'not captured', 'loop'] as const;

/** Where a capture leads. */
interface Reached {
  readonly kind: (typeof KINDS)[number];
  readonly state: OracleState;
}

/**
 * The versions of a robots.txt, ascending: neighbours with equal states are one. While nothing has
 * been known yet, there is none.
 *
 * @param captures in the order of the archive
 */
export function versionsOf(captures: readonly OracleCapture[], url: string): OracleVersion[] {
  const moments = [...new Set(captures.map(({ date }) => momentOf(date)))].sort((a, b) => a - b);
  const versions: (OracleVersion & { confirmed: number })[] = [];
  for (const moment of moments) {
    const until = captures.filter(({ date }) => momentOf(date) <= moment);
    const reached = reach(until, url, [url]);
    if (reached === undefined) continue;
    const { state } = reached;
    const since = Math.floor(moment / 1000);
    // Of several states in one second the last one counts.
    while (versions.at(-1)?.since === since && !isSame(versions.at(-1)?.state, state)) {
      versions.pop();
    }
    let version = versions.at(-1);
    if (version === undefined || !isSame(version.state, state)) {
      if (versions.length === 0 && state === 'unknown') continue;
      version = { since, state, confirmed: since };
      versions.push(version);
    }
    const now = captures.filter((each) => each.url === url && momentOf(each.date) === moment);
    if (now.some((each) => isFinding(until, each))) version.confirmed = since;
  }
  return versions;
}

/** The version that is in force at a time in seconds since 1970. */
export function versionAt(
  versions: readonly OracleVersion[],
  time: number,
): OracleVersion | undefined {
  return versions.findLast(({ since }) => since <= time);
}

/** Whether a capture tells what was there; a revisit of a payload that is missing does not. */
function isFinding(captures: readonly OracleCapture[], capture: OracleCapture): boolean {
  const { revisit, unmodified } = capture;
  return revisit === undefined || unmodified === true || referred(captures, capture) !== undefined;
}

/** Where the captures of a URL lead of the latest moment of which any tells something. */
function reach(
  captures: readonly OracleCapture[],
  url: string,
  chain: readonly string[],
): Reached | undefined {
  const own = captures.filter((each) => each.url === url);
  const moments = [...new Set(own.map(({ date }) => momentOf(date)))].sort((a, b) => b - a);
  for (const moment of moments) {
    const found = own
      .filter(({ date }) => momentOf(date) === moment)
      .map((each) => follow(captures, each, chain))
      .filter((each) => each !== undefined);
    for (const kind of KINDS) {
      const best = found.findLast((each) => each.kind === kind);
      if (best !== undefined) return best;
    }
  }
  return undefined;
}

function follow(
  captures: readonly OracleCapture[],
  capture: OracleCapture,
  chain: readonly string[],
): Reached | undefined {
  const meant = capture.revisit === undefined ? capture : referred(captures, capture);
  if (meant === undefined) return undefined;
  if (meant.robots !== undefined) return { kind: 'rules', state: groupsOf(meant) };
  if (meant.access !== undefined) return { kind: 'failure', state: meant.access };
  const target = meant.redirect ?? '';
  if (chain.includes(target)) return { kind: 'loop', state: 'unavailable' };
  if (chain.length > MOST_REDIRECTS) return { kind: 'failure', state: 'unavailable' };
  return reach(captures, target, [...chain, target]) ?? { kind: 'not captured', state: 'unknown' };
}

/** The capture whose payload a revisit has: by digest, or by URL and date. */
function referred(
  captures: readonly OracleCapture[],
  { revisit, refersTo, refersToDate }: OracleCapture,
): OracleCapture | undefined {
  return (
    captures.find(({ digest }) => digest === revisit) ??
    captures.findLast(
      ({ url, date, revisit: again }) =>
        again === undefined && url === refersTo && momentOf(date) === momentOf(refersToDate ?? ''),
    )
  );
}

/** The groups of the body of a capture, or of what a revisit refers to. */
export function bodyOf(
  captures: readonly OracleCapture[],
  capture: OracleCapture,
): OracleState | undefined {
  const meant = capture.revisit === undefined ? capture : referred(captures, capture);
  return meant?.robots === undefined ? undefined : groupsOf(meant);
}

const read = new Map<string, readonly OracleGroup[]>();

function groupsOf({ robots = '', pad = 0 }: OracleCapture): readonly OracleGroup[] {
  const key = `${pad} ${robots}`;
  const groups = read.get(key) ?? readGroups(bytesOf(robots + '#'.repeat(pad)), 'rfc9309');
  read.set(key, groups);
  return groups;
}

function isSame(one: OracleState | undefined, other: OracleState): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function momentOf(date: string): number {
  return Date.parse(date);
}
