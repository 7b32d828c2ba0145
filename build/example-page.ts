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
import { crc32, deflateSync } from 'node:zlib';
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
const PATHS =
  '/admin/ /archive/ /basket/ /cart/ /drafts/ /export/ /internal/ /login/ /members/ /preview/ /private/ /*?s= /tags/ /tmp/'.split(
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

/** A group for these agents that forbids these paths. */
function group(agents: string, ...paths: readonly string[]): string {
  const names = agents.split(' ').map((agent) => `User-agent: ${agent}\n`);
  return `${names.join('')}${paths.map((path) => `Disallow: ${path}\n`).join('')}\n`;
}

/** How often each list of agents is shut out, in a file that forbids all others some paths. */
const SHUT_OUT: readonly (readonly [weight: number, agents: string])[] = [
  [44, ''],
  [9, 'GPTBot'],
  [6, 'GPTBot CCBot'],
  [5, 'GPTBot CCBot Google-Extended'],
  [3, 'CCBot'],
  [4, 'Bytespider'],
  [5, 'GPTBot ClaudeBot CCBot Google-Extended Bytespider Amazonbot'],
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
export function exampleHosts(): string {
  const random = new Random(SEED);
  const lists = SHUT_OUT.flatMap(([weight, agents]) =>
    Array.from({ length: weight }, () => agents),
  );
  const lines = FIRST_WORDS.flatMap((first, index) =>
    // Three sites for each first word: no two of them have the same name.
    [0, 1, 2].map((turn) => {
      const place = (5 * index + 4 * turn) % LAST_WORDS.length;
      const name = `${first}-${LAST_WORDS[place]}`;
      const fetched = random.pick(DAYS);
      if (random.chance(0.2)) return { host: `${name}.hosting.example`, fetched, robots: PLATFORM };
      const host = `${name}.example`;
      if (random.chance(0.08)) return { host, fetched, status: 404 };
      if (random.chance(0.02)) return { host, fetched, status: 503 };
      if (random.chance(0.12)) return { host, fetched, robots: group('*', '') };
      if (random.chance(0.02)) return { host, fetched, robots: group('*', '/') };
      const agents = random.pick(lists);
      const paths = Array.from({ length: random.between(1, 3) }, () => random.pick(PATHS));
      const start = agents === '' ? '' : group(agents, '/');
      return { host, fetched, robots: start + group('*', ...paths) };
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

// ---- The picture: a PNG with a palette, which names the page that it shows

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const MOST_COLOURS = 256;
const PAGE_KEY = 'page-sha256';

/** Pixels from top left to bottom right, each as red, green, blue and opacity. */
export interface Pixels {
  readonly width: number;
  readonly height: number;
  readonly bytes: Uint8Array;
}

/**
 * A PNG of pixels that names their page by its hash. A palette halves the size; a colour beyond it
 * becomes the nearest colour in it.
 */
export function pictureOf({ width, height, bytes }: Pixels, page: string): Buffer {
  const colours = new Uint32Array(width * height);
  const counts = new Map<number, number>();
  for (let at = 0; at < colours.length; at++) {
    const [red = 0, green = 0, blue = 0] = bytes.subarray(4 * at, 4 * at + 3);
    const colour = (red << 16) | (green << 8) | blue;
    colours[at] = colour;
    counts.set(colour, (counts.get(colour) ?? 0) + 1);
  }
  const palette = [...counts]
    .sort(([a, often], [b, seldom]) => seldom - often || a - b)
    .slice(0, MOST_COLOURS)
    .map(([colour]) => colour);
  const indexes = new Map(palette.map((colour, index) => [colour, index]));
  for (const colour of counts.keys()) {
    if (!indexes.has(colour)) indexes.set(colour, nearest(palette, colour));
  }
  // A byte before each row names its filter: 0 is none.
  const rows = Buffer.alloc(height * (width + 1));
  colours.forEach((colour, at) => {
    rows[at + Math.floor(at / width) + 1] = indexes.get(colour) ?? 0;
  });
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  // Eight bits a pixel, with a palette.
  head.set([8, 3], 8);
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', head),
    chunk('tEXt', Buffer.from(nameOf(page), 'latin1')),
    chunk('PLTE', Buffer.from(palette.flatMap(channels))),
    chunk('IDAT', deflateSync(rows, { level: 9 })),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

/** Whether a PNG was made from this page. */
export function isPictureOf(png: Buffer, page: string): boolean {
  return png.includes(chunk('tEXt', Buffer.from(nameOf(page), 'latin1')));
}

function nameOf(page: string): string {
  return `${PAGE_KEY}\0${createHash('sha256').update(page).digest('hex')}`;
}

function chunk(type: string, data: Buffer): Buffer {
  const typed = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(data.length, 0);
  frame.writeUInt32BE(crc32(typed), 4);
  return Buffer.concat([frame.subarray(0, 4), typed, frame.subarray(4)]);
}

function channels(colour: number): number[] {
  return [colour >> 16, (colour >> 8) & 0xff, colour & 0xff];
}

/** The index of the colour of a palette that is most like another one. */
function nearest(palette: readonly number[], colour: number): number {
  const own = channels(colour);
  const distances = palette.map((each) =>
    channels(each).reduce((sum, value, at) => sum + (value - (own[at] ?? 0)) ** 2, 0),
  );
  return distances.indexOf(Math.min(...distances));
}
