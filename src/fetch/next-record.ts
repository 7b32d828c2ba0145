import { type FetchRecord, failedDays, type LastSuccess } from '../pipeline/cache/fetch-record.js';
import { formatAuthority } from '../protocol/authority.js';
import { freshUntil } from './freshness.js';
import type { FetchResult } from './result.js';

/**
 * Milliseconds for which what is unreachable is not asked again by another run, unless
 * `Retry-After` says longer.
 */
export const UNREACHABLE_HOLD = 60 * 60 * 1000;

/** Characters of a longer URL, message or header are not kept. */
const LONGEST_TEXT = 4096;
/** Headers, and characters of a policy, beyond which none are kept. */
const MOST_HEADERS = 64;
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
 * The record of a fetch that follows on an earlier one (RFC 9309 sections 2.3.1 and 2.4).
 *
 * - successful: the copy is the new one, or after 304 the old one, whose times are renewed.
 * - unavailable: there is no copy any more.
 * - unreachable: the last good copy stays, and since when nothing has been reached.
 *
 * @param digest of the result's body, where there is one
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
    octets: body.length,
    cut: result.cut,
    status: result.status,
    finalUrl: shortened(result.chain.at(-1) ?? ''),
    receivedAt: respondedAt,
    ...validation,
  };
}
