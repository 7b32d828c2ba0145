import { pipeline, type Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { RobotsFilterError } from '../../errors.js';
import { describeForeign, isGzip } from '../signature.js';
import { type ChunkSource, Chunks, startedSource, streamSource } from './chunks.js';
import { describeColumns } from './columns.js';
import {
  closeDescriptor,
  DescriptorSource,
  descriptorKind,
  descriptorOffset,
  descriptorStatus,
  descriptorStream,
  openDescriptor,
} from './descriptor.js';
import {
  byteOrderMarkOctets,
  HEAD_OCTETS,
  type InputFormat,
  needsMoreOctets,
  recogniseFormat,
  sniffFormat,
} from './format.js';
import type { PipeStart } from './pipe-start.js';

const LINE_FEED = 0x0a;

/** The path that stands for standard input. */
export const STANDARD_INPUT = '-';

export interface OpenInputOptions {
  /** What the input holds; `auto` has it told from the first octets. Default `auto`. */
  readonly format?: InputFormat | 'auto';
  /** The longest record of JSON, in octets. Default 16 MiB. */
  readonly maxRecordBytes?: number;
  /** How deep brackets and braces of JSON may nest. Default 1,000. */
  readonly maxDepth?: number;
  /**
   * What has been taken from the pipe that the input is, or undefined if it has not been touched.
   */
  readonly taken?: PipeStart | undefined;
}

interface InputBase {
  /** The input as messages name it: its path, or `standard input`. */
  readonly name: string;
  /**
   * What the input holds. The lines of `json` are NDJSON, but that some may be strings or other
   * values.
   */
  readonly format: InputFormat;
  /** The octets of a regular file as it lies on the disk, compressed or not; else undefined. */
  readonly size: number | undefined;
  readonly isTerminal: boolean;
  /** Nothing but white space came before the format was settled: it may be any. */
  readonly isBlank: boolean;
  /**
   * Closes what was opened for the input and destroys its stream. To be called once nobody
   * reads the descriptor any more. Standard input itself stays open if it is a file or a pipe.
   */
  close(): Promise<void>;
}

/** A regular file of lines, to be read by position: from `offset` until nothing more comes. */
export interface FileInput extends InputBase {
  readonly kind: 'file';
  readonly descriptor: number;
  /**
   * Where the first line begins, in octets: after a byte order mark, and where an inherited
   * descriptor stood.
   */
  readonly offset: number;
}

/**
 * A pipe of lines: `head` first, then what reads of `descriptor` bring. They block, unless
 * whoever made the pipe had it otherwise: then they fail with `EAGAIN` while it is empty.
 */
export interface PipeInput extends InputBase {
  readonly kind: 'pipe';
  readonly descriptor: number;
  readonly head: Uint8Array;
}

/** All other input: a stream of lines, which fails with a `RobotsFilterError`. */
export interface StreamInput extends InputBase {
  readonly kind: 'stream';
  readonly stream: Readable;
  /** The octets read of the input so far, counted as `size` counts them. */
  consumed(): number;
}

export type OpenInput = FileInput | PipeInput | StreamInput;

/**
 * Opens an input and finds out what it is. For that it reads no further than to the end of the
 * first line and at most some 64 KiB, none of which is lost. Waits for input that is slow to come.
 *
 * gzip (RFC 1952, one member or many) is known by its first octets and decompressed; JSON is
 * turned into lines; a byte order mark at the start is dropped. An empty input counts as text.
 *
 * @param path a path, or `-` for standard input
 * @throws RobotsFilterError `input` if the input cannot be opened or read, is a directory, or
 *   is in another compression or encoding; or if its format is to be told, and it is a list in
 *   columns
 */
export async function openInput(path: string, options: OpenInputOptions = {}): Promise<OpenInput> {
  if (path === STANDARD_INPUT) return examine(0, 'standard input', options);
  let descriptor: number;
  try {
    descriptor = await openDescriptor(path, 'r');
  } catch (error) {
    throw unreadable(path, error);
  }
  return examine(descriptor, path, options);
}

async function examine(
  descriptor: number,
  name: string,
  options: OpenInputOptions,
): Promise<OpenInput> {
  const status = await descriptorStatus(descriptor).catch((error) => {
    throw unreadable(name, error);
  });
  const kind = descriptorKind(descriptor, status);
  if (kind === 'directory') {
    if (descriptor !== 0) await closeDescriptor(descriptor);
    throw new RobotsFilterError(
      'input',
      `${name}: is a directory. Name the files in it; robots.txt files go with --robots-dir.`,
    );
  }

  const ownsDescriptor = (kind === 'file' || kind === 'pipe') && descriptor !== 0;
  // Standard input may be a file of which somebody else has read a part.
  const offset = kind !== 'file' ? undefined : descriptor === 0 ? descriptorOffset(0) : 0;
  const source =
    kind === 'file'
      ? DescriptorSource.ofFile(descriptor, offset, status.size)
      : kind === 'pipe'
        ? await pipeSource(descriptor, options.taken)
        : streamSource(descriptorStream(descriptor, kind));
  const raw = new Chunks(source, (error, octets) => unreadable(name, error, octets));
  const close = async () => {
    await raw.abandon();
    if (ownsDescriptor) await closeDescriptor(descriptor);
  };

  try {
    const suffices = (head: Uint8Array) => formatIsCertain(head, options.format);
    let chunks = raw;
    let head = await raw.peek(HEAD_OCTETS, suffices);
    if (isGzip(head)) {
      chunks = decompressed(raw, name);
      head = await chunks.peek(HEAD_OCTETS, suffices);
    }
    refuseForeign(head, name, chunks !== raw);
    const { format: asked = 'auto' } = options;
    if (asked === 'auto') {
      const isWhole =
        kind === 'file' ? (offset ?? 0) + raw.octets >= status.size : options.taken?.ended === true;
      refuseColumns(head, name, isWhole && chunks === raw);
    }
    const format = asked === 'auto' ? sniffFormat(head) : asked;
    const markOctets = byteOrderMarkOctets(head);
    const input = {
      name,
      format,
      size: kind === 'file' ? status.size : undefined,
      isTerminal: kind === 'terminal',
      isBlank: recogniseFormat(head) === undefined && format === 'text',
    };

    const isPlain = chunks === raw && format !== 'json';
    if (isPlain && (kind === 'file' || (kind === 'pipe' && options.taken?.ended !== true))) {
      await raw.abandon();
      return offset === undefined
        ? { ...input, kind: 'pipe', descriptor, head: head.subarray(markOctets), close }
        : { ...input, kind: 'file', descriptor, offset: offset + markOctets, close };
    }
    chunks.drop(markOctets);
    const stream = format === 'json' ? await records(chunks, name, options) : chunks.stream();
    return {
      ...input,
      kind: 'stream',
      stream,
      consumed: () => raw.octets,
      close: async () => {
        stream.destroy();
        await close();
      },
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function pipeSource(descriptor: number, taken: PipeStart | undefined): Promise<ChunkSource> {
  if (taken === undefined) return DescriptorSource.ofPipe(descriptor);
  return startedSource(
    taken.octets,
    taken.ended ? undefined : await DescriptorSource.ofPipe(descriptor),
  );
}

function formatIsCertain(head: Uint8Array, format: InputFormat | 'auto' = 'auto'): boolean {
  if (needsMoreOctets(head)) return false;
  if (isGzip(head) || format !== 'auto') return true;
  const recognised = recogniseFormat(head);
  // Whether text is columns shows in its first lines: as many of them as one read brings, and one
  // at least.
  return recognised === 'text' ? head.includes(LINE_FEED) : recognised !== undefined;
}

function decompressed(raw: Chunks, name: string): Chunks {
  const gunzip = createGunzip({ chunkSize: HEAD_OCTETS });
  // Whatever goes wrong on the way destroys `gunzip` with the error, and shows to who reads it.
  pipeline(raw.stream(), gunzip, () => {});
  return new Chunks(streamSource(gunzip), (error, octets) =>
    error instanceof RobotsFilterError ? error : damagedGzip(name, error, octets),
  );
}

async function records(chunks: Chunks, name: string, options: OpenInputOptions): Promise<Readable> {
  // Loading stream-json takes 10 ms, which other inputs do without.
  const { JsonRecords } = await import('./json-records.js');
  const { maxRecordBytes, maxDepth } = options;
  const stream = new JsonRecords({
    name,
    ...(maxRecordBytes === undefined ? {} : { maxRecordBytes }),
    ...(maxDepth === undefined ? {} : { maxDepth }),
  });
  pipeline(chunks.stream(), stream, () => {});
  return stream;
}

/** @param decompressed whether these octets were in gzip data */
function refuseForeign(head: Uint8Array, name: string, decompressed: boolean): void {
  const what = describeForeign(head, decompressed);
  if (what !== undefined) throw new RobotsFilterError('input', `${name}: ${what}`);
}

/** @param isWhole whether nothing comes after these octets */
function refuseColumns(head: Uint8Array, name: string, isWhole: boolean): void {
  const what = describeColumns(head, isWhole);
  if (what !== undefined) throw new RobotsFilterError('input', `${name}: ${what}`);
}

function damagedGzip(name: string, cause: unknown, octets: number): RobotsFilterError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  return new RobotsFilterError(
    'input',
    `${name}: the gzip data is damaged or cut off (${reason}); ` +
      `${octets} decompressed bytes came out before. Fetch or write the file again.`,
    { cause },
  );
}

const REMEDIES: ReadonlyMap<unknown, string> = new Map([
  ['ENOENT', 'no such file. Mind the spelling and the working directory.'],
  ['ENOTDIR', 'no such file: a part of the path is no directory. Mind the spelling.'],
  ['EACCES', 'permission denied. Have it made readable for this user (chmod +r).'],
  ['EPERM', 'permission denied. Have it made readable for this user (chmod +r).'],
  ['EBADF', 'is closed. Redirect something into it, or name a file.'],
  ['EMFILE', 'too many open files. Raise the bound (ulimit -n).'],
]);

function unreadable(name: string, cause: unknown, octets = 0): RobotsFilterError {
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  const reason = cause instanceof Error ? cause.message : String(cause);
  const remedy =
    REMEDIES.get(code) ??
    `reading failed at byte ${octets} (${reason}). Try again, or copy it to a file first.`;
  return new RobotsFilterError('input', `${name}: ${remedy}`, { cause });
}
