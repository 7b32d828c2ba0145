import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { Arena, createMemory, PAGE_BYTES } from '../../src/kernel/kernel.js';
import {
  QUERY_BYTES,
  QUERY_FLAGS,
  QUERY_LINE_OVERHEAD,
  QUERY_MAX_LINE,
  QUERY_STRICT,
  QUERY_UNKNOWN,
  WORKER_TALLY,
} from '../../src/kernel/layout.js';
import type { BadRecord } from '../../src/pipeline/bad-record.js';
import { Run } from '../../src/pipeline/run.js';
import { MainThread } from '../../src/workers/main-thread.js';
import type { Executor } from '../../src/workers/messages.js';
import { Pool } from '../../src/workers/pool.js';
import { FAKE_OVERHEAD } from '../workers/fake-judge.js';

const FAKE_KERNEL = new URL('../workers/fake-kernel.mjs', import.meta.url).href;
/** The smallest possible module: the fake kernel needs none. */
const NO_MODULE = new WebAssembly.Module(Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0));

const pools = new Map<string, Pool>();

/** An executor with the fake kernel on this many threads; on the main thread if there are none. */
export function fakePool(threads: number): Executor {
  return threads === 0 ? new MainThread(FAKE_KERNEL) : fakeThreads(threads);
}

/** An executor with the fake kernel on this many threads, including the main thread if possible. */
export function fakeJointPool(threads: number): Executor {
  return onlyPool(
    `joint ${threads}`,
    () => new Pool({ threads, joins: true, kernel: FAKE_KERNEL }),
  );
}

function fakeThreads(threads: number): Executor {
  return onlyPool(`${threads}`, () => new Pool({ threads, reader: true, kernel: FAKE_KERNEL }));
}

/** One pool for each kind and number of threads, since starting threads takes long. */
function onlyPool(name: string, create: () => Pool): Executor {
  const pool = pools.get(name) ?? create();
  pools.set(name, pool);
  return pool;
}

export async function closePools(): Promise<void> {
  for (const pool of pools.values()) await pool.close();
  pools.clear();
}

export interface FakeFlowSettings {
  readonly threads?: number;
  readonly batchBytes?: number;
  readonly slots?: number;
  readonly maxLineBytes?: number;
  readonly strict?: boolean;
  /** Makes threads take different times for their batches. */
  readonly jitter?: boolean;
  readonly pool?: Executor;
}

export interface FakeFlow {
  readonly flow: Run;
  readonly bad: BadRecord[];
  /** The flow does not use the first page. */
  readonly memory: WebAssembly.Memory;
  /** Closes the flow, and passes its memory, with its contents, to a later flow. */
  close(): Promise<void>;
}

/** Memories of closed flows. Growing a new one takes far longer than filtering a short input. */
const memories: WebAssembly.Memory[] = [];

/** An arena over all of a memory except its first page, which the fake kernel uses. */
function usedArena(memory: WebAssembly.Memory): Arena {
  new Uint8Array(memory.buffer).fill(0, 0, PAGE_BYTES);
  const arena = new Arena(memory);
  arena.give({ address: PAGE_BYTES, bytes: memory.buffer.byteLength - PAGE_BYTES });
  return arena;
}

/** A flow with the fake kernel. */
export function fakeFlow(settings: FakeFlowSettings = {}): FakeFlow {
  const { maxLineBytes = 1 << 20, threads = 2, batchBytes, slots } = settings;
  const memory = memories.pop() ?? createMemory(PAGE_BYTES);
  const arena = usedArena(memory);
  const { address } = arena.take(QUERY_BYTES);
  const query = new DataView(arena.memory.buffer, address, QUERY_BYTES);
  query.setUint32(QUERY_FLAGS, settings.strict ? QUERY_STRICT : 0, true);
  query.setUint32(QUERY_LINE_OVERHEAD, FAKE_OVERHEAD, true);
  query.setUint32(QUERY_MAX_LINE, maxLineBytes, true);
  query.setUint32(QUERY_UNKNOWN, settings.jitter ? 1 : 0, true);
  const bad: BadRecord[] = [];
  const flow = new Run({
    pool: settings.pool ?? fakePool(threads),
    arena,
    module: NO_MODULE,
    query: {
      address,
      lineFactor: 1,
      lineOverhead: FAKE_OVERHEAD,
      workerBytes: WORKER_TALLY + 1024,
      maxLineBytes,
      outcomes: 1,
    },
    ...(batchBytes === undefined ? {} : { batchBytes }),
    ...(slots === undefined ? {} : { slots }),
    onBadRecord: (record) => bad.push(record),
  });
  const close = async (): Promise<void> => {
    await flow.close();
    memories.push(memory);
  };
  return { flow, bad, memory, close };
}

/** A directory for the files of one test file. */
export class TemporaryFiles {
  readonly directory = mkdtempSync(join(tmpdir(), 'robots-filter-flow-'));
  #count = 0;
  #input: { readonly content: string; readonly path: string } | undefined;
  readonly #output = join(this.directory, 'output');
  readonly #paths = new Map<FileHandle, string>();
  #unusedPipe: string | undefined;

  path(): string {
    return join(this.directory, String(this.#count++));
  }

  /** A file with this content, as Latin-1. */
  file(content: string): string {
    const path = this.path();
    writeFileSync(path, content, 'latin1');
    return path;
  }

  /** Opens a file with this content, as Latin-1; reuses the file while the content is the same. */
  openInput(content: string): number {
    if (this.#input?.content !== content) this.#input = { content, path: this.file(content) };
    return openSync(this.#input.path, 'r');
  }

  /** Opens a new file; `takeOutput` reads the file after it has been written. */
  openOutput(): number {
    return openSync(this.#output, 'w');
  }

  /**
   * Reads the output and removes the file: a file that is removed at once is never written to the
   * disk.
   */
  takeOutput(): string {
    const text = readFileSync(this.#output, 'latin1');
    rmSync(this.#output);
    return text;
  }

  /** A named pipe, open at both ends; reads of it block. */
  async pipe(): Promise<{ reader: FileHandle; writer: FileHandle }> {
    const path = this.#unusedPipe ?? this.path();
    if (this.#unusedPipe === undefined) execFileSync('mkfifo', [path]);
    this.#unusedPipe = undefined;
    const [reader, writer] = await Promise.all([open(path, 'r'), open(path, 'w')]);
    this.#paths.set(reader, path);
    return { reader, writer };
  }

  /** Closes both ends of a pipe, whose name is then used again. */
  async closePipe({ reader, writer }: { reader: FileHandle; writer: FileHandle }): Promise<void> {
    await Promise.all([reader.close(), writer.close()]);
    this.#unusedPipe = this.#paths.get(reader);
  }

  remove(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }
}

/** Filters a file to another file: the workers read and write. */
export async function throughFiles(
  flow: Run,
  files: TemporaryFiles,
  input: string,
): Promise<string> {
  const from = files.openInput(input);
  const to = files.openOutput();
  try {
    await flow.filter({ kind: 'file', name: 'input', descriptor: from, offset: 0 }, to);
  } finally {
    closeSync(from);
    closeSync(to);
  }
  return files.takeOutput();
}

/** Collects everything that is written to it. */
export class Sink extends Writable {
  readonly #chunks: Buffer[] = [];

  constructor() {
    super({
      write: (chunk, _encoding, callback) => {
        this.#chunks.push(chunk);
        callback();
      },
    });
  }

  get text(): string {
    return Buffer.concat(this.#chunks).toString('latin1');
  }
}

/** Filters a stream of these chunks to a stream: the main thread reads and writes. */
export async function throughStreams(flow: Run, chunks: readonly string[]): Promise<string> {
  const sink = new Sink();
  const stream = Readable.from(chunks.map((chunk) => Buffer.from(chunk, 'latin1')));
  await flow.filter({ kind: 'stream', name: 'input', stream }, sink);
  return sink.text;
}

/** Filters a file to a stream: the workers read, the main thread writes. */
export async function throughFileToStream(
  flow: Run,
  files: TemporaryFiles,
  input: string,
): Promise<string> {
  const sink = new Sink();
  const descriptor = files.openInput(input);
  try {
    await flow.filter({ kind: 'file', name: 'input', descriptor, offset: 0 }, sink);
  } finally {
    closeSync(descriptor);
  }
  return sink.text;
}

/**
 * Filters the input of a pipe, which is written part by part. To a stream: a separate thread reads,
 * the main thread writes. To a file: if there are several threads, the workers read and write.
 */
export async function throughPipe(
  flow: Run,
  files: TemporaryFiles,
  parts: readonly string[],
  to: 'stream' | 'file' = 'stream',
): Promise<string> {
  const pipe = await files.pipe();
  const { reader, writer } = pipe;
  const sink = new Sink();
  const descriptor = to === 'file' ? files.openOutput() : undefined;
  const before = flow.progress().bytes;
  try {
    const [head = '', ...rest] = parts;
    const run = flow.filter(
      {
        kind: 'pipe',
        name: 'input',
        descriptor: reader.fd,
        head: Buffer.from(head, 'latin1'),
      },
      descriptor ?? sink,
    );
    // A run that fails before its input ends is awaited below.
    run.catch(() => {});
    let written = head.length;
    for (const part of rest) {
      // The previous part has been read by then, so no two parts arrive together.
      while (flow.progress().bytes - before < written) {
        await new Promise((resolve) => setImmediate(resolve));
      }
      await writer.write(Buffer.from(part, 'latin1'));
      written += part.length;
    }
    await writer.close();
    await run;
  } finally {
    await files.closePipe(pipe);
    if (descriptor !== undefined) closeSync(descriptor);
  }
  return descriptor === undefined ? sink.text : files.takeOutput();
}
