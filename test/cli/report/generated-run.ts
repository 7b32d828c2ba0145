import { TableBuilder } from '../../../src/compile/table-builder.js';
import { parseAuthority } from '../../../src/protocol/authority.js';
import { Random } from '../../random/random.js';
import { type Workplace, workplace } from '../command-line.js';

/** Agents of a generated run. The third asks for GPTBot's group, and without one for CCBot's. */
export const AGENTS = ['GPTBot', 'CCBot', 'GPTBot>CCBot', '*', 'Other'] as const;

export type AgentName = (typeof AGENTS)[number];

/** A robots.txt of the table. */
export interface GeneratedFile {
  readonly host: string;
  /** The name of its authority in reports. */
  readonly label: string;
  readonly source: string;
  /** `undefined` if there is none: see `status`. */
  readonly robots: string | undefined;
  /** 404 for an unavailable robots.txt, 503 for an unreachable one. */
  readonly status: number | undefined;
  /** Milliseconds since 1970. */
  readonly date: number | undefined;
}

/** A table of many hosts with files of all kinds, and URLs of these and of other hosts. */
export interface GeneratedRun {
  /** Holds `robots.table`, and the inputs `urls.txt` and `urls.ndjson`. */
  readonly place: Workplace;
  readonly files: readonly GeneratedFile[];
  readonly inputs: readonly string[];
  /** Bytes of both inputs. */
  readonly bytes: number;
  /** Records of both inputs: blank lines are none. */
  readonly records: number;
}

const HOSTS = 300;
const HOUR = 60 * 60 * 1000;
/** Milliseconds since 1970 beyond which a robots.txt is stale. */
export const STALE_BEFORE = Date.now() - 24 * HOUR;

const TOKENS = ['*', 'GPTBot', 'CCBot', 'other', 'Ünknown-bot', 'x_bot'];
const PATHS = ['/', '/a', '/a/b', '/c', '/<b>&"', '/d/*.gif$', '/e*f', '/q?x=', '/\u00fc', '/g$'];
/** Files that forbid everything to some agents, and not to `*`. */
const SHUT_OUT = [
  'User-agent: GPTBot\nUser-agent: CCBot\nDisallow: /\n\nUser-agent: *\nDisallow: /a\n',
  'User-agent: other\nDisallow: /\n',
];
const OTHERS = [
  'Crawl-delay: 3',
  'Sitemap: https://a.example/s.xml',
  'Content-Usage: train-ai=n',
  'Content-Signal: ai-train=no, search=yes',
  'License: https://a.example/l.xml',
  '# a comment',
  'Unknown-key: value',
  '',
];
const URL_PATHS = [...PATHS, '', '/a/b/c', '/d/x.gif', '/d/x.gif?', '/exf', '/z', '/robots.txt'];

/** A robots.txt in which no two rules have the same path, so that each rule can decide. */
function robotsTxt(random: Random): string {
  const paths = PATHS.filter(() => random.chance(0.6));
  const lines: string[] = [];
  const others = () => {
    while (random.chance(0.25)) lines.push(random.pick(OTHERS));
  };
  others();
  for (let groups = random.between(0, 4); groups > 0; groups--) {
    for (let tokens = random.between(1, 2); tokens > 0; tokens--) {
      lines.push(`User-agent: ${random.pick(TOKENS)}`);
      others();
    }
    if (random.chance(0.1)) lines.push('Disallow:');
    for (let rules = random.between(0, 4); rules > 0; rules--) {
      const path = paths.splice(random.between(0, paths.length), 1)[0];
      if (path !== undefined) lines.push(`${random.pick(['Allow', 'Disallow'])}: ${path}`);
      others();
    }
  }
  return `${lines.join('\n')}\n`;
}

function generatedFile(random: Random, host: string, label: string, bodies: string[]) {
  const status = random.chance(0.15) ? random.pick([404, 503]) : undefined;
  const date = random.pick([undefined, STALE_BEFORE + HOUR, STALE_BEFORE - HOUR]);
  const source = `files/${label}/"robots".txt`;
  const robots = status === undefined ? random.pick(bodies) : undefined;
  return { host, label, source, robots, status, date };
}

/** A record with a URL, or one of those that have none. */
function ndjsonRecord(random: Random, url: () => string): string {
  if (random.chance(0.9)) return JSON.stringify({ id: random.between(0, 9), url: url() });
  return random.pick(['{}', '[1]', '{"url":5}', '{"url":', '"text"', '{"url":"no url"}']);
}

function textRecord(random: Random, url: () => string): string {
  if (random.chance(0.97)) return url();
  return random.pick(['no url', 'https://h1.example/\tx', 'https://h1.example/\rx', 'mailto:x@y']);
}

/** Makes a run. Some hosts have many URLs, some have one or none, and some are not known. */
export function generatedRun(seed: number): GeneratedRun {
  const random = new Random(seed);
  const bodies = Array.from({ length: 60 }, (_, index) => {
    const start = index < 4 ? '<!doctype html>\n' : '';
    return start + robotsTxt(random);
  });
  bodies.push(...SHUT_OUT);
  const files = Array.from({ length: HOSTS }, (_, index): GeneratedFile[] => {
    const host = `h${index}.example`;
    const labels = [host];
    if (random.chance(0.1)) labels.push(`${host}:8080`);
    if (random.chance(0.1)) labels.push(`https://${host}:8443`);
    return labels.map((label) => generatedFile(random, host, label, bodies));
  }).flat();
  const url = (): string => {
    const host = `h${Math.floor(random.number() ** 4 * (HOSTS + 40))}.example`;
    const root = random.pick([`https://${host}`, `http://${host}`, `https://${host}:8080`]);
    return `${random.chance(0.05) ? `https://${host}:8443` : root}${random.pick(URL_PATHS)}`;
  };
  const texts = Array.from({ length: 4_000 }, () => textRecord(random, url));
  const records = Array.from({ length: 1_500 }, () => ndjsonRecord(random, url));
  const contents = { 'urls.txt': `${texts.join('\n')}\n\n`, 'urls.ndjson': records.join('\n\n') };
  const place = workplace();
  const builder = new TableBuilder({ records: true });
  for (const { label, robots, source, status, date } of files) {
    const authority = parseAuthority(label);
    if (authority === undefined) throw new Error(`${label} is not an authority`);
    builder.add(authority, robots ?? '', { source, status, date });
  }
  place.write('robots.table', builder.build());
  for (const [name, content] of Object.entries(contents)) place.write(name, content);
  return {
    place,
    files,
    inputs: Object.keys(contents),
    bytes: Object.values(contents).reduce((sum, text) => sum + Buffer.byteLength(text), 0),
    records: texts.length + records.length,
  };
}
