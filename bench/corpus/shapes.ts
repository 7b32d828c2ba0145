import type { Random } from './random.js';

/** The place of the URL in a record. */
export const PLACES = ['first', 'middle', 'last'] as const;
export type Place = (typeof PLACES)[number];

/** A kind of NDJSON record around a URL. */
export interface RecordShape {
  /** Mean size of a record of the corpus, with its line feed. */
  readonly meanBytes: number;
  /** A short description of the records. */
  readonly description: string;
  /** Value of `--url-field`. */
  readonly urlField: string;
  /**
   * One record without a line feed.
   *
   * @param url escaped as in a JSON string
   */
  make(random: Random, url: string, place: Place): string;
}

/** Share of the short records with a rare spelling. */
const RARE_SHARE = 0.035;

/** A record of a crawl frontier: four members. */
const short: RecordShape = {
  meanBytes: 108,
  description: '4 members',
  urlField: 'url',
  make(random, url, place) {
    const members = [
      `"id":${random.below(100_000_000)}`,
      `"depth":${random.below(10)}`,
      `"seen":${1_700_000_000 + random.below(90_000_000)}`,
    ];
    if (random.chance(RARE_SHARE) && !url.includes('\\'))
      return rareRecord(random, url, members.join(','));
    return `{${insert(members, `"url":"${url}"`, place, 2).join(',')}}`;
  },
};

/**
 * A record in a rare spelling: escapes, a nested or quoted decoy that is also named `url`, or a
 * duplicate key, whose last value counts.
 */
function rareRecord(random: Random, url: string, members: string): string {
  const decoy = 'https://decoy.example/private/page.html';
  switch (random.below(6)) {
    case 0:
      return `{"url":"${url.replaceAll('/', '\\/')}",${members}}`;
    case 1:
      return `{"url":"${escapeLetters(url)}",${members}}`;
    case 2:
      return `{"parent":{"url":"${decoy}"},"url":"${url}",${members}}`;
    case 3:
      return `{"url":"${url}","links":[{"url":"${decoy}"},{"url":"\\"}"}],${members}}`;
    case 4:
      return `{"url":"${decoy}",${members},"url":"${url}"}`;
    default:
      return `{ "title" : "\\"url\\":\\"${decoy}\\"", "url" : "${url}", ${members} }`;
  }
}

/** Escapes non-ASCII characters, `&` and the first letter of the path as `\uXXXX`. */
function escapeLetters(url: string): string {
  const path = url.indexOf('/', 8) + 1;
  let escaped = '';
  for (let index = 0; index < url.length; index++) {
    const code = url.charCodeAt(index);
    const plain = code < 0x80 && code !== 0x26 && index !== path;
    escaped += plain ? url.charAt(index) : `\\u${code.toString(16).padStart(4, '0')}`;
  }
  return escaped;
}

/**
 * A row as printed by Common Crawl's index server for a capture of unknown language: ten members, a
 * space after each colon and comma. The server puts the URL third: `middle` here.
 */
const index: RecordShape = {
  meanBytes: 434,
  description: "10 members, as Common Crawl's index",
  urlField: 'url',
  make(random, url, place) {
    const day = `2024${digits(random, 12, 1)}${digits(random, 28, 1)}`;
    const time = `${day}${digits(random, 24)}${digits(random, 60)}${digits(random, 60)}`;
    const segment = `${1_700_000_000_000 + random.below(90_000_000)}.${random.between(10, 99)}`;
    const crawl = `crawl-data/CC-MAIN-2024-${random.between(10, 51)}/segments/${segment}/warc`;
    const archive = `CC-MAIN-${day}201015-${day}231015-${String(random.below(900)).padStart(5, '0')}`;
    const digest = Array.from({ length: 4 }, () => base32(random)).join('');
    const members = [
      `"urlkey": "${urlKey(url)}"`,
      `"timestamp": "${time}"`,
      '"mime": "text/html"',
      '"mime-detected": "text/html"',
      `"status": "${random.below(100) < 90 ? 200 : 404}"`,
      `"digest": "${digest}"`,
      `"length": "${random.between(800, 12_000)}"`,
      `"offset": "${random.between(100_000, 99_999_999)}"`,
      `"filename": "${crawl}/${archive}.warc.gz"`,
    ];
    return `{${insert(members, `"url": "${url}"`, place, 2).join(', ')}}`;
  },
};

/** The key by which archives sort a URL: its host reversed, then its path. */
function urlKey(url: string): string {
  const [, host, path] = /^https?:\/\/(?:www\.)?([^/:]+)(?::\d+)?(.*)$/i.exec(url) ?? [];
  if (host === undefined || path === undefined) return url;
  return `${host.toLowerCase().split('.').reverse().join(',')})${path.toLowerCase()}`;
}

/** Eight base-32 digits. */
function base32(random: Random): string {
  return Math.floor(random.fraction() * 2 ** 40)
    .toString(32)
    .toUpperCase()
    .padStart(8, 'A');
}

/** A number below `limit`, counted from `first`, with two digits. */
function digits(random: Random, limit: number, first = 0): string {
  return String(first + random.below(limit)).padStart(2, '0');
}

const AGENT_HEADER = 'Mozilla/5.0 (compatible; ExampleBot/1.0; +https://bot.example/about)';
const POLICY = "default-src 'self'; img-src * data:; script-src 'self' https://cdn.example";

/**
 * A crawler's log with nested members and the URL at `request.url`; `first`, `middle` and `last`
 * are places of `request` in the record. Other members are named `url` too.
 */
const nested: RecordShape = {
  meanBytes: 1500,
  description: 'nested, the URL at request.url',
  urlField: 'request.url',
  make(random, url, place) {
    const request = `"request":{"method":"GET","url":"${url}","headers":{"accept":"text/html,application/xhtml+xml;q=0.9","accept-encoding":"gzip, br","user-agent":"${AGENT_HEADER}"},"attempt":${random.between(1, 3)}}`;
    const page = random.below(1_000_000);
    const links = Array.from(
      { length: 6 },
      (_, link) =>
        `{"url":"https://links.example/${page}/${link}.html","text":"See \\"page ${link}\\"","rel":["nofollow"]}`,
    );
    const members = [
      `"id":"${hexadecimal(random)}-${hexadecimal(random)}","worker":{"name":"fetcher-${random.below(64)}","url":"https://worker.example/status/${random.below(64)}","queue":{"depth":${random.below(10_000)},"lag":${random.fraction().toFixed(3)}}}`,
      `"referrer":{"url":"https://links.example/${page}/","depth":${random.below(10)}}`,
      `"response":{"status":200,"headers":{"content-type":"text/html; charset=utf-8","server":"nginx","cache-control":"max-age=600, public","etag":"\\"${hexadecimal(random)}\\"","content-security-policy":"${POLICY}","strict-transport-security":"max-age=31536000; includeSubDomains"},"bytes":${random.below(300_000)},"timing":{"dns":${random.fraction().toFixed(4)},"connect":${random.fraction().toFixed(4)},"first_byte":${random.fraction().toFixed(4)},"total":${random.fraction().toFixed(4)}}}`,
      `"links":[${links.join(',')}],"charset":null,"truncated":false,"archive":"crawl-${random.below(1000)}.warc.gz"`,
    ];
    return `{${insert(members, request, place, 2).join(',')}}`;
  },
};

function hexadecimal(random: Random): string {
  return random.uint32().toString(16).padStart(8, '0');
}

/** The members with an additional member at a place; `middle` is the index of the middle place. */
function insert(
  members: readonly string[],
  member: string,
  place: Place,
  middle: number,
): readonly string[] {
  const at = { first: 0, middle, last: members.length }[place];
  return members.toSpliced(at, 0, member);
}

export const SHAPES = { short, index, nested } as const;
export type ShapeName = keyof typeof SHAPES;

/** Where the records of a shape usually have their URL. */
export const USUAL_PLACE: Readonly<Record<ShapeName, Place>> = {
  short: 'first',
  index: 'middle',
  nested: 'middle',
};
