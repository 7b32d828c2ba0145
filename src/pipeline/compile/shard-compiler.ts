/** Compiles one shard from the robots.txt files that were put aside for it on disk. */

import { type FileHandle, open } from 'node:fs/promises';
import { type ErrorCode, RobotsFilterError } from '../../base/errors.js';
import type { CompileOptions } from '../../compile/body-compiler.js';
import type { VersionDetails } from '../../compile/compiled-robots.js';
import { PartMerger } from '../../compile/part-merger.js';
import { type TableBuilderStats, TableContents } from '../../compile/table-contents.js';
import { writeTable } from '../../compile/table-layout.js';
import { PartBuilder } from '../../compile/table-part.js';
import { ReplacementFile } from '../../files/replacement.js';
import { unwritable } from '../../files/system-error.js';
import type { Authority } from '../../protocol/authority.js';
import type { WarningCode } from '../../protocol/robots-file.js';
import type { CacheWarning } from '../../sources/entry.js';
import { checkHeader } from '../../table/check.js';
import { compileWarnings } from './part-compiler.js';

/** Number of entries that may wait to be merged. */
const ENTRIES_OF_PART = 4096;

/** A shard to be compiled, as plain data for any thread. */
export interface ShardTask {
  readonly kind: 'shard';
  /** Path of the spill file. */
  readonly spill: string;
  readonly stretches: readonly Stretch[];
  /** The stretches with the bodies of captures. */
  readonly bodies: readonly Stretch[];
  readonly compile: CompileOptions;
  /** Path of the table to be written. */
  readonly output: string;
}

/** A compiled shard. */
export interface CompiledShard {
  readonly hosts: number;
  readonly bytes: number;
  readonly rules: number;
  readonly checksum: number;
  readonly stats: TableBuilderStats;
  readonly contentWarnings: readonly (readonly [WarningCode, number])[];
  /** The product tokens that it is reduced to and that no file of it names, in lower case. */
  readonly unnamed: readonly string[];
  /** The warnings of `compileWarnings`. */
  readonly warnings: readonly CacheWarning[];
}

/** An error as plain data: errors lose their class between threads. */
export interface ShardFailure {
  readonly failure: { readonly code: ErrorCode; readonly message: string };
}

/** Compiles a shard on any thread. */
export async function runShardTask(task: ShardTask): Promise<CompiledShard | ShardFailure> {
  try {
    return await compileShard(task, new AbortController().signal);
  } catch (error) {
    if (!(error instanceof RobotsFilterError)) throw error;
    return { failure: { code: error.code, message: error.message } };
  }
}

/**
 * The second pass: compiles the robots.txt files of one shard, and writes its table. The memory is
 * that of the shard.
 *
 * @throws RobotsFilterError `limit` if the table would be longer than 4 GiB, `output` if it cannot
 *   be written; the reason of the signal
 */
export async function compileShard(task: ShardTask, signal: AbortSignal): Promise<CompiledShard> {
  const contents = new TableContents(task.compile);
  const builder = new PartBuilder(task.compile, { key: contents.key });
  const merger = new PartMerger(contents);
  const merge = (): void => {
    const part = builder.take();
    merger.receive(part);
    merger.add(part);
  };
  const spill = await open(task.spill, 'r');
  try {
    const bodies = new SpilledBodies(spill, task.bodies);
    for (const stretch of task.stretches) {
      signal.throwIfAborted();
      const bytes = await read(spill, stretch.start, stretch.bytes);
      for (const { authority, details, body } of decodeEntries(bytes)) {
        builder.add(authority, await bodies.of(body), details);
        if (builder.count === ENTRIES_OF_PART) merge();
      }
    }
    merge();
  } finally {
    await spill.close();
  }
  const layout = contents.layOut();
  const file = await ReplacementFile.create(task.output);
  try {
    const checksum = await writeTable(layout, file, signal);
    const header = checkHeader(layout.header, layout.length, task.output, () => checksum);
    await file.commit(true);
    return {
      hosts: header.hosts,
      bytes: header.length,
      rules: header.rules,
      checksum,
      stats: contents.stats,
      unnamed: [...layout.unnamed],
      contentWarnings: [...contents.contentWarnings],
      warnings: compileWarnings(contents, layout),
    };
  } finally {
    await file.discard();
  }
}

/** Reads the bodies of captures, which lie in stretches one after another. */
class SpilledBodies {
  readonly #spill: FileHandle;
  readonly #stretches: readonly Stretch[];
  /** For each stretch, the number of bytes before it. */
  readonly #starts: readonly number[];

  constructor(spill: FileHandle, stretches: readonly Stretch[]) {
    this.#spill = spill;
    this.#stretches = stretches;
    let end = 0;
    this.#starts = stretches.map(({ bytes }) => {
      end += bytes;
      return end - bytes;
    });
  }

  /** The bytes of a body. No body lies in two stretches. */
  of(body: SpilledBody): Uint8Array | Promise<Uint8Array> {
    if (body instanceof Uint8Array) return body;
    const index = this.#starts.findLastIndex((start) => start <= body.start);
    const stretch = this.#stretches[index];
    if (stretch === undefined) throw new Error('a capture without its body');
    const within = body.start - (this.#starts[index] as number);
    return read(this.#spill, stretch.start + within, body.bytes);
  }
}

async function read(file: FileHandle, start: number, length: number): Promise<Buffer> {
  const bytes = Buffer.allocUnsafe(length);
  for (let filled = 0; filled < length; ) {
    const { bytesRead } = await file.read(bytes, filled, length - filled, start + filled);
    if (bytesRead === 0) throw new Error('the spill file was truncated');
    filled += bytesRead;
  }
  return bytes;
}

/** A robots.txt of a shard on its way through the spill file. */
export interface SpilledEntry {
  readonly authority: Authority;
  readonly details: VersionDetails;
  readonly body: SpilledBody;
}

/** A body: its bytes, or where it begins among the bodies of captures, and its length. */
type SpilledBody = Uint8Array | { readonly start: number; readonly bytes: number };

/*
 * The bytes of an entry: the length of a JSON array, 32 bits, the length of the body that follows
 * the array, 32 bits, the array, the body.
 */
const HEAD_BYTES = 8;

/** The JSON array of an entry. Absent values are null. */
type Fields = [
  scheme: Authority['scheme'] | null,
  host: string,
  port: number | null,
  source: string,
  status: number | null,
  access: VersionDetails['access'] | null,
  date: number | null,
  bodyStart: number | null,
  bodyBytes: number | null,
  compiledFrom: number | null,
  isAgain: boolean | null,
  isGuess: boolean | null,
];

/** The bytes of an entry, for `decodeEntries`. */
export function encodeEntry({ authority, details, body }: SpilledEntry): Uint8Array {
  const isInline = body instanceof Uint8Array;
  const fields = [
    authority.scheme,
    authority.host,
    authority.port,
    details.source,
    details.status,
    details.access,
    details.date,
    isInline ? null : body.start,
    isInline ? null : body.bytes,
    details.compiledFrom,
    details.isAgain,
    details.isGuess,
  ];
  const text = Buffer.from(JSON.stringify(fields));
  const inline = isInline ? body.length : 0;
  const bytes = Buffer.allocUnsafe(HEAD_BYTES + text.length + inline);
  bytes.writeUInt32LE(text.length, 0);
  bytes.writeUInt32LE(inline, 4);
  bytes.set(text, HEAD_BYTES);
  if (isInline) bytes.set(body, HEAD_BYTES + text.length);
  return bytes;
}

/** The entries of a stretch. Their inline bodies are views of it. */
export function* decodeEntries(stretch: Buffer): Iterable<SpilledEntry> {
  for (let at = 0; at < stretch.length; ) {
    const bodyAt = at + HEAD_BYTES + stretch.readUInt32LE(at);
    const end = bodyAt + stretch.readUInt32LE(at + 4);
    const fields = JSON.parse(stretch.toString('utf8', at + HEAD_BYTES, bodyAt)) as Fields;
    const [scheme, host, port, source, status, access, date, bodyStart, bodyBytes, ...more] =
      fields;
    const [compiledFrom, isAgain, isGuess] = more;
    yield {
      authority: { scheme: scheme ?? undefined, host, port: port ?? undefined },
      details: {
        source,
        status: status ?? undefined,
        access: access ?? undefined,
        date: date ?? undefined,
        compiledFrom: compiledFrom ?? undefined,
        isAgain: isAgain ?? undefined,
        isGuess: isGuess ?? undefined,
      },
      body:
        bodyStart === null
          ? stretch.subarray(bodyAt, end)
          : { start: bodyStart, bytes: bodyBytes ?? 0 },
    };
    at = end;
  }
}

/** Bytes that are held in memory, for all shards together, before they are written. */
const HELD_BYTES = 1 << 26;

/** A stretch of the file. */
interface Stretch {
  readonly start: number;
  readonly bytes: number;
}

/** Bytes of one shard that wait to be written. */
interface Held {
  pieces: Uint8Array[];
  bytes: number;
}

/**
 * A temporary file that holds bytes for each shard. The bytes of a shard lie in stretches, in the
 * order in which they were added.
 */
export class SpillFile {
  readonly path: string;
  readonly #handle: FileHandle;
  readonly #held: readonly Held[];
  readonly #stretches: readonly Stretch[][];
  readonly #heldLimit: number;
  #heldBytes = 0;
  #end = 0;

  private constructor(path: string, handle: FileHandle, shards: number, heldLimit: number) {
    this.path = path;
    this.#handle = handle;
    this.#heldLimit = heldLimit;
    this.#held = Array.from({ length: shards }, () => ({ pieces: [], bytes: 0 }));
    this.#stretches = Array.from({ length: shards }, () => []);
  }

  /**
   * @param heldBytes bytes that are held in memory
   * @throws RobotsFilterError `output` if the file cannot be created
   */
  static async create(path: string, shards: number, heldBytes = HELD_BYTES): Promise<SpillFile> {
    try {
      return new SpillFile(path, await open(path, 'wx+'), shards, heldBytes);
    } catch (cause) {
      throw unwritable(path, cause);
    }
  }

  /** Adds bytes of a shard, which must not change afterwards. Call `relieve` soon. */
  add(shard: number, piece: Uint8Array): void {
    const held = this.#held[shard] as Held;
    held.pieces.push(piece);
    held.bytes += piece.length;
    this.#heldBytes += piece.length;
  }

  /**
   * Writes what is held if there is much of it.
   *
   * @throws RobotsFilterError `output`
   */
  async relieve(): Promise<void> {
    if (this.#heldBytes >= this.#heldLimit) await this.flush();
  }

  /**
   * Writes what is held.
   *
   * @throws RobotsFilterError `output`
   */
  async flush(): Promise<void> {
    for (const [shard, held] of this.#held.entries()) {
      if (held.bytes === 0) continue;
      const stretch = { start: this.#end, bytes: held.bytes };
      await this.#write(Buffer.concat(held.pieces, held.bytes));
      this.#stretches[shard]?.push(stretch);
      held.pieces = [];
      held.bytes = 0;
    }
    this.#heldBytes = 0;
  }

  /** The stretches of a shard. Call `flush` before. */
  stretchesOf(shard: number): readonly Stretch[] {
    return this.#stretches[shard] ?? [];
  }

  async close(): Promise<void> {
    await this.#handle.close().catch(() => {});
  }

  async #write(bytes: Uint8Array): Promise<void> {
    try {
      let written = 0;
      while (written < bytes.length) {
        const { bytesWritten } = await this.#handle.write(
          bytes,
          written,
          bytes.length - written,
          this.#end + written,
        );
        written += bytesWritten;
      }
      this.#end += bytes.length;
    } catch (cause) {
      throw unwritable(this.path, cause);
    }
  }
}
