import { CR, TAB } from '../ascii.js';
import type { Profile } from './profile.js';

/**
 * The meaning of a line. All keys but `user-agent`, `allow` and `disallow` are "other records" (RFC
 * 9309 section 2.2.4).
 */
export type Key = 'user-agent' | 'allow' | 'disallow' | 'sitemap' | 'crawl-delay' | 'other';

/** One spelling of a key. */
export interface Spelling {
  readonly key: Key;
  /** The key in lower case. */
  readonly bytes: Uint8Array;
  /** Whether a longer key that begins with these bytes is another key. */
  readonly whole: boolean;
}

/** The way in which a profile reads lines, keys and records (RFC 9309 section 2.2). */
export interface Grammar {
  /** Whether the body is limited in size (RFC 9309 section 2.5). */
  readonly limited: boolean;
  /** Whether any prefix of the UTF-8 byte order mark is skipped too. */
  readonly partialByteOrderMark: boolean;
  /** Whether a body that starts with the byte order mark of UTF-16 is decoded. */
  readonly utf16: boolean;
  /** Maximum length of a line, in bytes. The rest of a longer line is dropped. */
  readonly lineBytes: number;
  /** Whether a NUL ends a line's content; otherwise the line is ignored. */
  readonly nulEndsLine: boolean;
  /** The last of the controls from TAB on that count as white space, like the space. */
  readonly lastWhiteSpaceControl: number;
  /** Whether a key needs a colon; otherwise white space separates exactly two words. */
  readonly colonRequired: boolean;
  /** The spellings of keys, in the order in which they are tried. */
  readonly spellings: readonly Spelling[];
  /** Whether the empty string is a product token. */
  readonly emptyProductToken: boolean;
}

function spelling(key: Key, text: string, whole: boolean): Spelling {
  return { key, bytes: Uint8Array.from(text, (letter) => letter.charCodeAt(0)), whole };
}

const RFC9309: Grammar = {
  limited: true,
  partialByteOrderMark: false,
  utf16: true,
  lineBytes: Number.POSITIVE_INFINITY,
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
  lineBytes: 2083 * 8 - 1,
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

/** The grammar of each profile. The draft differs from the RFC only in groups.ts. */
export const GRAMMARS: Readonly<Record<Profile, Grammar>> = {
  rfc9309: RFC9309,
  google: GOOGLE,
  'draft-koster-rep-00': RFC9309,
};
