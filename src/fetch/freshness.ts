import CachePolicy from 'http-cache-semantics';

/**
 * RFC 9309 section 2.4: a cached robots.txt should not be used for longer, unless the file is
 * unreachable.
 */
export const DAY = 86_400_000;

/**
 * Belong to the message and its body, not to the stored response that a 304 updates (RFC 9111
 * section 3.2).
 */
const NOT_UPDATED: readonly string[] = [
  'content-encoding',
  'content-length',
  'content-range',
  'transfer-encoding',
];

/** Speak of the moment of a response: a stored one's do not outlive it. */
const OF_THE_MOMENT: readonly string[] = ['age', 'date', 'retry-after', 'location'];

/**
 * HTTP's freshness of a successful response, in the form that is stored: what http-cache-semantics'
 * `toObject` gives, for a private cache. `url` is what was asked last, `respondedAt` in
 * milliseconds since 1970.
 */
export function cachePolicy(
  url: string,
  headers: Readonly<Record<string, string>>,
  respondedAt: number,
): object {
  const request = { url, method: 'GET', headers: {} };
  // Any status of 200 to 299 counts as a robots.txt here, be it one that HTTP caches or not.
  const policy = new CachePolicy(request, { status: 200, headers }, { shared: false });
  return { ...policy.toObject(), t: respondedAt };
}

/** The URL whose response a stored policy is for; `undefined` for what is no policy. */
export function policyUrl(policy: object | undefined): string | undefined {
  return policy !== undefined && 'u' in policy && typeof policy.u === 'string'
    ? policy.u
    : undefined;
}

/** The headers of a stored response after the 304 that confirmed it (RFC 9111 section 4.3.4). */
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
 * The time until which what a fetch found may be used without asking again, in milliseconds since
 * 1970.
 *
 * That is as long as HTTP says (RFC 9111 section 4.2), and never longer than `maxAge` milliseconds
 * after the response, 24 hours by default. Where HTTP says nothing, as with most robots.txt files,
 * and where there is no policy, as with one that is unavailable, it is `maxAge`. A response of the
 * future, as a clock that was set back leaves behind, counts as of `now`.
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

/**
 * How long a response is fresh from when it came, in milliseconds; `undefined` where HTTP does not
 * say.
 */
function lifetime(stored: object | undefined): number | undefined {
  if (stored === undefined) return undefined;
  try {
    const object = stored as CachePolicy.CachePolicyObject;
    if (!saysFreshness(object)) return undefined;
    const age = Math.max(Number(object.resh.age) || 0, 0);
    const seconds = CachePolicy.fromObject(object).maxAge() - age;
    return Number.isNaN(seconds) ? undefined : Math.max(seconds * 1000, 0);
  } catch {
    // Whoever edited the stored policy made it one that says nothing.
    return undefined;
  }
}

/**
 * Whether there is a header that freshness follows from, or the date of a change that it can be
 * guessed from.
 */
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
