import type { Answer, CapturePlan } from './capture-plan.js';
import { ZipfRanks } from './distribution.js';
import { makeHosts } from './hosts.js';
import { Random } from './random.js';
import { STREAM } from './streams.js';
import { UrlMaker } from './urls.js';

/** A column of the index. */
export interface IndexColumn {
  readonly name: string;
  readonly type: 'text' | 'time' | 'integer';
}

/** Columns of Common Crawl's columnar index (cc-index-table), in its order. */
export const INDEX_COLUMNS: readonly IndexColumn[] = [
  { name: 'url_surtkey', type: 'text' },
  { name: 'url', type: 'text' },
  { name: 'url_host_name', type: 'text' },
  { name: 'url_host_tld', type: 'text' },
  { name: 'url_host_registered_domain', type: 'text' },
  { name: 'url_host_name_reversed', type: 'text' },
  { name: 'url_protocol', type: 'text' },
  { name: 'url_port', type: 'integer' },
  { name: 'url_path', type: 'text' },
  { name: 'url_query', type: 'text' },
  { name: 'fetch_time', type: 'time' },
  { name: 'fetch_status', type: 'integer' },
  { name: 'content_digest', type: 'text' },
  { name: 'content_mime_type', type: 'text' },
  { name: 'content_mime_detected', type: 'text' },
  { name: 'content_charset', type: 'text' },
  { name: 'content_languages', type: 'text' },
  { name: 'warc_filename', type: 'text' },
  { name: 'warc_record_offset', type: 'integer' },
  { name: 'warc_record_length', type: 'integer' },
  { name: 'warc_segment', type: 'text' },
];

/** A row of the index: a value of each column, and what the robots.txt of its URL says. */
export interface IndexRow {
  readonly values: readonly (string | number | null)[];
  readonly url: string;
  /** Identifies the robots.txt: equal for rows with the same answer. */
  readonly authority: string;
  readonly answer: () => Answer;
}

/** Hosts that no archive has, for each host that one has. */
const UNKNOWN_SHARE = 0.1;

/** Share of the URLs of a site that have its other name. */
const ALIAS_SHARE = 0.03;

/** Files of pages that the rows refer to, for each million rows. */
const PAGE_FILES = 900;

const MIME_TYPES = ['text/html', 'text/html', 'text/html', 'text/html', 'application/pdf'];
const DETECTED = ['text/html', 'application/xhtml+xml', 'text/html', 'application/pdf'];
const LANGUAGES = ['eng', 'eng', 'eng', 'deu', 'rus', 'jpn', 'spa', 'fra,eng', 'zho', null];
const STATUSES = [200, 200, 200, 200, 200, 200, 200, 200, 200, 304];

interface Host {
  /** The place of the site in the plan; -1 if no archive has the host. */
  readonly site: number;
  readonly name: string;
  readonly key: string;
}

/**
 * The rows of an index, sorted by SURT as the index is. Popular hosts have more rows than others,
 * by a flattened Zipf law; hosts without a row are left out.
 *
 * @param rows the number of rows
 */
export function* indexRows(plan: CapturePlan, rows: number): Generator<IndexRow> {
  const { seed } = plan.options;
  const hosts = hostsOf(plan);
  const ranks = Array.from(hosts, (_, place) => place);
  new Random(seed, STREAM.index).shuffle(ranks);
  const shares = new ZipfRanks(hosts.length);
  for (const [place, host] of hosts.entries()) {
    const count = shares.countOf(ranks[place] as number, rows);
    if (count > 0) yield* rowsOf(plan, host, count, Math.ceil((rows / 1e6) * PAGE_FILES));
  }
}

function hostsOf(plan: CapturePlan): Host[] {
  const { sites, words, options } = plan;
  const hosts: Host[] = [];
  const known = new Set<string>();
  for (let site = 0; site < sites.count; site++) {
    const name = sites.host(site);
    known.add(name).add(plan.alias(site));
    hosts.push({ site, name, key: surtHost(name) });
  }
  const random = new Random(options.seed, STREAM.index + 16);
  const others = makeHosts(random, words, Math.ceil(sites.count * UNKNOWN_SHARE * 2));
  for (const name of others) {
    if (hosts.length >= sites.count * (1 + UNKNOWN_SHARE)) break;
    if (!known.has(name)) hosts.push({ site: -1, name, key: surtHost(name) });
  }
  return hosts.sort((a, b) => (a.key < b.key ? -1 : a.key > b.key ? 1 : a.site - b.site));
}

/** The rows of one host, sorted by the path as SURT has it. */
function* rowsOf(
  plan: CapturePlan,
  { site, name, key }: Host,
  count: number,
  files: number,
): Generator<IndexRow> {
  const numbers = site >= 0 ? site : hashOf(name);
  const random = new Random(plan.options.seed, STREAM.index + 16 * numbers + 32);
  const urls = new UrlMaker(random, plan.words, { brief: true });
  const patterns = site >= 0 ? plan.sites.urlPatterns(site) : [];
  const made = Array.from({ length: count }, () => {
    const isAlias = site >= 0 && random.chance(ALIAS_SHARE);
    const parsed = new URL(urls.make(isAlias ? plan.alias(site) : name, patterns));
    parsed.hash = '';
    const { href: url, pathname, search } = parsed;
    return { url, parsed, isAlias, surt: `${key})${`${pathname}${search}`.toLowerCase()}` };
  });
  made.sort((a, b) => (a.surt < b.surt ? -1 : a.surt > b.surt ? 1 : 0));
  for (const { url, parsed, isAlias, surt } of made) {
    const scheme = parsed.protocol === 'http:' ? 'http:' : 'https:';
    yield {
      values: valuesOf(random, url, parsed, surt, files),
      url,
      authority: parsed.origin,
      answer: () => (site < 0 ? { kind: 'unknown' } : plan.answer(site, scheme, isAlias)),
    };
  }
}

function valuesOf(
  random: Random,
  url: string,
  { hostname, protocol, port, pathname, search }: URL,
  surt: string,
  files: number,
): (string | number | null)[] {
  const labels = hostname.split('.');
  const segment = `${1_790_000_000_000 + random.below(100) * 7919}.${random.between(10, 99)}`;
  const number = String(random.below(files)).padStart(5, '0');
  const time = Date.UTC(2026, 9, 9) + random.below(14 * 24 * 60 * 60) * 1000;
  return [
    surt,
    url,
    hostname,
    labels.at(-1) ?? '',
    labels.slice(-2).join('.'),
    labels.toReversed().join('.'),
    protocol.slice(0, -1),
    port === '' ? null : Number(port),
    pathname,
    search === '' ? null : search.slice(1),
    time,
    random.pick(STATUSES),
    digest(random),
    random.pick(MIME_TYPES),
    random.pick(DETECTED),
    random.chance(0.95) ? 'UTF-8' : null,
    random.pick(LANGUAGES),
    `crawl-data/CC-MAIN-2026-43/segments/${segment}/warc/CC-MAIN-20261009012345-20261009042345-${number}.warc.gz`,
    random.below(1_100_000_000),
    random.between(900, 60_000),
    segment,
  ];
}

const BASE32 = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** 32 digits of Base32, as a SHA-1 digest has. */
function digest(random: Random): string {
  let text = '';
  for (let group = 0; group < 6; group++) {
    let bits = random.uint32();
    for (let digit = 0; digit < 6 && text.length < 32; digit++) {
      text += BASE32.charAt(bits & 31);
      bits >>>= 5;
    }
  }
  return text;
}

/** A host as SURT has it: reversed, without `www.`. */
function surtHost(name: string): string {
  return name
    .replace(/^www\./, '')
    .split('.')
    .reverse()
    .join(',');
}

/** A number for a host that is no site. */
function hashOf(name: string): number {
  let hash = 0;
  for (let at = 0; at < name.length; at++) hash = (Math.imul(hash, 31) + name.charCodeAt(at)) | 0;
  return (hash >>> 4) | 0x800_0000;
}
