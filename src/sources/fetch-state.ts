/**
 * The file that `fetch` keeps beside each robots.txt: when it was asked for, and with what result.
 */

import { printableJson } from '../base/control-characters.js';
import { isObject } from '../base/maps.js';
import { type Authority, agree, parseAuthority } from '../protocol/authority.js';
import {
  type AccessResult,
  accessResultOf,
  DAY,
  isAccessResult,
  isReadByProfile,
  PROFILES,
  type Profile,
  TOO_MANY_REQUESTS,
  unreachableAfterDays,
} from '../protocol/verdict.js';

/*
 * The state of a fetch is a file robots.json beside robots.txt. It holds one JSON object, which
 * people may read and edit. Times are in ISO 8601; unknown members are ignored.
 *
 *     "version"           1; a state of another version is refused
 *     "authority"         https://example.com:8443; a state whose authority is not the one of its
 *                         directory is refused
 *     "accessResult"      the result of the last attempt; required unless "status" is there. If it
 *                         is missing, the profile of each reader decides what "status" means
 *     "status"            status code of the last response
 *     "error"             { "code", "message" }
 *     "chain"             the URLs that were requested; the last one is "finalUrl"
 *     "requestedAt", "respondedAt"     without "respondedAt" the state is stale
 *     "since"             the first answer in a row with this finding: with the same robots.txt, or
 *                         none for the same reason
 *     "freshUntil"        no request is made before this time
 *     "usableUntil"       stale from then on, and 24 hours after "respondedAt" at the latest
 *                         (RFC 9309 section 2.4)
 *     "headers"           the response headers that are kept, with names in lower case
 *     "unreachableSince"  if unreachable in some profile: the first failed attempt since the last
 *                         success, or since failures in other profiles than before
 *     "failingSince"      if earlier: the first failed attempt since the last answer that is no
 *                         failure in any profile. It counts in profiles that read 429 as a failure
 *     "failedOn"          if so: the last days (UTC) with failed attempts, at most ten
 *     "unreachableAfter"  days after which the last good copy counts, or else everything is allowed
 *                         (RFC 9309 section 2.3.1.4). If it is missing, the profile of each reader
 *                         decides
 *     "lastSuccess"       the last good robots.txt: its response, "sha256", length ("bytes") and
 *                         its own "since"
 *     "discarded"         digest of a robots.txt that no longer counts and must be deleted
 *
 * If robots.txt differs from "sha256", somebody has edited the file, or a run was killed between
 * the two files. The robots.txt then counts as it is, and the next request for it is not
 * conditional.
 */

/** The version that is written, and the only version that is read. */
const VERSION = 1;

/** The name of the file of a state. */
export const FETCH_STATE_FILE = 'robots.json';

/** Maximum length of a state that is read, in bytes. */
export const LONGEST_FETCH_STATE = 512 * 1024;

/** The last good copy: the robots.txt beside the state. Times are in milliseconds since 1970. */
export interface LastSuccess {
  /** SHA-256 of the robots.txt in hexadecimal. */
  readonly sha256: string;
  /** Length of the robots.txt, in bytes. */
  readonly bytes: number;
  /** Whether the robots.txt was truncated when it was stored. */
  readonly cut: boolean;
  readonly status: number | undefined;
  readonly finalUrl: string;
  readonly receivedAt: number;
  /** The first answer in a row with this robots.txt. Later ones sent it again, or confirmed it. */
  readonly since: number;
  /** Time at which the server last sent or confirmed the robots.txt. */
  readonly validatedAt: number;
  readonly headers: Readonly<Record<string, string>>;
  /** The cache policy, in the form of `toObject` of http-cache-semantics. */
  readonly policy: object | undefined;
}

/** The state of a fetch. Times are in milliseconds since 1970. */
export interface FetchState {
  /** The profile of the reader, which decides what the state leaves open. */
  readonly profile: Profile;
  readonly authority: string;
  /** The result for the profile of the reader. */
  readonly accessResult: AccessResult;
  /** Whether the state leaves the meaning of its status to the profile of each reader. */
  readonly isByProfile: boolean;
  readonly status: number | undefined;
  readonly error: { readonly code: string; readonly message: string } | undefined;
  readonly chain: readonly string[];
  readonly requestedAt: number;
  readonly respondedAt: number;
  /** The first answer in a row with this finding. */
  readonly since: number;
  /** Time before which no request is made; 0 if unknown. */
  readonly freshUntil: number;
  /** Time from which on the finding is stale; Infinity if unknown. */
  readonly usableUntil: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly unreachableSince: number | undefined;
  /** As `unreachableSince`, but of failures in whatever profiles. */
  readonly failingSince: number | undefined;
  /** Starts of the days with failed attempts, ascending. */
  readonly failedOn: readonly number[];
  /** Number of days after which an unreachable host is no longer denied; by profile if missing. */
  readonly unreachableAfter: number | undefined;
  readonly lastSuccess: LastSuccess | undefined;
  readonly discarded: string | undefined;
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined;
}

function timeOf(value: unknown): number | undefined {
  return typeof value === 'string' ? numberOf(Date.parse(value)) : undefined;
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

function headersOf(value: unknown): Record<string, string> {
  if (!isObject(value)) return {};
  const entries = Object.entries(value);
  return Object.fromEntries(
    entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}

function lastSuccessOf(value: unknown): LastSuccess | undefined {
  if (!isObject(value)) return undefined;
  const receivedAt = timeOf(value.receivedAt) ?? 0;
  return {
    sha256: textOf(value.sha256) ?? '',
    // Until November 2026 the member was called `octets`.
    bytes: numberOf(value.bytes ?? value.octets) ?? 0,
    cut: value.cut === true,
    status: numberOf(value.status),
    finalUrl: textOf(value.finalUrl) ?? '',
    receivedAt,
    since: timeOf(value.since) ?? receivedAt,
    validatedAt: timeOf(value.validatedAt) ?? receivedAt,
    headers: headersOf(value.headers),
    policy: isObject(value.policy) ? value.policy : undefined,
  };
}

/** Whether a value names the authority. The scheme may be missing on either side. */
function names(value: unknown, whose: Authority): boolean {
  const told = typeof value === 'string' ? parseAuthority(value) : undefined;
  return told !== undefined && agree(told, whose);
}

/**
 * Parses the robots.json in the directory of an authority; returns a string if the state is
 * refused, with the reason.
 *
 * @param profile the profile of the reader
 */
export function parseFetchState(
  bytes: Uint8Array,
  whose: Authority,
  profile: Profile = 'rfc9309',
): FetchState | string {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(bytes).toString('utf8'));
  } catch {
    return 'It is not JSON';
  }
  if (!isObject(value)) return 'It is not a JSON object';
  if (value.version !== undefined && value.version !== VERSION) {
    return `Its "version" is not ${VERSION}`;
  }
  if (value.authority !== undefined && !names(value.authority, whose)) {
    return '"authority" does not match the directory';
  }
  const status = numberOf(value.status);
  const told = value.accessResult;
  if (!isAccessResult(told) && (told !== undefined || status === undefined)) {
    return '"accessResult" is not successful, unavailable or unreachable';
  }
  const { error } = value;
  const respondedAt = timeOf(value.respondedAt) ?? 0;
  const accessResult = isAccessResult(told) ? told : accessResultOf(status, profile);
  const unreachableSince = timeOf(value.unreachableSince);
  const lastSuccess = lastSuccessOf(value.lastSuccess);
  // Until November 2026 there was no "since".
  const firsts = { successful: lastSuccess?.since, unreachable: unreachableSince };
  const first = accessResult === 'unavailable' ? undefined : firsts[accessResult];
  return {
    profile,
    authority: textOf(value.authority) ?? '',
    accessResult,
    isByProfile: told === undefined && isReadByProfile(status),
    status,
    error: isObject(error)
      ? { code: textOf(error.code) ?? '', message: textOf(error.message) ?? '' }
      : undefined,
    chain: textsOf(value.chain),
    requestedAt: timeOf(value.requestedAt) ?? respondedAt,
    respondedAt,
    since: timeOf(value.since) ?? first ?? respondedAt,
    freshUntil: timeOf(value.freshUntil) ?? 0,
    usableUntil: timeOf(value.usableUntil) ?? Number.POSITIVE_INFINITY,
    headers: headersOf(value.headers),
    unreachableSince,
    failingSince: timeOf(value.failingSince) ?? unreachableSince,
    failedOn: textsOf(value.failedOn).flatMap((day) => dayOf(timeOf(day)) ?? []),
    unreachableAfter: numberOf(value.unreachableAfter),
    lastSuccess,
    discarded: textOf(value.discarded),
  };
}

/** The ISO 8601 text of a time; `undefined` for a time that no date can hold. */
function isoTime(time: number | undefined): string | undefined {
  const date = new Date(time ?? Number.NaN);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}

function isoDay(time: number): string[] {
  return isoTime(time)?.split('T').slice(0, 1) ?? [];
}

/** The start of the day (UTC) of a time. */
function dayOf(time: number | undefined): number | undefined {
  return time === undefined ? undefined : Math.floor(time / DAY) * DAY;
}

/** The text of a robots.json, indented for people. */
export function formatFetchState(state: FetchState): string {
  const { lastSuccess } = state;
  const members = {
    version: VERSION,
    authority: state.authority,
    accessResult: state.isByProfile ? undefined : state.accessResult,
    status: state.status,
    error: state.error,
    finalUrl: state.chain.at(-1),
    chain: state.chain,
    requestedAt: isoTime(state.requestedAt),
    respondedAt: isoTime(state.respondedAt),
    since: isoTime(state.since),
    freshUntil: isoTime(state.freshUntil),
    usableUntil: isoTime(state.usableUntil),
    headers: state.headers,
    unreachableSince: isoTime(state.unreachableSince),
    failingSince:
      state.failingSince === state.unreachableSince ? undefined : isoTime(state.failingSince),
    failedOn: state.failedOn.length === 0 ? undefined : state.failedOn.flatMap(isoDay),
    unreachableAfter: state.unreachableAfter,
    lastSuccess: lastSuccess && {
      ...lastSuccess,
      receivedAt: isoTime(lastSuccess.receivedAt),
      since: isoTime(lastSuccess.since),
      validatedAt: isoTime(lastSuccess.validatedAt),
    },
    discarded: state.discarded,
  };
  return `${printableJson(members, 2)}\n`;
}

/** The meaning of a fetch state together with the robots.txt beside it. */
export interface FetchOutcome {
  readonly access: AccessResult;
  /** Whether the state is older than allowed (RFC 9309 section 2.4). */
  readonly stale: boolean;
  /** When the last answer came, in milliseconds since 1970; 0 if the state does not say. */
  readonly respondedAt: number;
}

/** How fetch states are interpreted. */
export interface FetchReading {
  /** Milliseconds since 1970. Default `Date.now()`. */
  readonly now?: number | undefined;
  /** Overrides the days of "unreachableAfter" in the state; without either, the profile decides. */
  readonly unreachableAfter?: number | undefined;
}

/** Number of days, up to the last failed attempt, in which attempts must have failed regularly. */
const WINDOW_DAYS = 30;
/** Number of days in which, on average, one attempt must have failed. */
const DAYS_PER_ATTEMPT = 3;

/** Number of days with a failed attempt that are kept: as many as the window needs. */
const MAX_FAILED_DAYS = WINDOW_DAYS / DAYS_PER_ATTEMPT;

/** Greatest difference, in milliseconds, between the clocks of machines that share a directory. */
const CLOCK_DIFFERENCE = 5 * 60 * 1000;

/** Time for which a robots.txt may be used without another request (RFC 9309 section 2.4). */
const LONGEST_USE = DAY;

/**
 * Returns the meaning of a state.
 *
 * @param hasCopy whether there is a robots.txt beside the state
 */
export function outcomeOf(
  state: FetchState,
  hasCopy: boolean,
  { now = Date.now(), unreachableAfter }: FetchReading,
): FetchOutcome {
  const usableUntil = Math.min(state.usableUntil, state.respondedAt + LONGEST_USE);
  const stale = now > usableUntil || isOfTheFuture(state, now);
  const { accessResult, respondedAt } = state;
  if (!isLongUnreachable(state, unreachableAfter)) {
    return { access: accessResult, stale, respondedAt };
  }
  return { access: hasCopy ? 'successful' : 'unavailable', stale, respondedAt };
}

/** The robots.txt beside a state: as the fetch stored it, missing, or another one since a time. */
export type Copy =
  | { readonly kind: 'intact' | 'none' }
  | { readonly kind: 'edited'; readonly since: number };

/** What a crawler with a store used from a time on. Times are in milliseconds since 1970. */
export interface DatedFinding {
  /** If it is successful, the robots.txt beside the state counts. */
  readonly access: AccessResult;
  readonly since: number;
  /** When it was found for the last time; not before `since`. */
  readonly confirmed: number;
}

/**
 * Returns everything that a state tells about the past, by rising time. The state of an unreachable
 * authority also tells when its last good copy counted. It has one "since" for all profiles: after
 * 30 days it no longer tells Google's readers when the 12 hours were over. Versions that were kept
 * before do.
 *
 * A robots.txt that was edited by hand counts from then on, and not from the answer with the one
 * that the state means. So does one that a killed run wrote, whose state is still the old one.
 */
export function findingsOf(
  state: FetchState,
  copy: Copy,
  { now = Date.now(), unreachableAfter }: FetchReading,
): DatedFinding[] {
  const { accessResult: access, respondedAt, lastSuccess } = state;
  const span = (access: AccessResult, from: number, confirmed: number): DatedFinding => ({
    access,
    since: Math.min(from, confirmed),
    confirmed,
  });
  const written = copy.kind === 'edited' ? Math.min(copy.since, now) : 0;
  const last = Math.max(respondedAt, written);
  if (access === 'unavailable') return [span(access, state.since, respondedAt)];
  if (access === 'successful') return [span(access, written === 0 ? state.since : last, last)];
  // A state that was written by hand may have the first answer of a row alone.
  const failed = Math.min(failedSince(state) ?? state.since, respondedAt);
  const isLong = isLongUnreachable(state, unreachableAfter);
  // If "since" is missing, or another profile's, only the last attempt is known to have been late.
  const isLate = state.since - failed > unreachableSpan(state, unreachableAfter);
  const end = isLate ? Math.min(state.since, respondedAt) : respondedAt;
  const hasCopy = copy.kind === 'intact' && lastSuccess !== undefined;
  return [
    ...(hasCopy && lastSuccess.validatedAt <= failed
      ? [span('successful', lastSuccess.since, lastSuccess.validatedAt)]
      : []),
    // After too few attempts in the window an authority is denied again, from "since" on.
    ...(isLong || state.since > failed ? [span(access, failed, failed)] : []),
    isLong
      ? span(copy.kind === 'none' ? 'unavailable' : 'successful', Math.max(end, written), last)
      : span(access, Math.max(failed, state.since), respondedAt),
  ];
}

/**
 * Whether two states have the same finding in every profile: what counted, and the robots.txt if
 * one did. 404 and then 429 are two findings, because only the first one allows in each profile.
 */
export function isSameFinding(one: FetchState, other: FetchState): boolean {
  if (one.isByProfile !== other.isByProfile) return false;
  const used = PROFILES.map((profile) => usedAccess(one, profile));
  if (PROFILES.some((profile, index) => usedAccess(other, profile) !== used[index])) return false;
  if (!used.includes('successful')) return true;
  const digest = one.lastSuccess?.sha256;
  return digest !== undefined && digest === other.lastSuccess?.sha256;
}

/**
 * What counted in a profile. A status that the profiles read in different ways denies, as in those
 * for which its copy and its failures are kept.
 */
function usedAccess(state: FetchState, profile: Profile): AccessResult {
  const accessResult = state.isByProfile ? 'unreachable' : state.accessResult;
  return outcomeOf({ ...state, profile, accessResult }, state.lastSuccess !== undefined, {}).access;
}

/**
 * Whether an authority has been unreachable for so long that the last good copy counts, or that,
 * without a copy, everything is allowed (RFC 9309 section 2.3.1.4). Only failed attempts count: an
 * unused state does not age. Attempts must have failed on ten of the last 30 days; with a shorter
 * bound, on one day in three. With Google's 12 hours two attempts are enough.
 */
export function isLongUnreachable(state: FetchState, days?: number): boolean {
  if (state.accessResult !== 'unreachable') return false;
  const { respondedAt } = state;
  const since = failedSince(state) ?? respondedAt;
  const span = unreachableSpan(state, days);
  if (respondedAt - since <= span) return false;
  const window = Math.min(span / DAY, WINDOW_DAYS);
  const begin = (dayOf(respondedAt) ?? 0) - window * DAY;
  const failed = failedDays(state).filter((day) => day > begin);
  return failed.length >= Math.floor(window / DAYS_PER_ATTEMPT);
}

/**
 * The first failure in a row for the profile of the reader. Where 429 is no failure, it ends a row
 * of others.
 */
function failedSince({ profile, unreachableSince, failingSince }: FetchState): number | undefined {
  const countsAll = accessResultOf(TOO_MANY_REQUESTS, profile) === 'unreachable';
  return countsAll ? failingSince : unreachableSince;
}

/** The longest time in milliseconds for which an unreachable authority is denied. */
function unreachableSpan({ unreachableAfter, profile }: FetchState, days?: number): number {
  return (days ?? unreachableAfter ?? unreachableAfterDays(profile)) * DAY;
}

/**
 * The days (UTC) with failed attempts, including the state's own day: ascending, and no more than
 * the window needs. A state without "failedOn" tells only about its last attempt.
 */
export function failedDays(state: FetchState): number[] {
  const { accessResult, isByProfile, failedOn, respondedAt } = state;
  if (accessResult !== 'unreachable' && !isByProfile) return [];
  const last = dayOf(respondedAt) ?? 0;
  const days = new Set([...failedOn.filter((day) => day < last), last]);
  return [...days].sort((a, b) => a - b).slice(-MAX_FAILED_DAYS);
}

/** Whether a state was made while a clock was wrong, so that its age is unknown. */
export function isOfTheFuture({ respondedAt }: FetchState, now: number): boolean {
  return respondedAt > now + CLOCK_DIFFERENCE;
}
