import { type FileHandle, open } from 'node:fs/promises';
import type { CacheWarning } from '../../cache/entry.js';
import type { CompileOptions } from '../../compile/body-compiler.js';
import { writeTable } from '../../compile/layout/table-writer.js';
import { PartMerger } from '../../compile/parallel/part-merger.js';
import { PartBuilder } from '../../compile/parallel/table-part.js';
import { type TableBuilderStats, TableContents } from '../../compile/table-contents.js';
import { type ErrorCode, RobotsFilterError } from '../../errors.js';
import { ReplacementFile } from '../../files/replacement-file.js';
import type { WarningCode } from '../../protocol/robots-file.js';
import { checkHeader } from '../../table/table-check.js';
import { compileWarnings } from './compile-warnings.js';
import type { Stretch } from './spill-file.js';
import { decodeEntries, type SpilledBody } from './spilled-entry.js';

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
