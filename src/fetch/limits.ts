import { FOLLOWED_REDIRECTS } from '../http/url.js';
import { DAY } from '../protocol/access.js';
import { MAX_BYTES, MIN_BYTES } from '../protocol/parsing-limits.js';
import type { Profile } from '../protocol/profile.js';

/*
 * The ranges and defaults of the settings for fetching. The command line shows them in its help, so
 * this file imports no code that contacts the network.
 */

/** The whole numbers that an option accepts, both bounds included, and its default. */
export interface Range {
  readonly least: number;
  readonly most: number;
  readonly standard: number;
}

/** Ranges by option. Times are in milliseconds. */
export const RANGES = {
  concurrency: { least: 1, most: 4096, standard: 64 },
  perAddress: { least: 1, most: 4096, standard: 4 },
  pause: { least: 0, most: DAY, standard: 1_000 },
  retries: { least: 0, most: 20, standard: 2 },
  /** RFC 9309 section 2.3.1.2 requires at least five. */
  maxRedirects: { least: 0, most: 100, standard: FOLLOWED_REDIRECTS },
  connectTimeout: { least: 1, most: DAY, standard: 10_000 },
  headerTimeout: { least: 1, most: DAY, standard: 20_000 },
  bodyTimeout: { least: 1, most: DAY, standard: 20_000 },
  deadline: { least: 1, most: DAY, standard: 60_000 },
  /** RFC 9309 section 2.4 requires at most a day. */
  maxAge: { least: 0, most: 366 * DAY, standard: DAY },
} as const satisfies Readonly<Record<string, Range>>;

/** At the default concurrency, this is 512 MiB in all. */
const GOOGLE_MAX_BYTES = 8 * 2 ** 20;

/**
 * The range of the number of bytes of a body that are kept. The profile `google` reads the whole
 * file.
 */
export function maxBytesRange(profile: Profile | undefined): Range {
  const standard = profile === 'google' ? GOOGLE_MAX_BYTES : MIN_BYTES;
  return { least: MIN_BYTES, most: MAX_BYTES, standard };
}
