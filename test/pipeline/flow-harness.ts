import { execFileSync } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { Arena } from '../../src/kernel/arena.js';
import { createMemory } from '../../src/kernel/kernel.js';
import {
  QUERY_FLAGS,
  QUERY_LINE_OVERHEAD,
  QUERY_MAX_LINE,
  QUERY_OCTETS,
  QUERY_STRICT,
  QUERY_UNKNOWN,
  WORKER_TALLY,
} from '../../src/kernel/layout.js';
import type { BadRecord } from '../../src/pipeline/bad-record.js';
import { Flow } from '../../src/pipeline/flow.js';
import type { Executor } from '../../src/workers/executor.js';
import { JointPool } from '../../src/workers/joint-pool.js';
import { MainThread } from '../../src/workers/main-thread.js';
import { Pool } from '../../src/workers/pool.js';
import { FAKE_OVERHEAD } from '../workers/fake-judge.js';

const FAKE_KERNEL = new URL('../workers/fake-kernel.mjs', import.meta.url).href;
/** The smallest module that there is: the fake kernel needs none. */
const NO_MODULE = new WebAssembly.Module(Uint8Array.of(0, 0x61, 0x73, 0x6d, 1, 0, 0, 0));

const pools = new Map<string, Pool | JointPool>();

/** What judges with the fake kernel, on so many threads; on none the main thread does. */
export function fakePool(threads: number): Executor {
  return threads === 0 ? new MainThread(FAKE_KERNEL) : fakeThreads(threads);
}

/**
 * What judges with the fake kernel on so many threads, of which the main thread is one where it may
 * be.
 */
export function fakeJointPool(threads: number): Executor {
  return onlyPool(`joint ${threads}`, () => new JointPool({ threads, kernel: FAKE_KERNEL }));
}

function fakeThreads(threads: number): Executor {
  return onlyPool(`${threads}`, () => new Pool({ threads, reader: true, kernel: FAKE_KERNEL }));
}

/** One pool of each kind and number of threads, since starting them takes long. */
function onlyPool(name: string, create: () => Pool | JointPool): Executor {
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
  readonly batchOctets?: number;
  readonly slots?: number;
  readonly maxLineOctets?: number;
  readonly strict?: boolean;
  /** Has threads take different times for their batches. */
  readonly jitter?: boolean;
  readonly pool?: Executor;
}

export interface FakeFlow {
  readonly flow: Flow;
  readonly bad: BadRecord[];
  /** Its first page is of no use to the flow. */
  readonly memory: WebAssembly.Memory;
}

/** A flow with the fake kernel. */
export function fakeFlow(settings: FakeFlowSettings = {}): FakeFlow {
  const { maxLineOctets = 1 << 20, threads = 2, batchOctets, slots } = settings;
  const arena = new Arena(createMemory(1 << 16));
  const { address } = arena.take(QUERY_OCTETS);
  const query = new DataView(arena.memory.buffer, address, QUERY_OCTETS);
  query.setUint32(QUERY_FLAGS, settings.strict ? QUERY_STRICT : 0, true);
  query.setUint32(QUERY_LINE_OVERHEAD, FAKE_OVERHEAD, true);
  query.setUint32(QUERY_MAX_LINE, maxLineOctets, true);
  query.setUint32(QUERY_UNKNOWN, settings.jitter ? 1 : 0, true);
  const bad: BadRecord[] = [];
  const flow = new Flow({
    pool: settings.pool ?? fakePool(threads),
    arena,
    module: NO_MODULE,
    query: {
      address,
      lineOverhead: FAKE_OVERHEAD,
      workerOctets: WORKER_TALLY + 1024,
      maxLineOctets,
      agents: 1,
    },
    ...(batchOctets === undefined ? {} : { batchOctets }),
    ...(slots === undefined ? {} : { slots }),
    onBadRecord: (record) => bad.push(record),
  });
  return { flow, bad, memory: arena.memory };
}

/** A directory for the files of one test file. */
export class TemporaryFiles {
  readonly directory = mkdtempSync(join(tmpdir(), 'robots-filter-flow-'));
  #count = 0;
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

  /** A named pipe, open at both ends; reads of it block. */
  async pipe(): Promise<{ reader: FileHandle; writer: FileHandle }> {
    const path = this.#unusedPipe ?? this.path();
    if (this.#unusedPipe === undefined) execFileSync('mkfifo', [path]);
    this.#unusedPipe = undefined;
    const [reader, writer] = await Promise.all([open(path, 'r'), open(path, 'w')]);
    this.#paths.set(reader, path);
    return { reader, writer };
  }

  /** Closes what is still open of a pipe, whose name is then used again. */
  async closePipe({ reader, writer }: { reader: FileHandle; writer: FileHandle }): Promise<void> {
    await Promise.all([reader.close(), writer.close()]);
    this.#unusedPipe = this.#paths.get(reader);
  }

  remove(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }
}

/** Filters a file's octets to another file: the workers read and write. */
export async function throughFiles(
  flow: Flow,
  files: TemporaryFiles,
  input: string,
): Promise<string> {
  const from = openSync(files.file(input), 'r');
  const path = files.path();
  const to = openSync(path, 'w');
  try {
    await flow.run({ kind: 'file', name: 'input', descriptor: from, offset: 0 }, to);
  } finally {
    closeSync(from);
    closeSync(to);
  }
  return readFileSync(path, 'latin1');
}

/** Gathers what is written to it. */
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
export async function throughStreams(flow: Flow, chunks: readonly string[]): Promise<string> {
  const sink = new Sink();
  const stream = Readable.from(chunks.map((chunk) => Buffer.from(chunk, 'latin1')));
  await flow.run({ kind: 'stream', name: 'input', stream }, sink);
  return sink.text;
}

/** Filters a file's octets to a stream: the workers read, the main thread writes. */
export async function throughFileToStream(
  flow: Flow,
  files: TemporaryFiles,
  input: string,
): Promise<string> {
  const sink = new Sink();
  const descriptor = openSync(files.file(input), 'r');
  try {
    await flow.run({ kind: 'file', name: 'input', descriptor, offset: 0 }, sink);
  } finally {
    closeSync(descriptor);
  }
  return sink.text;
}

/**
 * Filters what is written to a pipe part by part. To a stream: a thread of its own reads, the main
 * thread writes. To a file: if there are several threads, the workers read and write.
 */
export async function throughPipe(
  flow: Flow,
  files: TemporaryFiles,
  parts: readonly string[],
  to: 'stream' | 'file' = 'stream',
): Promise<string> {
  const pipe = await files.pipe();
  const { reader, writer } = pipe;
  const sink = new Sink();
  const path = to === 'file' ? files.path() : undefined;
  const descriptor = path === undefined ? undefined : openSync(path, 'w');
  const before = flow.progress().octets;
  try {
    const [head = '', ...rest] = parts;
    const run = flow.run(
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
      // The part before has been read by then, so that none comes together with another.
      while (flow.progress().octets - before < written) {
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
  return path === undefined ? sink.text : readFileSync(path, 'latin1');
}
