import { type AccessResult, DAY, UNREACHABLE_AFTER_DAYS } from '../protocol/access.js';
import { dayOf, type FetchRecord } from './fetch-record.js';

/** The meaning of a fetch record together with the robots.txt beside it. */
export interface FetchOutcome {
  readonly access: AccessResult;
  /** Whether the record is older than allowed (RFC 9309 section 2.4). */
  readonly stale: boolean;
  /** When the last answer came, in milliseconds since 1970; 0 if the record does not say. */
  readonly respondedAt: number;
}

/** How fetch records are interpreted. */
export interface FetchReading {
  /** Milliseconds since 1970. Default `Date.now()`. */
  readonly now?: number | undefined;
  /** Overrides the days of "unreachableAfter" in the record; without either, 30. */
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
 * Returns the meaning of a record.
 *
 * @param hasCopy whether there is a robots.txt beside the record
 */
export function outcomeOf(
  record: FetchRecord,
  hasCopy: boolean,
  { now = Date.now(), unreachableAfter }: FetchReading,
): FetchOutcome {
  const usableUntil = Math.min(record.usableUntil, record.respondedAt + LONGEST_USE);
  const stale = now > usableUntil || isOfTheFuture(record, now);
  const { accessResult, respondedAt } = record;
  if (!isLongUnreachable(record, unreachableAfter)) {
    return { access: accessResult, stale, respondedAt };
  }
  return { access: hasCopy ? 'successful' : 'unavailable', stale, respondedAt };
}

/**
 * Whether an authority has been unreachable for so long that the last good copy counts, or that,
 * without a copy, everything is allowed (RFC 9309 section 2.3.1.4). Only failed attempts count: an
 * unused record does not age. Attempts must have failed on ten of the last 30 days; with a shorter
 * bound, on one day in three.
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
  return failed.length >= Math.floor(window / DAYS_PER_ATTEMPT);
}

/**
 * The days (UTC) with failed attempts, including the record's own day: ascending, and no more than
 * the window needs. A record without "failedOn" tells only about its last attempt.
 */
export function failedDays({ accessResult, failedOn, respondedAt }: FetchRecord): number[] {
  if (accessResult !== 'unreachable') return [];
  const last = dayOf(respondedAt) ?? 0;
  const days = new Set([...failedOn.filter((day) => day < last), last]);
  return [...days].sort((a, b) => a - b).slice(-MAX_FAILED_DAYS);
}

/** Whether a record was made while a clock was wrong, so that its age is unknown. */
export function isOfTheFuture({ respondedAt }: FetchRecord, now: number): boolean {
  return respondedAt > now + CLOCK_DIFFERENCE;
}
