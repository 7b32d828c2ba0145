import { open, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';
import { RobotsFilterError } from './errors.js';
import { errorCode } from './files/system-error.js';
import { ShardedView } from './inspect/sharded-view.js';
import { TableView } from './inspect/table-view.js';
import { Arena } from './kernel/arena.js';
import { createMemory, MAX_PAGES, PAGE_BYTES } from './kernel/kernel.js';
import { BUCKET_SLOTS, CACHE_LINE_BYTES, TAIL_BYTES } from './table/format.js';
import {
  checksumText,
  MANIFEST_NAME,
  MAX_MANIFEST_BYTES,
  type Manifest,
  type ManifestPart,
  parseManifest,
} from './table/manifest.js';
import { readAll } from './table/read-table.js';
import { checkTable, SECTION_NAMES, type TableHeader } from './table/table-check.js';
import {
  type PartRange,
  type PlacedShard,
  TABLE_ADDRESS,
  type TableMemory,
  unreadable,
} from './table-memory.js';

const COPY_AGAIN = 'copy the whole directory again, or compile it again';

/** The slots of shards begin at multiples of this, so that their marks begin at whole words. */
const SLOT_STEP = 64;

/**
 * Reads the shards of a table into one memory: all of them, or a range. Outside the range, a
 * shard of the range stands in for each shard, and knows none of its hosts.
 *
 * @param path the directory, or the manifest in it
 * @throws RobotsFilterError `input` if a file cannot be read; `table` if a part is missing, damaged
 *   or not of this manifest; `limit` if all parts together do not fit in 4 GiB
 */
export async function readShards(
  path: string,
  isDirectory: boolean,
  { first, last }: PartRange = { first: 0, last: Number.POSITIVE_INFINITY },
): Promise<TableMemory> {
  const name = isDirectory ? join(path, MANIFEST_NAME) : path;
  const manifest = await readManifest(name);
  const wanted = manifest.parts.slice(first, last + 1);
  if (wanted.length === 0) throw withoutShard(name, first, manifest);
  const starts: number[] = [];
  let end = TABLE_ADDRESS;
  for (const { bytes } of wanted) {
    starts.push(end);
    end += Math.ceil((bytes + TAIL_BYTES) / CACHE_LINE_BYTES) * CACHE_LINE_BYTES;
  }
  if (end > MAX_PAGES * PAGE_BYTES) throw tooLarge(name, manifest);
  const memory = createMemory(end);
  const shards: PlacedShard[] = [];
  let firstSlot = 0;
  for (const [index, part] of wanted.entries()) {
    const table = starts[index] as number;
    const partPath = join(dirname(name), part.file);
    const bytes = new Uint8Array(memory.buffer, table, part.bytes);
    const header = await readPart(partPath, part, bytes, manifest);
    shards.push({ table, header, view: new TableView(bytes, partPath), firstSlot });
    firstSlot += Math.ceil((header.buckets * BUCKET_SLOTS) / SLOT_STEP) * SLOT_STEP;
  }
  return {
    arena: new Arena(memory),
    table: TABLE_ADDRESS,
    header: sumOf(shards.map(({ header }) => header)),
    view: new ShardedView(shards, path),
    slots: firstSlot,
    shards: manifest.parts.map((_, shard) => shards[shard - first] ?? (shards[0] as PlacedShard)),
  };
}

/**
 * Reads a manifest.
 *
 * @throws RobotsFilterError `input` if there is none, `table` if it is damaged or of another
 *   version
 */
async function readManifest(name: string): Promise<Manifest> {
  let text: string;
  try {
    const { size } = await stat(name);
    if (size > MAX_MANIFEST_BYTES) {
      const remedy = 'give the directory that `robots-filter compile --shards` wrote';
      throw new RobotsFilterError('table', `${name}: too long for a manifest: ${remedy}`);
    }
    text = await readFile(name, 'utf8');
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
    const file = await open(path);
    try {
      const { size } = await file.stat();
      if (size !== part.bytes) {
        throw foreign(path, `${size} bytes, and ${MANIFEST_NAME} says ${part.bytes}`);
      }
      const read = await readAll(file.fd, bytes, undefined);
      if (read.length !== part.bytes) throw foreign(path, 'it has shrunk while it was read');
      computed = read.checksum;
    } finally {
      await file.close();
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

function tooLarge(name: string, { bytes, shards }: Manifest): RobotsFilterError {
  return new RobotsFilterError(
    'limit',
    `${name}: the ${shards} parts have ${bytes} bytes, and one process holds less than 4 GiB. Divide the URLs with robots-filter shard --of ${shards} and filter each share with its own part: docs/shards.md`,
  );
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
