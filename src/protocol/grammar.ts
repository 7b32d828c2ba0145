import { CR, TAB } from './octet.js';
import type { Profile } from './profile.js';

/**
 * What a line is about. All keys but `user-agent`, `allow` and `disallow` are "other records" (RFC
 * 9309 section 2.2.4).
 */
export type Key = 'user-agent' | 'allow' | 'disallow' | 'sitemap' | 'crawl-delay' | 'other';

/** One way to write a key. */
export interface Spelling {
  readonly key: Key;
  /** The octets to be found, in lower case. */
  readonly octets: Uint8Array;
  /** Whether a key that goes on after these octets is another one. */
  readonly whole: boolean;
}

/** What a profile takes for a line, a key and a record (RFC 9309 section 2.2). */
export interface Grammar {
  /** Whether the body is limited in size (RFC 9309 section 2.5). */
  readonly limited: boolean;
  /** Whether a byte order mark may be cut short: then any prefix of the UTF-8 one is skipped. */
  readonly partialByteOrderMark: boolean;
  /** Whether a body that starts with the byte order mark of UTF-16 is decoded. */
  readonly utf16: boolean;
  /** Octets of a line that count; the rest of a longer line is dropped. */
  readonly lineOctets: number;
  /** Whether a NUL ends what counts of a line; else it makes the line void. */
  readonly nulEndsLine: boolean;
  /** White space is space and all controls from TAB to this one. */
  readonly lastWhiteSpaceControl: number;
  /** Whether a key needs a colon after it; else white space does between exactly two words. */
  readonly colonRequired: boolean;
  /** The spellings of the keys, tried in this order. */
  readonly spellings: readonly Spelling[];
  /** Whether the empty string is a product token. */
  readonly emptyProductToken: boolean;
}

function spelling(key: Key, text: string, whole: boolean): Spelling {
  return { key, octets: Uint8Array.from(text, (letter) => letter.charCodeAt(0)), whole };
}

const RFC9309: Grammar = {
  limited: true,
  partialByteOrderMark: false,
  utf16: true,
  lineOctets: Number.POSITIVE_INFINITY,
  nulEndsLine: false,
  lastWhiteSpaceControl: TAB,
  colonRequired: true,
  spellings: [
    spelling('disallow', 'disallow', true),
    spelling('allow', 'allow', true),
    spelling('user-agent', 'user-agent', true),
    spelling('sitemap', 'sitemap', true),
    spelling('crawl-delay', 'crawl-delay', true),
  ],
  emptyProductToken: false,
};

const GOOGLE: Grammar = {
  limited: false,
  partialByteOrderMark: true,
  utf16: false,
  lineOctets: 2083 * 8 - 1,
  nulEndsLine: true,
  lastWhiteSpaceControl: CR,
  colonRequired: false,
  spellings: [
    spelling('user-agent', 'user-agent', false),
    spelling('user-agent', 'useragent', false),
    spelling('user-agent', 'user agent', false),
    spelling('allow', 'allow', false),
    spelling('disallow', 'disallow', false),
    spelling('disallow', 'dissallow', false),
    spelling('disallow', 'dissalow', false),
    spelling('disallow', 'disalow', false),
    spelling('disallow', 'diasllow', false),
    spelling('disallow', 'disallaw', false),
    spelling('sitemap', 'sitemap', false),
    spelling('sitemap', 'site-map', false),
    spelling('crawl-delay', 'crawl-delay', true),
  ],
  emptyProductToken: true,
};

/**
 * The grammar of each profile; the draft differs from the RFC only in which groups count, see
 * groups.ts.
 */
export const GRAMMARS: Readonly<Record<Profile, Grammar>> = {
  rfc9309: RFC9309,
  google: GOOGLE,
  'draft-koster-rep-00': RFC9309,
};
