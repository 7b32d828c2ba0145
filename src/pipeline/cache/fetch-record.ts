import { printableJson } from '../../control-characters.js';
import {
  type AccessResult,
  accessResultOf,
  isAccessResult,
  UNREACHABLE_AFTER_DAYS,
} from '../../protocol/access.js';
import { type Authority, agree, parseAuthority } from '../../protocol/authority.js';

/*
 * What a fetch leaves beside a robots.txt: a file robots.json, to be read and edited by people too.
 * It is one JSON object; times are in ISO 8601, and members that a reader does not know are passed
 * by.
 *
 *     "version"           1; a record of another version is not believed
 *     "authority"         https://example.com:8443; where it is not that of the directory, the
 *                         record is not believed
 *     "accessResult"      what the last attempt came to; the only member that must be there, unless
 *                         "status" is
 *     "status"            status code of its last response
 *     "error"             { "code", "message" }
 *     "chain"             the URLs that were asked; the last is "finalUrl"
 *     "requestedAt", "respondedAt"     without a time of the response the record is stale
 *     "freshUntil"        not asked again before
 *     "usableUntil"       stale from then on, and from 24 hours after "respondedAt" (RFC 9309
 *                         section 2.4)
 *     "headers"           those that matter, in lower case
 *     "unreachableSince"  of an unreachable one: the first attempt that failed since one did not
 *     "failedOn"          of an unreachable one: the last days (UTC) on which attempts failed, at
 *                         most ten
 *     "unreachableAfter"  days from which on the last good copy counts, or nothing does (section
 *                         2.3.1.4)
 *     "lastSuccess"       the robots.txt beside it: what it was answered with, and "sha256" and
 *                         "octets" of it
 *     "discarded"         digest of a robots.txt that this record has put out of force, and that is
 *                         to be deleted
 *
 * Where robots.txt is another than "sha256" says, somebody has edited it, or a run was killed
 * between the two files: it counts as it is, and is asked for without conditions next time.
 */

/** The version of the records that are written; those of another are not read. */
const VERSION = 1;

/** The name of the file. */
export const FETCH_RECORD = 'robots.json';

/** Octets of a longer one are not read: it is none of ours. */
export const LONGEST_FETCH_RECORD = 512 * 1024;

const DAY = 24 * 60 * 60 * 1000;

/** The last good copy: the robots.txt beside the record. Times are milliseconds since 1970. */
export interface LastSuccess {
  /** Digest of the robots.txt in hexadecimal digits. */
  readonly sha256: string;
  readonly octets: number;
  /** Whether there was more of it than is kept. */
  readonly cut: boolean;
  readonly status: number | undefined;
  readonly finalUrl: string;
  /** When it came, and when it was last found to be still good. */
  readonly receivedAt: number;
  readonly validatedAt: number;
  readonly headers: Readonly<Record<string, string>>;
  /** As http-cache-semantics' `toObject` gives it. */
  readonly policy: object | undefined;
}

/** What is known of a fetch. Times are milliseconds since 1970. */
export interface FetchRecord {
  readonly authority: string;
  readonly accessResult: AccessResult;
  readonly status: number | undefined;
  readonly error: { readonly code: string; readonly message: string } | undefined;
  readonly chain: readonly string[];
  readonly requestedAt: number;
  readonly respondedAt: number;
  /** 0 where it is not told. */
  readonly freshUntil: number;
  /** Infinity where it is not told. */
  readonly usableUntil: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly unreachableSince: number | undefined;
  /** Starts of days, ascending. */
  readonly failedOn: readonly number[];
  /** Days. */
  readonly unreachableAfter: number | undefined;
  readonly lastSuccess: LastSuccess | undefined;
  readonly discarded: string | undefined;
}

type Members = Readonly<Record<string, unknown>>;

function isObject(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
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
    octets: numberOf(value.octets) ?? 0,
    cut: value.cut === true,
    status: numberOf(value.status),
    finalUrl: textOf(value.finalUrl) ?? '',
    receivedAt,
    validatedAt: timeOf(value.validatedAt) ?? receivedAt,
    headers: headersOf(value.headers),
    policy: isObject(value.policy) ? value.policy : undefined,
  };
}

/** Whether a value names an authority: its scheme may be missing there, or here. */
function names(value: unknown, whose: Authority): boolean {
  const told = typeof value === 'string' ? parseAuthority(value) : undefined;
  return told !== undefined && agree(told, whose);
}

/** Reads the robots.json in the directory of an authority; a text says why it is none. */
export function parseFetchRecord(octets: Uint8Array, whose: Authority): FetchRecord | string {
  let value: unknown;
  try {
    value = JSON.parse(Buffer.from(octets).toString('utf8'));
  } catch {
    return 'It is no JSON';
  }
  if (!isObject(value)) return 'It is no JSON object';
  if (value.version !== undefined && value.version !== VERSION) {
    return `Its "version" is not ${VERSION}`;
  }
  if (value.authority !== undefined && !names(value.authority, whose)) {
    return '"authority" is not that of its directory';
  }
  const status = numberOf(value.status);
  const told = value.accessResult;
  if (!isAccessResult(told) && (told !== undefined || status === undefined)) {
    return '"accessResult" is not successful, unavailable or unreachable';
  }
  const { error } = value;
  const respondedAt = timeOf(value.respondedAt) ?? 0;
  return {
    authority: textOf(value.authority) ?? '',
    accessResult: isAccessResult(told) ? told : accessResultOf(status),
    status,
    error: isObject(error)
      ? { code: textOf(error.code) ?? '', message: textOf(error.message) ?? '' }
      : undefined,
    chain: textsOf(value.chain),
    requestedAt: timeOf(value.requestedAt) ?? respondedAt,
    respondedAt,
    freshUntil: timeOf(value.freshUntil) ?? 0,
    usableUntil: timeOf(value.usableUntil) ?? Number.POSITIVE_INFINITY,
    headers: headersOf(value.headers),
    unreachableSince: timeOf(value.unreachableSince),
    failedOn: textsOf(value.failedOn).flatMap((day) => dayOf(timeOf(day)) ?? []),
    unreachableAfter: numberOf(value.unreachableAfter),
    lastSuccess: lastSuccessOf(value.lastSuccess),
    discarded: textOf(value.discarded),
  };
}

/** Times that no date can be made of are left out. */
function isoTime(time: number | undefined): string | undefined {
  const date = new Date(time ?? Number.NaN);
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString();
}

function isoDay(time: number): string[] {
  return isoTime(time)?.split('T').slice(0, 1) ?? [];
}

/** The start of the day (UTC) that a time lies in. */
function dayOf(time: number | undefined): number | undefined {
  return time === undefined ? undefined : Math.floor(time / DAY) * DAY;
}

/** The text of a robots.json, indented for its reader. */
export function formatFetchRecord(record: FetchRecord): string {
  const { lastSuccess } = record;
  const members = {
    version: VERSION,
    authority: record.authority,
    accessResult: record.accessResult,
    status: record.status,
    error: record.error,
    finalUrl: record.chain.at(-1),
    chain: record.chain,
    requestedAt: isoTime(record.requestedAt),
    respondedAt: isoTime(record.respondedAt),
    freshUntil: isoTime(record.freshUntil),
    usableUntil: isoTime(record.usableUntil),
    headers: record.headers,
    unreachableSince: isoTime(record.unreachableSince),
    failedOn: record.failedOn.length === 0 ? undefined : record.failedOn.flatMap(isoDay),
    unreachableAfter: record.unreachableAfter,
    lastSuccess: lastSuccess && {
      ...lastSuccess,
      receivedAt: isoTime(lastSuccess.receivedAt),
      validatedAt: isoTime(lastSuccess.validatedAt),
    },
    discarded: record.discarded,
  };
  return `${printableJson(members, 2)}\n`;
}

/** What a record and the robots.txt beside it mean together. */
export interface FetchFinding {
  readonly access: AccessResult;
  /** Whether it is older than it may be (RFC 9309 section 2.4). */
  readonly stale: boolean;
}

/** How records are understood. */
export interface FetchReading {
  /** Milliseconds since 1970; default the clock's. */
  readonly now?: number | undefined;
  /** Days that count instead of those that the record tells; default these, or else 30. */
  readonly unreachableAfter?: number | undefined;
}

/**
 * Days before the last failed attempt that are looked at, and of every so many the one on which an
 * attempt must have failed.
 */
const WINDOW_DAYS = 30;
const DAYS_TO_AN_ATTEMPT = 3;

/** Days with a failed attempt that are kept: as many as can be needed. */
const MOST_FAILED_DAYS = WINDOW_DAYS / DAYS_TO_AN_ATTEMPT;

/**
 * Whether an authority has been unreachable for so long that the last good copy counts, or else
 * nothing does (RFC 9309 section 2.3.1.4). Only attempts count: a record that has lain for 30 days
 * proves nothing. They must be spread: of 30 days or more, attempts must have failed on ten of the
 * last 30; of a shorter bound, on every third day.
 */
export function isLongUnreachable(record: FetchRecord, days?: number): boolean {
  if (record.accessResult !== 'unreachable') return false;
  const { respondedAt } = record;
  const since = record.unreachableSince ?? respondedAt;
  const bound = days ?? record.unreachableAfter ?? UNREACHABLE_AFTER_DAYS;
  if (respondedAt - since <= bound * DAY) return false;
  const window = Math.min(bound, WINDOW_DAYS);
  const begin = (dayOf(respondedAt) ?? 0) - window * DAY;
  const failed = failedDays(record).filter((day) => day > begin);
  return failed.length >= Math.floor(window / DAYS_TO_AN_ATTEMPT);
}

/**
 * The days (UTC) on which attempts are known to have failed, up to that of the record itself:
 * ascending, and at most as many as can be needed. A record of an earlier version tells of its last
 * attempt alone.
 */
export function failedDays({ accessResult, failedOn, respondedAt }: FetchRecord): number[] {
  if (accessResult !== 'unreachable') return [];
  const last = dayOf(respondedAt) ?? 0;
  const days = new Set([...failedOn.filter((day) => day < last), last]);
  return [...days].sort((a, b) => a - b).slice(-MOST_FAILED_DAYS);
}

/** Milliseconds by which the clocks of two machines that share a directory may differ. */
const CLOCK_DIFFERENCE = 5 * 60 * 1000;

/** Whether a record was made when the clock was wrong: nobody can tell then how old it is. */
export function isOfTheFuture({ respondedAt }: FetchRecord, now: number): boolean {
  return respondedAt > now + CLOCK_DIFFERENCE;
}

/** RFC 9309 section 2.4: what was found longer ago is stale, whatever the record says. */
const LONGEST_USE = DAY;

/** @param hasCopy whether a robots.txt lies beside the record */
export function findingOf(
  record: FetchRecord,
  hasCopy: boolean,
  { now = Date.now(), unreachableAfter }: FetchReading,
): FetchFinding {
  const usableUntil = Math.min(record.usableUntil, record.respondedAt + LONGEST_USE);
  const stale = now > usableUntil || isOfTheFuture(record, now);
  if (!isLongUnreachable(record, unreachableAfter)) return { access: record.accessResult, stale };
  return { access: hasCopy ? 'successful' : 'unavailable', stale };
}
