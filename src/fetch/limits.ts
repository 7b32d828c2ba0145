import { DELETE, SPACE } from '../base/ascii.js';
import { isDigit, isLetter } from '../base/characters.js';
import { FOLLOWED_REDIRECTS, parseUrl } from '../http/url.js';
import {
  DAY,
  GREATEST_PARSING_LIMIT,
  LEAST_PARSING_LIMIT,
  type Profile,
} from '../protocol/verdict.js';

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
  const standard = profile === 'google' ? GOOGLE_MAX_BYTES : LEAST_PARSING_LIMIT;
  return { least: LEAST_PARSING_LIMIT, most: GREATEST_PARSING_LIMIT, standard };
}

/** Some servers refuse headers of 4 KiB, with a status that allows everything. */
const MOST_CHARACTERS = 1024;

const EXAMPLE = 'such as MyBot/1.0 (+https://example.com/bot)';

/** What a token may hold besides letters and digits (RFC 9110 section 5.6.2). */
const TOKEN_MARKS = "!#$%&'*+-.^_`|~";

/**
 * Says why a text cannot be sent as a User-Agent header, and what to do; `undefined` if it can. The
 * header begins with the name of a product (RFC 9110 section 10.1.5), and the product tokens of
 * robots.txt have letters (RFC 9309 section 2.2.1). Only printable ASCII is sent: servers read
 * other bytes in different ways.
 */
export function userAgentFault(text: string): string | undefined {
  const codes = [...text].map((character) => character.codePointAt(0) ?? 0);
  const [first] = codes;
  if (first === undefined) return `It is empty. Begin with your product token, ${EXAMPLE}.`;
  const at = codes.findIndex((code) => code < SPACE || code >= DELETE);
  if (at >= 0) {
    return (
      `Character ${at + 1} is ${nameOf(codes[at] ?? 0)}; headers have printable ASCII characters ` +
      `only, ${EXAMPLE}.`
    );
  }
  if (!isLetter(first) && !isDigit(first) && !TOKEN_MARKS.includes(String.fromCharCode(first))) {
    return `Character 1 is "${String.fromCharCode(first)}". Begin with your product token, ${EXAMPLE}.`;
  }
  if (!codes.some(isLetter)) {
    return `It has no letter, so no product token. Begin with your product token, ${EXAMPLE}.`;
  }
  if (codes.length > MOST_CHARACTERS) {
    return `It has ${codes.length} characters, and servers refuse long headers. Give at most ${MOST_CHARACTERS}.`;
  }
  return undefined;
}

/** A code point as Unicode writes it: `U+000A`. */
function nameOf(code: number): string {
  return `U+${code.toString(16).toUpperCase().padStart(4, '0')}`;
}

/** How a proxy is written. */
export const PROXY_EXAMPLE = 'such as http://proxy.example:3128';

/**
 * Reads the URL of a proxy, `http://NAME:PASSWORD@HOST:PORT`; without a scheme it is http. Returns
 * a string if the text is none, with the reason. The reason never holds the text, which may hold a
 * password.
 */
export function parseProxyUrl(text: string): URL | string {
  const url = parseUrl(text.includes('://') ? text : `http://${text}`);
  if (url === undefined || url.hostname === '') return 'it is not a URL';
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    return 'only http and https proxies are supported';
  }
  const isBare = url.pathname === '/' && url.search === '' && url.hash === '';
  return isBare ? url : 'it has more than a host and a port';
}
