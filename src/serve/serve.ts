/**
 * Serves verdicts to another program: the greeting, then the threads that answer frames on pipes.
 */

import { Buffer } from 'node:buffer';
import { docsPage, RobotsFilterError } from '../base/errors.js';
import { isTerminal } from '../files/openings.js';
import { hasHistories, type TableMemory } from '../judge/table-memory.js';
import { USE_REASONS, USE_WORDS } from '../protocol/uses.js';
import { REASONS, VERDICTS } from '../protocol/verdict.js';
import { checksumText } from '../table/manifest.js';
import { Threads } from '../workers/pool.js';
import {
  beginFrame,
  ClosedError,
  GREETING_BYTES,
  LIMITS,
  MAGIC,
  PROTOCOL_VERSION,
  Turns,
  writeFrame,
} from './protocol.js';
import serveRequests, { type ServeEnd, type ServeTask } from './thread.js';

const INPUT = 0;
const OUTPUT = 1;

export interface ServeSettings {
  /** The version of the program. */
  readonly version: string;
  /** The agents of requests that name none. */
  readonly agents: readonly string[];
  /** Number of shards, if the shards of hosts are asked for and not verdicts. */
  readonly addedShards?: number | undefined;
  /** Number of threads that judge. */
  readonly threads: number;
}

/** Reads the client's greeting; false if the input ends before it. */
function readGreeting(): boolean {
  if (isTerminal(INPUT)) {
    throw new RobotsFilterError(
      'usage',
      `serve answers programs, and standard input is a terminal. To judge URLs, type robots-filter --table FILE urls.txt; ${docsPage('serve.md')} describes the frames`,
    );
  }
  const greeting = Buffer.alloc(GREETING_BYTES);
  if (!beginFrame(INPUT, greeting, 'the greeting')) return false;
  if (greeting.readUInt32LE(0) !== MAGIC) {
    throw new RobotsFilterError(
      'input',
      `standard input does not begin with a greeting of this protocol. serve answers programs (${docsPage('serve.md')}); to judge URLs, type robots-filter --table FILE urls.txt`,
    );
  }
  const version = greeting.readUInt32LE(4);
  if (version === PROTOCOL_VERSION) return true;
  throw new RobotsFilterError(
    'input',
    `the client speaks version ${version} of the protocol, and this program version ${PROTOCOL_VERSION}. Install the same version of both`,
  );
}

function writeGreeting(table: TableMemory, { version }: ServeSettings): void {
  const { header } = table;
  const facts = {
    program: version,
    profile: header.profile,
    hosts: header.hosts,
    rules: header.rules,
    checksum: checksumText(header.checksum),
    histories: hasHistories(table),
    signals: table.view.hasSignals,
    verdicts: VERDICTS,
    reasons: REASONS,
    answers: USE_WORDS.map((word) => (word === '' ? null : word)),
    useReasons: USE_REASONS,
    limits: LIMITS,
  };
  const json = Buffer.from(JSON.stringify(facts));
  const words = Buffer.alloc(12);
  words.writeUInt32LE(MAGIC, 0);
  words.writeUInt32LE(PROTOCOL_VERSION, 4);
  words.writeUInt32LE(json.length, 8);
  writeFrame(OUTPUT, Buffer.concat([words, json]));
}

/** How `serve` ended: whether all threads have, or some may be blocked for ever. */
export interface ServeResult {
  readonly isBlocked: boolean;
  /** The error that ended it. */
  readonly error?: unknown;
}

/** Answers the requests on standard input until it ends, on standard output. */
export async function serve(table: TableMemory, settings: ServeSettings): Promise<ServeResult> {
  try {
    if (!readGreeting()) return { isBlocked: false };
    writeGreeting(table, settings);
  } catch (error) {
    return error instanceof ClosedError ? { isBlocked: false } : { isBlocked: false, error };
  }
  const { arena, header, shards, banks } = table;
  const [first] = banks[0]?.shards ?? [];
  if (first === undefined || banks.length > 1) {
    throw new Error('a table that is served lies in one memory');
  }
  // With --parts, the first stands in place of each shard that is not in memory: it knows none of
  // its hosts.
  const served = shards.map((shard) => shard ?? first);
  const task: ServeTask = {
    memory: arena.memory,
    tables: served.map(({ table, header }) => ({ table, bytes: header.length })),
    addedShards: settings.addedShards,
    time: table.time,
    isWhole: shards.every((shard) => shard !== undefined),
    histories: hasHistories(table),
    profile: header.profile,
    agents: settings.agents,
    turns: new Turns().buffer,
    input: INPUT,
    output: OUTPUT,
  };
  // One thread needs no other that watches it.
  if (settings.threads === 1) return { ...resultOf(serveRequests(task)), isBlocked: false };
  return onThreads(task, settings.threads);
}

/** Resolves when all threads have ended, or one of them so that the others may not. */
async function onThreads(task: ServeTask, threads: number): Promise<ServeResult> {
  const pool = new Threads<ServeTask, ServeEnd>(threads, {
    entry: 'serve',
    heapMebibytes: undefined,
  });
  return new Promise((resolve) => {
    let result: ServeResult = { isBlocked: false };
    let left = threads;
    const runOne = async (): Promise<void> => {
      try {
        const own = resultOf(await pool.run(task));
        if (own.isBlocked) resolve(own);
        if (own.error !== undefined) result = own;
      } catch (error) {
        resolve({ isBlocked: true, error });
      }
      left--;
      if (left === 0) resolve(result);
    };
    for (let i = 0; i < threads; i++) void runOne();
  });
}

function resultOf(ended: ServeEnd): ServeResult {
  if (!('error' in ended)) return { isBlocked: ended.end === 'closed' };
  const { code, message } = ended.error;
  return { isBlocked: ended.end === 'failed', error: new RobotsFilterError(code, message) };
}
