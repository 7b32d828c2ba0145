import type { Random } from '../random/random.js';

/*
 * The pieces of random patterns and paths: a small alphabet, so that rules match and tie, and every
 * spelling that the specifications distinguish. All texts are strings of bytes, one character
 * U+0000 to U+00FF each.
 */

/** The words of a text. */
export function words(text: string): string[] {
  return text.split(' ');
}

export const LETTERS = words('a b ab A x');
export const ESCAPED_DELIMITERS = words('%3A %3a %2F %2f %3F %3f %40 %5B %5b %5D %5d');
/** Bytes that stay percent-encoded, except ESCAPED_DELIMITERS in a query. */
export const ENCODED = [
  ...words('%20 %20 %2F %2F %2f %25 %26 %3A %3D %5B %7C %24 %2A %00 %FF %C3%A9 %c3%a9 %E3%83%84'),
  ...words('%%20 %%2F %2%46 %%32F'),
];
/** Digits of encoded bytes, in proportion to how often the bytes stay encoded. */
export const HEX_DIGITS = words('2 2 2 3 5 0 A C F f 9 E');
export const INDEXES = words(
  '/index.htm /index.html /index.html/ index.html /a/index.htm /index.htm/a',
);
/** Ends of a path that the URL Standard reads as dot segments, and similar ends that are none. */
export const DOT_ENDS = words('/. /.. /./ /../ /%2e /.%2E /%2e%2E/ /... /.%2 /..a /b/..');

/** Pieces by kind; a kind that is listed more often is likelier. */
const KINDS: readonly (readonly string[])[] = [
  ...[LETTERS, LETTERS, LETTERS, LETTERS],
  words('/ / / / /a /b/'),
  words('~ - _ .'),
  words('%61 %62 %41 %78 %7E %7e %2E %2e %2D'),
  words(': / ? @ [ ]'),
  words(': / ? @ [ ]'),
  ...[ESCAPED_DELIMITERS, ESCAPED_DELIMITERS],
  words("! & ' ( ) + , ; ="),
  words('%21 %26 %27 %28 %2B %2b %2C %3B %3D'),
  words('* $ %2A %2a %24'),
  [...words('" < > \\ ^ ` { | }'), ' ', '\x01', '\x0b', '\x7f'],
  words('%22 %3C %3c %5C %5c %7C %20 %01 %7F %7f %00'),
  words('\xc3\xa9 \xff \x80 \xe3\x83\x84 \xc3'),
  words('%C3%A9 %c3%a9 %FF %ff %80 %E3%83%84 %E3%83%8 %C3'),
  words('% %2 %3 %zz %% %%41 %%33A %4g %25 %2541 2F 3A'),
  words('. .. /./ /../ .gif /. /.. /%2e/ /%2E%2e/ /.%2e /.b/'),
  INDEXES,
];

export function piece(random: Random): string {
  return random.pick(random.pick(KINDS));
}

/** A run of `low` to `high` pieces. */
export function pieces(random: Random, low: number, high: number): string {
  let text = '';
  for (let count = random.between(low, high); count > 0; count--) text += piece(random);
  return text;
}

/** Spellings that some profile takes for the same. */
const SPELLINGS: readonly (readonly string[])[] = [
  ...['a %61', 'b %62', 'A %41', '~ %7E', '. %2E', 'x %78', '%7E %7e'].map(words),
  ...['/ %2F', ': %3A', '? %3F', '@ %40', '[ %5B', '] %5D', '%3A %3a', '%2F %2f'].map(words),
  ...['& %26', "' %27", '+ %2B', '= %3D', '; %3B', '! %21', '%5B %5b'].map(words),
  ...['* %2A', '$ %24', '% %25', '" %22', '| %7C', '\\ %5C', '\x7f %7F'].map(words),
  ...['\xff %FF', '\xc3\xa9 %C3%A9', '%C3 %c3', '%2A %2a'].map(words),
  [' ', '%20'],
];

/** The same text in other spellings; some of them mean the same. */
export function respelt(random: Random, text: string): string {
  let result = text;
  for (let count = random.between(1, 3); count > 0; count--) {
    const pair = random.pick(SPELLINGS);
    const from = random.pick(pair);
    const to = random.pick(pair);
    result = random.chance(0.5) ? result.replace(from, () => to) : result.split(from).join(to);
  }
  return result;
}
