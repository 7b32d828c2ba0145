/** Opens a table of shards, as many as fit in one memory together, and joins them for readers. */

import { closeSync, fstatSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';
import { docsPage, RobotsFilterError } from '../base/errors.js';
import { kindName, openUnwaiting, readToEnd } from '../files/openings.js';
import { errorCode, unreadable } from '../files/system-error.js';
import { Arena, createMemory, MAX_PAGES, PAGE_BYTES } from '../kernel/kernel.js';
import { SECTION_NAMES, type TableHeader } from '../table/check.js';
import { CACHE_LINE_BYTES, TAIL_BYTES } from '../table/format.js';
import {
  checksumText,
  MANIFEST_NAME,
  MAX_MANIFEST_BYTES,
  type Manifest,
  type ManifestPart,
  parseManifest,
} from '../table/manifest.js';
import { shardOf } from '../table/places.js';
import { ShardView } from '../view/shard-view.js';
import { readAll } from './read-table.js';
import {
  BANK_BYTES,
  checkTable,
  type PlacedShard,
  slotsOf,
  TABLE_ADDRESS,
  type TableMemory,
  type TableReading,
  tableOfShards,
} from './table-memory.js';

const COPY_AGAIN = 'copy the whole directory again, or compile it again';

/** A part, and the number of its shard. */
interface Wanted {
  readonly shard: number;
  readonly part: ManifestPart;
}

/**
 * Reads the shards of a table: all of them, a range, those of some hosts, or those that are chosen.
 * Nothing can be asked about the hosts of the others.
 *
 * @param path the directory, or the manifest in it
 * @throws RobotsFilterError `input` if a file cannot be read; `table` if a part is missing, damaged
 *   or not of this manifest; `limit` if `bankBytes` lets more than 4 GiB lie in one memory
 */
export async function readShards(
  path: string,
  isDirectory: boolean,
  reading: TableReading,
): Promise<TableMemory> {
  const name = isDirectory ? join(path, MANIFEST_NAME) : path;
  const manifest = await readManifest(name);
  const wanted = await wantedOf(name, manifest, reading);
  const groups = bankGroups(wanted, reading.bankBytes ?? BANK_BYTES, roomOf);
  for (const group of groups) {
    if (endOf(group) > MAX_PAGES * PAGE_BYTES) throw tooLarge(name, group);
  }
  const shards: (PlacedShard | undefined)[] = manifest.parts.map(() => undefined);
  const headers: TableHeader[] = [];
  let firstSlot = 0;
  for (const group of groups) {
    const memory = createMemory(endOf(group));
    const arena = new Arena(memory);
    let table = TABLE_ADDRESS;
    for (const wanted of group) {
      const { shard, part } = wanted;
      const file = join(dirname(name), part.file);
      const bytes = new Uint8Array(memory.buffer, table, part.bytes);
      const header = await readPart(file, part, bytes, manifest);
      // Silence must not come from a part that never had what was said.
      const [first = header] = headers;
      for (const kept of ['signals', 'records'] as const) {
        if (header[kept] === first[kept]) continue;
        throw foreign(file, `only some of the parts were compiled with --${kept}`);
      }
      const view = new ShardView(bytes, file, { shard, firstSlot });
      shards[shard] = { arena, table, header, view };
      headers.push(header);
      firstSlot += slotsOf(header);
      table += roomOf(wanted);
    }
  }
  return tableOfShards(shards, path, { header: sumOf(headers), hosts: manifest.hosts });
}

/** @throws RobotsFilterError `usage` if there is no such shard */
async function wantedOf(
  name: string,
  manifest: Manifest,
  { parts, hosts, choose }: TableReading,
): Promise<Wanted[]> {
  const all = manifest.parts.map((part, shard) => ({ shard, part }));
  const chosen =
    hosts === undefined
      ? await choose?.(manifest)
      : new Set(hosts.map((host) => shardOf(host, all.length)));
  // Without a host, any shard will do.
  if (chosen?.size === 0) return all.slice(0, 1);
  if (chosen !== undefined) return all.filter(({ shard }) => chosen.has(shard));
  if (parts === undefined) return all;
  const wanted = all.slice(parts.first, parts.last + 1);
  if (wanted.length === 0) throw withoutShard(name, parts.first, manifest);
  return wanted;
}

/** Bytes of a part in memory. */
function roomOf({ part }: Wanted): number {
  return Math.ceil((part.bytes + TAIL_BYTES) / CACHE_LINE_BYTES) * CACHE_LINE_BYTES;
}

/** Where a memory that holds these parts ends. */
function endOf(parts: readonly Wanted[]): number {
  return parts.reduce((end, wanted) => end + roomOf(wanted), TABLE_ADDRESS);
}

/**
 * Reads a manifest.
 *
 * @throws RobotsFilterError `input` if there is none, `table` if it is damaged or of another
 *   version
 */
async function readManifest(name: string): Promise<Manifest> {
  const remedy = 'give the directory that `robots-filter compile --shards` wrote';
  let text: string;
  try {
    const descriptor = await openUnwaiting(name);
    try {
      const status = fstatSync(descriptor);
      if (!status.isFile()) {
        throw new RobotsFilterError('table', `${name}: is ${kindName(status)}: ${remedy}`);
      }
      const bytes = await readToEnd(descriptor, MAX_MANIFEST_BYTES);
      if (bytes === undefined) {
        throw new RobotsFilterError('table', `${name}: too long for a manifest: ${remedy}`);
      }
      text = bytes.toString();
    } finally {
      closeSync(descriptor);
    }
  } catch (cause) {
    if (cause instanceof RobotsFilterError) throw cause;
    if (errorCode(cause) !== 'ENOENT') throw unreadable(name, cause);
    const message = `${dirname(name)}: a directory without ${MANIFEST_NAME}, so no table in shards. For a directory of robots.txt files use --robots-dir, or compile it first; if compile was interrupted, run it again`;
    throw new RobotsFilterError('input', message, { cause });
  }
  return parseManifest(text, name);
}

/** Reads a part into its place in memory; checks that it is the part that the manifest names. */
async function readPart(
  path: string,
  part: ManifestPart,
  bytes: Uint8Array,
  manifest: Manifest,
): Promise<TableHeader> {
  let computed: number;
  try {
    const descriptor = await openUnwaiting(path);
    try {
      const status = fstatSync(descriptor);
      if (!status.isFile()) throw foreign(path, `is ${kindName(status)}, not a file`);
      if (status.size !== part.bytes) {
        throw foreign(path, `${status.size} bytes, and ${MANIFEST_NAME} says ${part.bytes}`);
      }
      const read = await readAll(descriptor, bytes, undefined);
      if (read.length !== part.bytes) throw foreign(path, 'it has shrunk while it was read');
      computed = read.checksum;
    } finally {
      closeSync(descriptor);
    }
  } catch (cause) {
    if (cause instanceof RobotsFilterError) throw cause;
    if (errorCode(cause) !== 'ENOENT') throw unreadable(path, cause);
    throw foreign(path, `missing, and ${MANIFEST_NAME} names it`);
  }
  const header = checkTable(bytes, path, computed);
  if (checksumText(computed) !== part.checksum) {
    const sums = `its checksum is ${checksumText(computed)}, and ${MANIFEST_NAME} says ${part.checksum}`;
    throw foreign(path, `of another table or time: ${sums}`);
  }
  if (header.profile !== manifest.profile) {
    throw foreign(path, `for profile ${header.profile}, and the table is for ${manifest.profile}`);
  }
  if (header.reduced !== (manifest.agents !== null) || header.hosts !== part.hosts) {
    throw foreign(path, `its hosts or agents are not those that ${MANIFEST_NAME} says`);
  }
  return header;
}

function foreign(path: string, what: string): RobotsFilterError {
  return new RobotsFilterError('table', `${path}: ${what}: ${COPY_AGAIN}`);
}

function withoutShard(name: string, shard: number, { shards }: Manifest): RobotsFilterError {
  return new RobotsFilterError('usage', `${name}: has no shard ${shard}: name 0 to ${shards - 1}`);
}

function tooLarge(name: string, parts: readonly Wanted[]): RobotsFilterError {
  const bytes = parts.reduce((sum, { part }) => sum + part.bytes, 0);
  const what = `${name}: ${parts.length} of its parts have ${bytes} bytes, and must lie in one memory of 4 GiB`;
  const remedy = `Name fewer: serve --parts 0-15 (${docsPage('shards.md#more-than-4-gib')})`;
  return new RobotsFilterError('limit', `${what}. ${remedy}`);
}

/** The CRC-32 of the parts' checksums, each as 32 bits, little-endian. Python has it, too. */
function checksumOf(headers: readonly TableHeader[]): number {
  const words = Buffer.alloc(4 * headers.length);
  for (const [shard, { checksum }] of headers.entries()) {
    words.writeUInt32LE(checksum >>> 0, 4 * shard);
  }
  return crc32(words);
}

/** The header of a table in shards: sums, and the maximum of what has no sum. */
function sumOf(headers: readonly TableHeader[]): TableHeader {
  const [first] = headers as [TableHeader];
  const total = (of: (header: TableHeader) => number): number =>
    headers.reduce((sum, header) => sum + of(header), 0);
  const most = (of: (header: TableHeader) => number): number => Math.max(...headers.map(of));
  const sections = SECTION_NAMES.map((section) => {
    const end = total(({ sections }) => sections[section].end - sections[section].start);
    return [section, { start: 0, end }];
  });
  return {
    version: most(({ version }) => version),
    profile: first.profile,
    length: total(({ length }) => length),
    checksum: checksumOf(headers),
    reduced: first.reduced,
    signals: first.signals,
    records: first.records,
    hosts: total(({ hosts }) => hosts),
    authorities: total(({ authorities }) => authorities),
    robots: total(({ robots }) => robots),
    automata: total(({ automata }) => automata),
    rules: total(({ rules }) => rules),
    tokens: most(({ tokens }) => tokens),
    buckets: total(({ buckets }) => buckets),
    longestProbe: most(({ longestProbe }) => longestProbe),
    compiledBytes: total(({ compiledBytes }) => compiledBytes),
    sections: Object.fromEntries(sections) as TableHeader['sections'],
  };
}

/**
 * Cuts parts into as few runs as fit into so many bytes each; a part alone may be longer. The runs
 * are about equally long, which leaves room in every bank for the counters of its hosts.
 *
 * @param roomOf the bytes that a part takes
 */
function bankGroups<Part>(
  parts: readonly Part[],
  bankBytes: number,
  roomOf: (part: Part) => number,
): Part[][] {
  const rooms = parts.map(roomOf);
  const bytes = rooms.reduce((sum, room) => sum + room, 0);
  const fewest = filledGroups(parts, rooms, bankBytes).length;
  // With this limit, all runs but the last are longer than the mean: no more runs are needed.
  return filledGroups(parts, rooms, Math.min(bankBytes, bytes / fewest + Math.max(...rooms)));
}

/** Cuts parts into runs that are as long as the limit allows. */
function filledGroups<Part>(
  parts: readonly Part[],
  rooms: readonly number[],
  limit: number,
): Part[][] {
  const groups: Part[][] = [];
  let left = 0;
  for (const [index, part] of parts.entries()) {
    const needed = rooms[index] as number;
    if (groups.length === 0 || left < needed) {
      groups.push([]);
      left = limit;
    }
    groups.at(-1)?.push(part);
    left -= needed;
  }
  return groups;
}
