/** How long a stored robots.txt may be used (section 2.4), and what is stored next. */

import CachePolicy from 'http-cache-semantics';
import { formatAuthority } from '../protocol/authority.js';
import { DAY, type Profile } from '../protocol/verdict.js';
import {
  type FetchState,
  failedDays,
  isSameFinding,
  type LastSuccess,
} from '../sources/fetch-state.js';
import type { FetchResult, StoredCopy } from './result.js';

/** Headers of a message and its body that a 304 does not update (RFC 9111 section 3.2). */
const NOT_UPDATED: readonly string[] = [
  'content-encoding',
  'content-length',
  'content-range',
  'transfer-encoding',
];

/** Headers that belong to the moment of a response, and are not merged into a later response. */
const OF_THE_MOMENT: readonly string[] = ['age', 'date', 'retry-after', 'location'];

/**
 * Computes HTTP's freshness of a successful response, in the form of `toObject` of
 * http-cache-semantics for a private cache. The store keeps this form.
 *
 * @param url the URL that was requested last
 * @param respondedAt milliseconds since 1970
 */
export function cachePolicy(
  url: string,
  headers: Readonly<Record<string, string>>,
  respondedAt: number,
): object {
  const request = { url, method: 'GET', headers: {} };
  // The status is always 200: any 2xx counts as a robots.txt, even one that HTTP does not cache.
  const policy = new CachePolicy(request, { status: 200, headers }, { shared: false });
  return { ...policy.toObject(), t: respondedAt };
}

/** The URL whose response a stored policy describes; `undefined` if the object is not a policy. */
export function policyUrl(policy: object | undefined): string | undefined {
  return policy !== undefined && 'u' in policy && typeof policy.u === 'string'
    ? policy.u
    : undefined;
}

/**
 * Whether a 304 confirms the stored response: whether both have the same validator (RFC 9111
 * section 4.3.4). A 304 without a validator does, because the request named no other response.
 *
 * The comparison of ETags is weak, because nginx weakens the ETag of a compressed response, but not
 * the ETag of a 304.
 *
 * @param confirming headers of the 304
 */
export function isConfirmedBy(
  { etag, lastModified }: StoredCopy,
  confirming: Readonly<Record<string, string>>,
): boolean {
  const { etag: named = '', 'last-modified': modified = '' } = confirming;
  if (named !== '') return opaqueTag(named) === opaqueTag(etag ?? '');
  return modified === '' || modified === lastModified;
}

/** An ETag without the mark of a weak one (RFC 9110 section 8.8.3). */
function opaqueTag(etag: string): string {
  return etag.startsWith('W/') ? etag.slice(2) : etag;
}

/** The headers of a stored response after a 304 confirmed it (RFC 9111 section 4.3.4). */
export function revalidatedHeaders(
  stored: Readonly<Record<string, string>>,
  confirming: Readonly<Record<string, string>>,
): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(stored)) {
    if (!OF_THE_MOMENT.includes(name)) headers[name] = value;
  }
  for (const [name, value] of Object.entries(confirming)) {
    if (!NOT_UPDATED.includes(name)) headers[name] = value;
  }
  return headers;
}

/**
 * Computes the time, in milliseconds since 1970, until which a finding may be used without a new
 * request.
 *
 * HTTP's freshness counts (RFC 9111 section 4.2), but at most `maxAge` milliseconds after the
 * response. If HTTP gives no freshness, as for most robots.txt files, or if there is no policy,
 * `maxAge` counts. A response from the future, after a clock was set back, counts from `now`.
 *
 * @param policy as `cachePolicy` returns it; may have been edited
 */
export function freshUntil(
  policy: object | undefined,
  respondedAt: number,
  now: number,
  maxAge: number = DAY,
): number {
  const since = Math.min(respondedAt, now);
  return since + Math.min(lifetime(policy) ?? maxAge, maxAge);
}

/** Milliseconds of freshness from the response's arrival; `undefined` if HTTP gives none. */
function lifetime(stored: object | undefined): number | undefined {
  if (stored === undefined) return undefined;
  try {
    const object = stored as CachePolicy.CachePolicyObject;
    if (!saysFreshness(object)) return undefined;
    const age = Math.max(Number(object.resh.age) || 0, 0);
    const seconds = CachePolicy.fromObject(object).maxAge() - age;
    return Number.isNaN(seconds) ? undefined : Math.max(seconds * 1000, 0);
  } catch {
    // Somebody has edited the stored policy, and it is no longer a policy.
    return undefined;
  }
}

/** Whether a header gives the freshness, or the date of a change from which it can be guessed. */
function saysFreshness({ rescc, resh }: CachePolicy.CachePolicyObject): boolean {
  return (
    'max-age' in rescc ||
    'no-cache' in rescc ||
    'no-store' in rescc ||
    'immutable' in rescc ||
    resh.expires !== undefined ||
    resh['last-modified'] !== undefined ||
    resh.vary === '*'
  );
}

/**
 * Milliseconds before a later run contacts an unreachable host again. No `Retry-After` that is
 * believed is longer.
 */
const UNREACHABLE_HOLD = 60 * 60 * 1000;

/** Maximum number of characters of URLs, messages and headers; longer ones are truncated. */
const LONGEST_TEXT = 4096;
/** Maximum number of headers; further ones are dropped. */
const MOST_HEADERS = 64;
/** Maximum number of characters of a policy; a longer one is dropped. */
const LONGEST_POLICY = 64 * 1024;

interface StateOptions {
  readonly profile: Profile;
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
 * Makes the state after a fetch (RFC 9309 sections 2.3.1 and 2.4).
 *
 * - successful: the new copy; after a 304 the old copy with new times.
 * - unavailable: no copy.
 * - unreachable: the last good copy, and the time of the first failure.
 *
 * A status that is unreachable in some profile keeps the copy and the failures in every profile,
 * because a reader with that profile needs them.
 *
 * @param digest SHA-256 of the result's body; `undefined` without a body
 * @param before the state before the fetch
 */
export function nextState(
  result: FetchResult,
  digest: string | undefined,
  before: FetchState | undefined,
  { profile, now, maxAge, unreachableAfter }: StateOptions,
): FetchState {
  const { accessResult, respondedAt, error } = result;
  const kept = before?.lastSuccess;
  const unreachable = accessResult === 'unreachable';
  const isByProfile = result.isByProfile ?? false;
  const isFailure = unreachable || isByProfile;
  const firstFailure = (earlier: number | undefined): number | undefined =>
    isFailure ? Math.min(earlier ?? respondedAt, respondedAt) : undefined;
  // Where 429 and 503 follow one another, the failures begin there for some profile.
  const failedBefore = before?.isByProfile === isByProfile ? before.unreachableSince : undefined;
  const since = Math.min(respondedAt, now);
  const next: FetchState = {
    profile,
    authority: formatAuthority(result.authority),
    accessResult,
    isByProfile,
    status: result.status,
    error: error && { code: error.code, message: shortened(error.message) },
    chain: result.chain.map(shortened),
    requestedAt: result.requestedAt,
    respondedAt,
    since: respondedAt,
    freshUntil: unreachable
      ? since + UNREACHABLE_HOLD
      : freshUntil(result.policy, respondedAt, now, maxAge),
    usableUntil: since + maxAge,
    headers: keptHeaders(result.headers),
    unreachableSince: firstFailure(failedBefore),
    failingSince: firstFailure(before?.failingSince),
    failedOn: before === undefined ? [] : failedDays(before),
    unreachableAfter,
    lastSuccess:
      accessResult === 'successful'
        ? lastSuccess(result, digest, kept)
        : isFailure
          ? kept
          : undefined,
    discarded:
      accessResult === 'unavailable' && !isFailure
        ? (kept?.sha256 ?? before?.discarded)
        : undefined,
  };
  const whole = { ...next, failedOn: failedDays(next) };
  if (before === undefined || !isSameFinding(before, whole)) return whole;
  const first = Math.min(before.since, respondedAt);
  const copy = whole.lastSuccess;
  const isFound = copy !== undefined && accessResult === 'successful';
  return { ...whole, since: first, lastSuccess: isFound ? { ...copy, since: first } : copy };
}

function lastSuccess(
  result: FetchResult,
  digest: string | undefined,
  kept: LastSuccess | undefined,
): LastSuccess | undefined {
  const { respondedAt, headers, policy, body } = result;
  const validation = {
    since: respondedAt,
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
