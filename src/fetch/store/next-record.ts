import { failedDays } from '../../cache/fetch-outcome.js';
import type { FetchRecord, LastSuccess } from '../../cache/fetch-record.js';
import { formatAuthority } from '../../protocol/authority.js';
import { freshUntil } from '../freshness.js';
import type { FetchResult } from '../result.js';

/**
 * Milliseconds before a later run contacts an unreachable host again; `Retry-After` may be longer.
 */
export const UNREACHABLE_HOLD = 60 * 60 * 1000;

/** Maximum number of characters of URLs, messages and headers; longer ones are truncated. */
const LONGEST_TEXT = 4096;
/** Maximum number of headers; further ones are dropped. */
const MOST_HEADERS = 64;
/** Maximum number of characters of a policy; a longer one is dropped. */
const LONGEST_POLICY = 64 * 1024;

interface RecordOptions {
  readonly now: number;
  readonly maxAge: number;
  readonly unreachableAfter: number | undefined;
}

function shortened(text: string): string {
  return text.length > LONGEST_TEXT ? `${text.slice(0, LONGEST_TEXT)}…` : text;
}

function keptHeaders(headers: Readonly<Record<string, string>>): Record<string, string> {
  const entries = Object.entries(headers).slice(0, MOST_HEADERS);
  return Object.fromEntries(entries.map(([name, value]) => [shortened(name), shortened(value)]));
}

function keptPolicy(policy: object | undefined): object | undefined {
  return policy !== undefined && JSON.stringify(policy).length <= LONGEST_POLICY
    ? policy
    : undefined;
}

/**
 * Makes the record after a fetch (RFC 9309 sections 2.3.1 and 2.4).
 *
 * - successful: the new copy; after a 304 the old copy with new times.
 * - unavailable: no copy.
 * - unreachable: the last good copy, and the time of the first failure.
 *
 * @param digest SHA-256 of the result's body; `undefined` without a body
 * @param before the record before the fetch
 */
export function nextRecord(
  result: FetchResult,
  digest: string | undefined,
  before: FetchRecord | undefined,
  { now, maxAge, unreachableAfter }: RecordOptions,
): FetchRecord {
  const { accessResult, respondedAt, retryAfter, error } = result;
  const kept = before?.lastSuccess;
  const unreachable = accessResult === 'unreachable';
  const since = Math.min(respondedAt, now);
  const next: FetchRecord = {
    authority: formatAuthority(result.authority),
    accessResult,
    status: result.status,
    error: error && { code: error.code, message: shortened(error.message) },
    chain: result.chain.map(shortened),
    requestedAt: result.requestedAt,
    respondedAt,
    freshUntil: unreachable
      ? since + Math.max(UNREACHABLE_HOLD, retryAfter ?? 0)
      : freshUntil(result.policy, respondedAt, now, maxAge),
    usableUntil: since + maxAge,
    headers: keptHeaders(result.headers),
    unreachableSince: unreachable
      ? Math.min(before?.unreachableSince ?? respondedAt, respondedAt)
      : undefined,
    failedOn: before === undefined ? [] : failedDays(before),
    unreachableAfter,
    lastSuccess:
      accessResult === 'successful'
        ? lastSuccess(result, digest, kept)
        : unreachable
          ? kept
          : undefined,
    discarded: accessResult === 'unavailable' ? (kept?.sha256 ?? before?.discarded) : undefined,
  };
  return { ...next, failedOn: failedDays(next) };
}

function lastSuccess(
  result: FetchResult,
  digest: string | undefined,
  kept: LastSuccess | undefined,
): LastSuccess | undefined {
  const { respondedAt, headers, policy, body } = result;
  const validation = {
    validatedAt: respondedAt,
    headers: keptHeaders(headers),
    policy: keptPolicy(policy),
  };
  if (body === undefined || digest === undefined) return kept && { ...kept, ...validation };
  return {
    sha256: digest,
    bytes: body.length,
    cut: result.cut,
    status: result.status,
    finalUrl: shortened(result.chain.at(-1) ?? ''),
    receivedAt: respondedAt,
    ...validation,
  };
}
