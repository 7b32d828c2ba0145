import { isUtf8 } from 'node:buffer';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { readWhatwgUrl } from '../../oracle/url.js';
import type { Judgement } from '../../src/library/index.js';
import { isBinary } from '../../src/protocol/encoding.js';
import type { AccessResult, Profile } from '../../src/protocol/verdict.js';
import { type HostileFile, hostileFile } from '../../test/hostile/file.js';
import type { Random } from '../../test/random/random.js';
import { library } from './library.js';

/**
 * The places of the robots.txt files: the layouts that `--robots-dir` accepts, and a table compiled
 * from one of them.
 */
export const LAYOUTS = [
  ...(['host', 'host.txt', 'host-robots.txt', 'host/robots.txt', 'scheme/host'] as const),
  ...(['ndjson', 'ndjson.gz', 'table'] as const),
] as const;
export type Layout = (typeof LAYOUTS)[number];

/** A host, the beginnings of its URLs, and its robots.txt. */
export interface Host {
  /** As in a file name: `example.com`, `example.com:8080`. */
  readonly name: string;
  /** The scheme, if only that scheme counts. */
  readonly scheme: 'http' | 'https' | 'ftp' | undefined;
  /** Beginnings of URLs, one character for each byte. */
  readonly starts: readonly string[];
  readonly access: AccessResult;
  /** One character for each byte. */
  readonly robots: string;
  readonly patterns: readonly string[];
}

/**
 * The robots.txt files of a round, in the layout for the command line and as the library's table.
 */
export interface RobotsSet {
  readonly layout: Layout;
  readonly hosts: readonly Host[];
  /** The library's verdict on a URL, given as bytes. */
  readonly judge: (url: Uint8Array, agent: string) => Judgement;
  /** The source of the robots.txt of a URL's authority; empty if there is none. */
  readonly sourceOf: (url: Uint8Array) => string;
}

/** Allows and denies by the path only: the host of short records, so that their loss is visible. */
export const PROBE_HOST = 'probe.example';
/**
 * Rules about the last byte, with and without a `*`, so that no part of a long URL can be lost
 * unnoticed.
 */
export const LONG_HOSTS = ['h', 'h.example', 'long.example', PROBE_HOST];

const HOSTS = 300;
const ENCODER = 'latin1';

export function drawRobotsSet(random: Random, profile: Profile, layout: Layout): RobotsSet {
  const hosts = drawHosts(random, profile);
  const table = new library.TableBuilder({ profile });
  // Every URL is denied, so that the rule shows the source of its host's robots.txt.
  const sources = new library.TableBuilder({ profile });
  const denyAll = Buffer.from('user-agent: *\ndisallow: /\n');
  const sourceOf = new Map<string, string>();
  hosts.forEach((host, index) => {
    const parsed = library.parseAuthority(host.name);
    if (parsed === undefined) throw new Error(`${host.name} is not a host`);
    const authority = { ...parsed, scheme: host.scheme };
    const source = sourceName(host, layout, index);
    table.add(authority, Buffer.from(host.robots, ENCODER), { source, access: host.access });
    sources.add(authority, denyAll, { source });
    for (const scheme of host.scheme === undefined ? (['http', 'https'] as const) : [host.scheme]) {
      // An authority that names its scheme counts first.
      const name = library.formatAuthority({ ...authority, scheme });
      if (host.scheme !== undefined || !sourceOf.has(name)) sourceOf.set(name, source);
    }
  });
  const judging = library.Table.from(table.build());
  const denying = library.Table.from(sources.build());
  return {
    layout,
    hosts,
    // The library takes texts too.
    judge: (url, agent) => judging.verdict(isUtf8(url) ? Buffer.from(url).toString() : url, agent),
    sourceOf: (url) => {
      const { rule } = denying.verdict(url, '*');
      if (rule?.source !== undefined) return rule.source;
      // Nothing denies /robots.txt: the source of its authority is found in another way.
      const read = readWhatwgUrl(url);
      return read === undefined ? '' : (sourceOf.get(library.formatAuthority(read)) ?? '');
    },
  };
}

function drawHosts(random: Random, profile: Profile): Host[] {
  const hosts: Host[] = [];
  const add = (name: string, starts: readonly string[], host: Partial<Host> = {}): void => {
    const { robots, patterns } = drawText(random, profile);
    const draw = {
      name,
      scheme: undefined,
      starts,
      access: 'successful',
      robots,
      patterns,
    } as const;
    hosts.push({ ...draw, ...host });
  };
  const rules = 'user-agent: *\ndisallow: /deny\ndisallow: /*z$\nallow: /*yz$\ndisallow: /*?*%3C\n';
  const patterns = ['/deny', '/*z$', '/*yz$'];
  for (const name of LONG_HOSTS) {
    add(name, [`http://${name}`, `https://${name}`], { robots: rules, patterns });
  }
  add('h', ['http://h'], { scheme: 'http', robots: rules, patterns });
  for (const name of ['www.example.com', 'k', 'a_b', '127.0.0.1', '[::1]']) {
    add(name, [`http://${name}`, `HTTPS://u:p@${name}`]);
  }
  add('xn--mnchen-3ya.example', [
    'http://m\xc3\xbcnchen.example',
    'https://xn--MNchen-3ya.example',
  ]);
  add('h.example:8080', ['http://h.example:8080', 'https://H.example:08080']);
  for (let number = hosts.length; number < HOSTS; number++) {
    const name = `k${number}.example`;
    const access = random.pick(['unavailable', 'unreachable', ...SUCCESSES] as const);
    const scheme = random.pick([undefined, undefined, undefined, 'http', 'https', 'ftp'] as const);
    const port = random.chance(0.1) ? `:${random.between(1024, 65535)}` : '';
    const first = scheme ?? 'http';
    const starts = [
      ...[`${first}://${name}${port}`, `${first}://${name}${port}`, `${first}://${name}${port}`],
      `${first.toUpperCase()}://K${number}.EXAMPLE.${port}`,
      `${first}://user:pass@${name}${port}`,
      `${first}:\\\\k${number}%2Eexample${port}`,
      `https://${name}`,
      `http://${name}:8081`,
    ];
    add(`${name}${port}`, starts, { access, scheme });
  }
  return hosts;
}

/** A hostile robots.txt that a cache accepts as text; a skipped file belongs to no host. */
function drawText(random: Random, profile: Profile): HostileFile {
  for (;;) {
    const file = hostileFile(random, profile, { urls: 0, chains: 0 });
    if (!isBinary(Buffer.from(file.robots, ENCODER))) return file;
  }
}

const SUCCESSES = Array.from({ length: 14 }, () => 'successful' as const);

/** The source of a host's robots.txt that `--explain` names. */
function sourceName({ name, scheme, access }: Host, layout: Layout, index: number): string {
  if (isRecords(layout)) return `hosts.${layout}:${index + 1}`;
  const prefix = scheme === undefined ? '' : `${scheme}/`;
  if (access !== 'successful') return `${prefix}${name}/robots.json`;
  switch (layout) {
    case 'host.txt':
      return `${prefix}${name}.txt`;
    case 'host-robots.txt':
      return `${prefix}${name}-robots.txt`;
    case 'host/robots.txt':
      return `${prefix}${name}/robots.txt`;
    case 'scheme/host':
    case 'table':
      return scheme === undefined ? name : `${prefix}${name}/robots.txt`;
    default:
      return `${prefix}${name}`;
  }
}

function isRecords(layout: Layout): layout is 'ndjson' | 'ndjson.gz' {
  return layout === 'ndjson' || layout === 'ndjson.gz';
}

/** Writes the files for the command line into a new directory. */
export function writeRobotsSet({ hosts, layout }: RobotsSet, directory: string): void {
  mkdirSync(directory, { recursive: true });
  if (isRecords(layout)) {
    const text = hosts.map((host) => `${JSON.stringify(recordOf(host))}\n`).join('');
    writeFileSync(join(directory, `hosts.${layout}`), layout === 'ndjson' ? text : gzipSync(text));
    return;
  }
  hosts.forEach((host, index) => {
    const path = join(directory, sourceName(host, layout, index));
    mkdirSync(dirname(path), { recursive: true });
    const { access, robots } = host;
    const finding = JSON.stringify({ accessResult: access });
    writeFileSync(path, access === 'successful' ? Buffer.from(robots, ENCODER) : finding);
  });
}

const STATUSES = { successful: 200, unavailable: 404, unreachable: 503 } as const;

function recordOf({ name, scheme, access, robots }: Host): object {
  const whose = scheme === undefined ? { host: name } : { url: `${scheme}://${name}/robots.txt` };
  const body = Buffer.from(robots, ENCODER).toString('base64');
  return { ...whose, status: STATUSES[access], robots_base64: body };
}
