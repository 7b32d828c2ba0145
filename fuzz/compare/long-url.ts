import { words } from '../../test/hostile/pieces.js';
import type { Random } from '../../test/random/random.js';
import { LONG_HOSTS } from './robots-set.js';

/** A URL whose middle is repeated up to the requested length; one character for each byte. */
export interface LongUrl {
  readonly shape: string;
  readonly before: string;
  readonly middle: string;
  /** The filler if the length is not a multiple of the middle's. */
  readonly pad: string;
  readonly after: string;
}

const SCHEMES = words('http:// http:// https:// HTTP:// hTTp:\\/\\ http:/ http:');

/**
 * Fillers of paths, queries and fragments: some grow threefold in canonical form, some keep their
 * length or shrink.
 */
const GROWING = [
  '<',
  '<',
  '"',
  '{}',
  '\x01',
  '\xc3\xa9',
  '\xe2\x82\xac',
  '\xf0\x9f\x98\x80',
  ' ',
  '<a<<<',
];
const OTHERS: readonly string[] = [
  ...words('a ab/ <a /< % %% %3C %61 %3c%2F \\ / . /../ /./ /a/../ ..%2f ? & [] *$ \x7f'),
  'a b',
];
const AFTERS = ['', ...words('z z yz /z ?z #z %7A < \tz \t /deny /../deny /..')];

/** @param tabs whether the URL may have tabs and carriage returns */
export function drawLongUrl(random: Random, tabs: boolean): LongUrl {
  const scheme = random.pick(SCHEMES);
  const host = random.pick(LONG_HOSTS);
  const spelled = random.pick([host, host, host.toUpperCase(), `u:p@${host}`, `${host}:80`]);
  const after = random.pick(tabs ? AFTERS : AFTERS.filter((text) => !text.includes('\t')));
  const end = random.pick(['/deny', '/a', '?z', '/', '']);
  const fill = (shape: string, before: string): LongUrl => {
    const middle = random.pick(random.chance(0.6) ? GROWING : OTHERS);
    return { shape, before: `${scheme}${spelled}${before}`, middle, pad: 'a', after };
  };
  const around = (shape: string, before: string, middle: string, after: string): LongUrl => ({
    shape,
    before,
    middle,
    pad: middle.charAt(0),
    after,
  });
  const ways: (() => LongUrl)[] = [
    () => fill('long path', '/'),
    () => fill('long path', random.pick(['/a', '\\', '/deny', '//', '/%'])),
    () => fill('long query', '/?'),
    () => fill('long query after the host', '?'),
    () => fill('long query after the host', '?'),
    () => fill('long fragment', random.pick(['#', '/#', '/deny#'])),
    () => around('long userinfo', scheme, random.pick(words('u : @ < %3C')), `@${host}${end}`),
    () => around('many slashes', 'http:', random.pick(words('/ \\ /\\')), `${host}${end}`),
    () => around('blanks before', '', random.pick([' ', '\x01', ' \x1f']), `http://${host}${end}`),
    () => around('blanks after', `http://${host}${end}`, random.pick([' ', '\x01']), ''),
    () => around('zeros in the port', `http://${host}:`, '0', `80${end}`),
    () => around('long host', scheme, random.pick(words('a a. %61 \xc3\xa9')), end),
    () => around('no URL', '', random.pick(words('a < / ? \xff')), ''),
  ];
  if (tabs) {
    ways.push(() =>
      around('tabs in the host', `http://${host}`, random.pick(['\t', '\r', '\t\r']), end),
    );
    ways.push(() => around('tabs in the path', `http://${host}/`, '\t', `deny`));
    ways.push(() => around('tabs before a filler', `HTTP://${host}?\t`, '<', after));
  }
  return random.pick(ways)();
}
