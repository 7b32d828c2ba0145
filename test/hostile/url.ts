import type { Profile } from '../../src/protocol/verdict.js';
import type { Random } from '../random/random.js';
import { DOT_ENDS, HEX_DIGITS, LETTERS, piece, pieces, respelt, words } from './pieces.js';

const PLAIN = words('http://h.example https://h.example http://h https://www.example.com');

const ODD = [
  ...words(
    'HTTP://H.EXAMPLE ftp://h.example http://h.example:8080 https://h.example:443 http://h:',
  ),
  ...words(
    'http:h.example http:/h.example http:\\\\h.example http:///h.example http:\\/\\h.example',
  ),
  ...words('http://user@h.example http://user:pass@h http://a:b@c:d@h.example:81 http://:@h'),
  ...words('http://@h http://us%40er@h http://u;x@h http://u[s]er@h http://h# http://h#/a'),
  ...words(
    'http://[::1] http://[2001:DB8::1]:80 http://[::ffff:1.2.3.4] http://127.1 http://0x7f.1',
  ),
  ...words('http://0300.0.0.1 http://4294967295 http://1.2.3.4. http://h.example. http://a..b'),
  ...words("http://a_b http://-a- http://a;b http://a'b http://a!$&()*+,=b http://%68%2Eexample"),
  ...words(
    'http://m\xc3\xbcnchen.example http://xn--mnchen-3ya.example http://\xef\xbc\xa1.example',
  ),
  ...words('h\tt\ntp://h.example http:/\r/h.ex\tample http://h.example:80\t80 HtTpS:\\h'),
];

/** Invalid schemes, hosts and ports by the URL Standard. */
const BAD = [
  ...words('http://h:65536 http://h:80a http://h:-1 http://[::1 http://[::g] http://[1.2.3.4]'),
  ...words('http://a<b http://a|b http://a^b http://a%2Fb http://a%00b http://a%b http://a%zzb'),
  ...words(
    'http://1.2.3.4.5 http://256.256.256.256 http://1.2.3.09 http://xn--a http://\xff.example',
  ),
  ...words('http://u@ http://u:p@ http://:80 http://a\x01b http://\xc2\xad ws://h wss://h'),
  ...words('file://h file:// mailto: a://b view-source:http://h data:'),
  'http://a b',
];

const NO_URLS = [
  ...words('http: http:// https:/// http:\\\\ http://?x http://#x http://@/ ftp: http://:/'),
  ...words('mailto:x javascript:alert(/x) data:,/a about:blank urn:a:b tel:1 blob:http://h/a'),
];

/** Beginnings that google/robotstxt, which reads any string, reads in its own way. */
const GOOGLE_STARTS = [
  ...['', '//', '//h', 'h', '://', 'x://', '/a?u=http:', 'a;b://h', '#', 'a#b://h', '//h;', '?'],
  ...[
    'h?',
    'http://h;',
    'mailto:',
    ' http://h',
    '\\',
    'http:',
    'http:/',
    '/',
    '///',
    'a:b://c',
    '\0',
  ],
];

const ROBOTS_TARGETS = [
  ...words('/robots.txt /robots.txt /robots.txt? /robots.txt?x /robots.txt#x /robots.txt/'),
  ...words('/Robots.txt /a/../robots.txt /./robots.txt /%72obots.txt /robots%2Etxt //robots.txt'),
];

/**
 * A URL, most often one that a pattern of the file may match.
 *
 * @param usual the beginning of most URLs: scheme, host and port
 */
export function hostileUrl(
  random: Random,
  profile: Profile,
  patterns: readonly string[],
  usual: readonly string[] = PLAIN,
): string {
  if (random.chance(0.02)) return random.pick(NO_URLS);
  let url = authority(random, profile, usual) + target(random, patterns);
  if (random.chance(0.05)) url += '?';
  if (random.chance(0.1)) url += `#${pieces(random, 0, 2)}`;
  if (random.chance(0.04)) url = url.split('/').join(random.pick(words('\\ // /./ /a/../')));
  if (random.chance(0.06)) url = inserted(random, url, ['\t', '\n', '\r', '\r\n']);
  if (random.chance(0.05)) url = random.pick([' ', '\x01', '\t ', '\x1f']) + url;
  if (random.chance(0.05)) url += random.pick([' ', '\x01', '\n', '\0', '  ']);
  if (profile === 'google' && random.chance(0.04)) {
    url = inserted(random, url, ['\0', '\0', ...words('# ; :// //')]);
  }
  return url;
}

/** Everything before the path; a relative reference has nothing. */
function authority(random: Random, profile: Profile, usual: readonly string[]): string {
  if (random.chance(0.01)) return '';
  if (random.chance(0.01)) return random.pick(BAD);
  if (random.chance(0.15)) return random.pick(ODD);
  if (profile === 'google' && random.chance(0.1)) return random.pick(GOOGLE_STARTS);
  return random.pick(usual);
}

/** Path and query. */
function target(random: Random, patterns: readonly string[]): string {
  if (random.chance(0.02)) return random.pick(ROBOTS_TARGETS);
  let text: string;
  if (patterns.length > 0 && random.chance(0.75)) text = fulfilled(random, random.pick(patterns));
  else if (random.chance(0.05))
    text = random.pick(words('a ab aab a/')).repeat(random.between(20, 60));
  else text = pathAndQuery(random, 0, 5);
  if (random.chance(0.04)) text += random.pick(DOT_ENDS);
  if (text.endsWith('/') && random.chance(0.3)) text += random.pick(words('. .. b/.. %2E b/%2e.'));
  // Without the slash the text after the host usually belongs to the host.
  return random.chance(0.03) || '/?#\\'.includes(text.charAt(0)) ? text : `/${text}`;
}

/** A text that a pattern may match: the pattern with each `*` filled in. */
function fulfilled(random: Random, pattern: string): string {
  const isAnchored = pattern.endsWith('$');
  const [first = '', ...rest] = (isAnchored ? pattern.slice(0, -1) : pattern).split('*');
  let text = first;
  for (const literal of rest) {
    text += random.chance(0.1) ? '*' : swallowed(random, text, literal);
    text += literal;
  }
  if (random.chance(isAnchored ? 0.1 : 0.5)) text += missingDigits(random, text);
  const index = text.indexOf('index.htm');
  if (index >= 0 && random.chance(0.4)) {
    text = text.slice(0, random.chance(0.7) ? index : text.lastIndexOf('/') + 1);
  }
  if (random.chance(0.4)) text = respelt(random, text);
  if (random.chance(isAnchored ? 0.2 : 0.5)) text += pathAndQuery(random, 1, 3);
  return random.chance(0.1) ? text.slice(0, -1) : text;
}

/**
 * The text for a `*` between two texts: often the rest of an encoded byte that the first text
 * begins or the second ends.
 */
function swallowed(random: Random, before: string, after: string): string {
  let run = pathAndQuery(random, 0, 2);
  if (random.chance(0.2)) run += `?${random.run(LETTERS, 0, 1)}`;
  if (random.chance(0.6)) run = missingDigits(random, before) + run;
  if (random.chance(0.3)) run += missingHead(random, after);
  return run;
}

/** The digits missing from an encoded byte at the end of a text, if one begins there. */
function missingDigits(random: Random, text: string): string {
  if (text.endsWith('%')) return random.pick(HEX_DIGITS) + random.pick(HEX_DIGITS);
  return text.at(-2) === '%' && isHexDigit(text.at(-1)) ? random.pick(HEX_DIGITS) : '';
}

/** The beginning of an encoded byte whose digits begin the text, if there are such digits. */
function missingHead(random: Random, text: string): string {
  if (!isHexDigit(text[0])) return '';
  return isHexDigit(text[1]) && random.chance(0.5) ? '%' : `%${random.pick(HEX_DIGITS)}`;
}

function isHexDigit(byte: string | undefined): boolean {
  return byte !== undefined && '0123456789ABCDEFabcdef'.includes(byte);
}

function pathAndQuery(random: Random, low: number, high: number): string {
  let text = '';
  for (let count = random.between(low, high); count > 0; count--) {
    text += random.chance(0.15) ? '?' : piece(random);
  }
  return text;
}

/** The text with one of the items inserted somewhere. */
function inserted(random: Random, text: string, items: readonly string[]): string {
  const place = random.between(0, text.length);
  return text.slice(0, place) + random.pick(items) + text.slice(place);
}
