/**
 * The example of a report, docs/example.html: an audit of hosts that do not exist. Their robots.txt
 * files are drawn from a seed, and the date of the report is fixed, so that the page is the same
 * wherever it is made.
 */

import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { crc32 } from 'node:zlib';
import { printableJson } from '../src/base/control-characters.js';
import type { AuditFigures } from '../src/cli/report/audit-figures.js';
import { auditStory } from '../src/cli/report/audit-story.js';
import { pageOf } from '../src/cli/report/page-parts.js';
import { Random } from '../test/random/random.js';

export const EXAMPLE_PAGE = 'docs/example.html';
export const EXAMPLE_PICTURE = 'docs/example.png';

/** The name of the file of hosts: the page shows it as its source. */
const HOSTS_FILE = 'made-up-hosts.ndjson';

/** The command that counts the figures of the page. */
const COMMAND: readonly string[] = [
  'audit',
  '--quiet',
  '--robots-dir',
  HOSTS_FILE,
  '--agent',
  '@ai-training',
  '--report',
  'example.json',
];

const PROGRAM = fileURLToPath(new URL('../dist/cjs/main.cjs', import.meta.url));

const SEED = 49;
const CREATED = '2026-11-28T12:00:00.000Z';
const DAYS = ['2026-10-06', '2026-11-17'];

const FIRST_WORDS =
  `amber birch cedar clover copper coral dune ember fern fjord flint garnet harbour hazel heron indigo ivory
  juniper lantern larch linden maple marble meadow mill moss oak opal orchard otter pebble pine plover quartz raven reed river
  saffron sage slate sorrel sparrow spruce tern thistle timber walnut willow wren`.split(/\s+/);
const LAST_WORDS =
  'books bakery daily forum gallery journal kitchen maps radio school shop studio times'.split(' ');
const OWN_WORDS =
  'admin archive basket cart drafts export internal login members preview private search tags tmp'.split(
    ' ',
  );

/** The robots.txt of a platform that all its customers have. */
const PLATFORM = `# The same file for every site of the platform.
User-agent: GPTBot
User-agent: ClaudeBot
User-agent: CCBot
User-agent: Bytespider
Disallow: /

User-agent: *
Disallow: /account/
Disallow: /*?preview=
`;

/** Lines of a robots.txt with these groups, each of agents and a path. */
function groups(...each: readonly (readonly [agents: string, path: string])[]): string {
  return each
    .map(([agents, path]) => {
      const names = agents.split(' ').map((agent) => `User-agent: ${agent}\n`);
      return `${names.join('')}Disallow: ${path}\n`;
    })
    .join('\n');
}

/** Kinds of robots.txt, each with its weight and a function that gets the path for everybody. */
const KINDS: readonly (readonly [weight: number, body: (path: string) => string])[] = [
  [30, (path) => groups(['*', path])],
  [10, () => 'User-agent: *\nDisallow:\n'],
  [2, () => 'User-agent: *\nDisallow: /\n'],
  [9, (path) => groups(['GPTBot', '/'], ['*', path])],
  [8, (path) => groups(['GPTBot CCBot', '/'], ['*', path])],
  [6, (path) => groups(['GPTBot CCBot Google-Extended', '/'], ['*', path])],
  [5, (path) => groups(['CCBot', '/'], ['*', path])],
  [
    5,
    (path) =>
      groups(['GPTBot ClaudeBot CCBot Google-Extended Bytespider Amazonbot', '/'], ['*', path]),
  ],
  [4, (path) => groups(['Bytespider', '/'], ['*', path])],
  [3, (path) => groups(['GPTBot ClaudeBot', '/essays/'], ['*', path])],
];

/** The page, from the figures that the built program counts. */
export function makeExample(): string {
  const place = mkdtempSync(join(tmpdir(), 'robots-filter-example-'));
  try {
    writeFileSync(join(place, HOSTS_FILE), exampleHosts());
    const words = [PROGRAM, ...COMMAND];
    const { status, stderr } = spawnSync(process.execPath, words, { cwd: place, encoding: 'utf8' });
    if (status !== 0) throw new Error(`${COMMAND.join(' ')}: ${stderr}`);
    return examplePage(JSON.parse(readFileSync(join(place, 'example.json'), 'utf8')));
  } finally {
    rmSync(place, { recursive: true });
  }
}

/** The hosts as records, one a line. */
function exampleHosts(): string {
  const random = new Random(SEED);
  const kinds = KINDS.flatMap(([weight, body]) => Array.from({ length: weight }, () => body));
  const lines = FIRST_WORDS.flatMap((first, index) =>
    // Three sites for each first word: no two of them have the same name.
    [0, 1, 2].map((turn) => {
      const place = (5 * index + 4 * turn) % LAST_WORDS.length;
      const name = `${first}-${LAST_WORDS[place]}`;
      const fetched = random.pick(DAYS);
      if (random.chance(0.16))
        return { host: `${name}.hosting.example`, fetched, robots: PLATFORM };
      const host = `${name}.example`;
      if (random.chance(0.08)) return { host, fetched, status: 404 };
      if (random.chance(0.02)) return { host, fetched, status: 503 };
      const path = `/${random.pick(OWN_WORDS)}/`;
      return { host, fetched, robots: random.pick(kinds)(path) };
    }),
  );
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}

/** The page of these figures. It says that the hosts are made up where readers look first. */
function examplePage(counted: AuditFigures): string {
  const figures: AuditFigures = { ...counted, created: CREATED, program: 'robots-filter' };
  const story = auditStory(figures);
  const kind = `${story.kind}. An example: every host is made up`;
  return pageOf({ ...story, kind }, printableJson(figures));
}

// ---- The picture, which names the page that it shows

const SIGNATURE_BYTES = 8;
/** Length, type and checksum of a chunk, without its data. */
const FRAME_BYTES = 12;
const PAGE_KEY = 'page-sha256';

function* chunksOf(png: Buffer): Generator<{ type: string; data: Buffer; end: number }> {
  for (let at = SIGNATURE_BYTES; at < png.length; ) {
    const length = png.readUInt32BE(at);
    const end = at + FRAME_BYTES + length;
    const type = png.toString('latin1', at + 4, at + 8);
    yield { type, data: png.subarray(at + 8, end - 4), end };
    at = end;
  }
}

/** A PNG that names the page that it shows, by the hash of the page. */
export function signedPicture(png: Buffer, page: string): Buffer {
  const [header] = chunksOf(png);
  if (header?.type !== 'IHDR') throw new RangeError('A PNG begins with IHDR');
  const typed = Buffer.from(`tEXt${PAGE_KEY}\0${hashOf(page)}`, 'latin1');
  const chunk = Buffer.alloc(typed.length + 8);
  chunk.writeUInt32BE(typed.length - 4, 0);
  typed.copy(chunk, 4);
  chunk.writeUInt32BE(crc32(typed), chunk.length - 4);
  return Buffer.concat([png.subarray(0, header.end), chunk, png.subarray(header.end)]);
}

/** Whether a PNG shows this page. */
export function shows(png: Buffer, page: string): boolean {
  const expected = `${PAGE_KEY}\0${hashOf(page)}`;
  for (const { type, data } of chunksOf(png)) {
    if (type === 'tEXt' && data.toString('latin1') === expected) return true;
  }
  return false;
}

function hashOf(page: string): string {
  return createHash('sha256').update(page).digest('hex');
}
