import { bytesOf, charactersOf } from '../../oracle/bytes.js';
import { RobotsFilterError } from '../../src/base/errors.js';
import { PartMerger } from '../../src/compile/part-merger.js';
import { TableContents } from '../../src/compile/table-contents.js';
import { PartBuilder } from '../../src/compile/table-part.js';
import { checkTable } from '../../src/judge/table-memory.js';
import { checksum } from '../../src/kernel/hashes.js';
import type { QuerySettings } from '../../src/kernel/query-settings.js';
import type { Authority } from '../../src/protocol/authority.js';
import { SECTION_NAMES, type TableHeader } from '../../src/table/check.js';
import {
  BUCKET_SLOTS,
  HEADER_BYTES,
  HEADER_CHECKSUM,
  HEADER_LENGTH,
  VERSION_WITHOUT_HISTORIES,
} from '../../src/table/format.js';
import { verifyShard } from '../../src/verify/verify-table.js';
import { ShardView } from '../../src/view/shard-view.js';
import { hostileFile } from '../../test/hostile/file.js';
import { words } from '../../test/hostile/pieces.js';
import { contentsOf, urlsOf } from '../../test/inspect/verify/contents.js';
import type { Random } from '../../test/random/random.js';
import { agree, Fault } from '../fault.js';
import { GuardedKernel } from '../kernel/guarded-kernel.js';
import type { Target } from '../target.js';

/** Places that are no sections: they say how the table is compiled. */
const SETTINGS = ['reduce', 'google', 'dated'];
const PLACES = ['header', ...SECTION_NAMES, 'cut', ...SETTINGS];
const WIDTHS = [1, 2, 4];
const VALUES = [
  0, 1, 2, 4, 8, 127, 128, 255, 256, 65_535, 65_536, 0x7fff_ffff, 0xffff_fff8, 0xffff_ffff,
];

const AUTHORITIES: readonly Authority[] = [
  { scheme: undefined, host: 'a.example', port: undefined },
  { scheme: 'https', host: 'b.example', port: undefined },
  { scheme: undefined, host: 'b.example', port: 8080 },
];

const AGENTS = [
  { name: 'a', chain: ['a'] },
  { name: 'b', chain: ['b'] },
];

/** Paths that reach wildcards and long labels. */
const PATHS = ['/', `/a${'/b'.repeat(60)}`, `/?x=${'%2Fy1'.repeat(30)}`, '/a.gif$', '/%2', ''];

/** When the first version of a history begins, and how long each is in force, in seconds. */
const FIRST_TIME = 1_700_000_000;
const INTERVAL = 1000;
/** The most versions of a history. */
const MOST_VERSIONS = 9;
/** What the versions of a history are: the whole file, its beginnings, and failures. */
const VERSIONS = ['whole', 'half', 'empty', 'unavailable', 'unreachable', 'unknown'] as const;

/** Times within, between and beyond the versions. */
const TIMES = [0, 2, 3.5, MOST_VERSIONS].map((at) => FIRST_TIME + at * INTERVAL);

/** How tables with histories are asked; those without are asked in the first way. */
const QUESTIONS: readonly Partial<QuerySettings>[] = [
  {},
  ...TIMES.map((at) => ({ at })),
  { at: FIRST_TIME + 5 * INTERVAL, maxAge: INTERVAL, dated: true },
  { timeField: ['t'], maxAge: 2 * INTERVAL, dated: true },
  { ever: true, dated: true },
];

/**
 * A change of a table: a number of this many bytes at an offset within a section, both taken modulo
 * the actual sizes.
 */
interface Patch {
  readonly place: string;
  readonly offset: number;
  readonly width: number;
  readonly value: number;
}

/**
 * The table reader: an input is a robots.txt and changes of the table that is compiled from it, one
 * on each line, `@hosts 4 2 255`; `@cut` removes bytes at the end. With `@dated 3 1 77`, the table
 * has histories of at most four versions, whose contents follow from 77. A changed table is
 * refused. A changed table with a valid checksum is refused, or read to its end without any other
 * error; the result does not depend on its place in memory and the bytes around it. A table that
 * can be verified is read whole, and the kernel asks it for verdicts and explanations within its
 * bounds.
 */
export const target: Target = {
  name: 'table',
  summary: 'the table reader, on damaged and forged tables',
  maxBytes: 1200,
  seeds: [
    'user-agent: *\ndisallow: /a\nallow: /a/b$\ndisallow: /*?x=\nallow: /*%2Fy\n',
    'user-agent: a\ncrawl-delay: 1\nsitemap: /s\ndisallow: /\n@records 12 4 255\n@records 40 1 255\n',
    'user-agent: a\nuser-agent: b\ndisallow: /*.gif$\ndisallow: /*1\nallow: /*3\n@hosts 100 4 0\n',
    ...PLACES.map((place) => `user-agent: *\ndisallow: /a\n@${place} 8 4 255\n`),
    'user-agent: a\ndisallow: /a\nallow: /b$\n@dated 8 1 0\n',
    'user-agent: *\ndisallow: /a*b\n@dated 3 1 3\n@hosts 40 4 255\n',
    `${Array.from({ length: 40 }, (_, i) => `user-agent: b${'ab'.charAt(i & 1).repeat(i)}\ndisallow: /*x${i}*y\n`).join('')}@hosts 40 4 65536`,
  ],
  dictionary: [
    ...words('user-agent: disallow: allow: sitemap: crawl-delay: /* $ * @'),
    ...PLACES.map((place) => `\n@${place} `),
    ...VALUES.map((value) => ` ${value}\n`),
  ],
  generate(random) {
    const { robots } = hostileFile(random, 'rfc9309', { urls: 0, chains: 0 });
    const patches = Array.from({ length: random.between(0, 4) }, () => patchLine(random));
    return `${robots}\n${patches.join('')}`;
  },
  piece: patchLine,
  check(kernel) {
    const guarded = new GuardedKernel(kernel);
    return (input) => checkPatched(input, guarded);
  },
};

function patchLine(random: Random): string {
  const value = random.chance(0.6) ? random.pick(VALUES) : random.between(0, 300);
  const offset = random.chance(0.5) ? 4 * random.between(0, 40) : random.between(0, 900);
  return `\n@${random.pick(PLACES)} ${offset} ${random.pick(WIDTHS)} ${value}\n`;
}

function checkPatched(input: Uint8Array, kernel: GuardedKernel): void {
  const lines = charactersOf(input).split('\n');
  const patches = lines.filter((line) => line.startsWith('@')).map(patchOf);
  const robots = bytesOf(lines.filter((line) => !line.startsWith('@')).join('\n'));
  const table = build(robots, patches);
  const header = checkTable(table, 'it');
  verifyShard(table, header, 'it');
  const whole = outcomeOf(table);
  if (whole.startsWith('refused')) throw new Fault(`a whole table is ${whole}`);

  const changed = patched(table, header, patches);
  if (Buffer.compare(changed, table) === 0) return;
  if (!refuses(changed)) throw new Fault('a changed table is accepted');
  if (changed.length < HEADER_BYTES) return;
  const forged = changed.slice();
  const view = new DataView(forged.buffer);
  if (patches.some(({ place }) => place === 'cut')) {
    view.setUint32(HEADER_LENGTH, forged.length, true);
  }
  view.setUint32(HEADER_CHECKSUM, checksum(forged), true);
  const outcomes = ['\0', '"\\\xff\x02\0\x01'].map((around) => {
    const memory = bytesOf(around.repeat(forged.length + 128));
    memory.set(forged, 64);
    return outcomeOf(memory.subarray(64, 64 + forged.length));
  });
  agree('what is read with other bytes around', outcomes[1], outcomes[0]);
  agree('what is read at another place', outcomeOf(forged), outcomes[0]);
  if (!isVerified(forged)) return;
  if (outcomes[0]?.startsWith('refused')) throw new Fault(`a verified table is ${outcomes[0]}`);
  judge(forged, kernel);
}

function build(robots: Uint8Array, patches: readonly Patch[]): Uint8Array {
  const has = (setting: string): boolean => patches.some(({ place }) => place === setting);
  const dated = patches.find(({ place }) => place === 'dated');
  const options = {
    records: true,
    history: dated !== undefined,
    ...(has('reduce') ? { agents: ['a-bot', 'b'] } : {}),
    ...(has('google') ? { profile: 'google' as const } : {}),
  };
  const contents = new TableContents(options);
  const part = new PartBuilder(options, { key: contents.key });
  AUTHORITIES.forEach((authority, index) => {
    const source = `${index}/"robots".txt`;
    const body = index === 0 ? robots : robots.subarray(0, robots.length >> 1);
    if (dated === undefined) {
      part.add(authority, body, { source, date: index === 0 ? FIRST_TIME * 1000 : undefined });
      return;
    }
    const last = dated.offset % MOST_VERSIONS;
    for (let version = 0; version <= Math.max(0, last - index); version++) {
      const what = VERSIONS[(dated.value + version * (index + 1)) % VERSIONS.length];
      const date = 1000 * (FIRST_TIME + version * INTERVAL);
      // Sources of every kind: plain, with the host, with a number.
      const from = [source, `${authority.host}/x`, `list:${version}`][version % 3] as string;
      if (what === 'whole') part.add(authority, body, { source: from, date });
      else if (what === 'half' || what === 'empty') {
        const cut = body.subarray(0, what === 'half' ? body.length >> 1 : 0);
        part.add(authority, cut, { source: from, date });
      } else part.add(authority, body, { source: from, date, access: what });
    }
  });
  const merger = new PartMerger(contents);
  const taken = part.take();
  merger.receive(taken);
  merger.add(taken);
  return contents.layOut().table();
}

function isVerified(table: Uint8Array): boolean {
  try {
    verifyShard(table, checkTable(table, 'it'), 'it');
    return true;
  } catch (error) {
    if (isRefusal(error)) return false;
    throw error;
  }
}

/** Asks for verdicts and explanations on paths that lead to the rules of a table. */
function judge(table: Uint8Array, kernel: GuardedKernel): void {
  kernel.load(table);
  const { profile, buckets, version } = checkTable(table, 'it');
  const urls = urlsOf(new ShardView(table, 'it'), 40);
  for (const path of PATHS) urls.push(`https://a.example${path}`, `http://b.example:8080${path}`);
  const input = urls
    .map((url, at) => `${JSON.stringify({ url, t: TIMES[at % TIMES.length] })}\n`)
    .join('');
  const questions = version > VERSION_WITHOUT_HISTORIES ? QUESTIONS : QUESTIONS.slice(0, 1);
  for (const question of questions) {
    const query = kernel.ask({
      google: profile === 'google',
      agents: AGENTS,
      explain: true,
      seenSlots: BUCKET_SLOTS * buckets,
      countedSlots: BUCKET_SLOTS * buckets,
      ruleEntries: 1 << 10,
      ...question,
    });
    const { output } = kernel.run(query, Buffer.from(input));
    const records = output.split('\n').slice(0, -1);
    agree('records', records.length, urls.length);
    for (const record of records) JSON.parse(record);
  }
}

/** The change on a line; a missing or invalid number is 0. */
function patchOf(line: string): Patch {
  const [place = '', offset, width, value] = line.slice(1).split(' ');
  const number = (text: string | undefined): number => {
    const parsed = Number(text);
    return Number.isSafeInteger(parsed) && parsed >= 0 ? parsed : 0;
  };
  return { place, offset: number(offset), width: number(width), value: number(value) };
}

function patched(table: Uint8Array, header: TableHeader, patches: readonly Patch[]): Uint8Array {
  let changed = table.slice();
  for (const { place, offset, width, value } of patches) {
    if (place === 'cut') {
      changed = changed.slice(0, changed.length - (offset % (changed.length + 1)));
      continue;
    }
    const section = SECTION_NAMES.find((name) => name === place);
    const { start, end } =
      section === undefined ? { start: 0, end: HEADER_BYTES } : header.sections[section];
    if (start === end || SETTINGS.includes(place)) continue;
    for (let byte = 0; byte < Math.min(width, 4); byte++) {
      const at = start + ((offset + byte) % (end - start));
      if (at < changed.length) changed[at] = Math.floor(value / 256 ** byte) % 256;
    }
  }
  return changed;
}

function refuses(table: Uint8Array): boolean {
  try {
    checkTable(table, 'it');
    return false;
  } catch (error) {
    if (isRefusal(error)) return true;
    throw error;
  }
}

function isRefusal(error: unknown): error is RobotsFilterError {
  return error instanceof RobotsFilterError && error.code === 'table';
}

/** All readable contents of a table as a text, or the reason why it is refused. */
function outcomeOf(table: Uint8Array): string {
  try {
    return JSON.stringify([checkTable(table, 'it'), [...allOf(new ShardView(table, 'it'))]]);
  } catch (error) {
    if (isRefusal(error)) return `refused: ${error.message}`;
    throw error;
  }
}

function* allOf(view: ShardView): Iterable<unknown> {
  for (const { host } of AUTHORITIES) yield view.find(host);
  yield view.find('c.example');
  yield* contentsOf(view.withUnknown());
  for (const time of TIMES) yield [...view.at(time).hosts()];
}
