import { docsPage, RobotsFilterError } from '../errors.js';
import { OFFSET_BYTES } from '../kernel/layout.js';
import type { FrameInput } from './frame-streams.js';
import {
  ALIGNMENT,
  FLAG_EXPLAIN,
  FLAG_WARN,
  KIND_JUDGE,
  MAX_AGENTS_BYTES,
  MAX_REQUEST_URL_BYTES,
  MAX_VERDICTS,
  REQUEST_AGENTS,
  REQUEST_BYTES,
  REQUEST_COUNT,
  REQUEST_FLAGS,
  REQUEST_KIND,
  REQUEST_URL_BYTES,
} from './protocol.js';

/** A request whose header has been read, and found within its limits. */
export interface Request {
  /** The agents as they were sent: JSON. */
  readonly agents: string;
  readonly explain: boolean;
  /** Whether a warning about the agents is wanted. */
  readonly warn: boolean;
  /** Number of URLs. */
  readonly count: number;
  readonly urlBytes: number;
}

/** Takes the offsets and the URLs of a request. */
export interface ColumnMemory {
  /** Returns the memory for the offsets, at the beginning, and the URLs right after them. */
  columnMemory(count: number, urlBytes: number): Uint8Array;
}

/**
 * Reads a request; undefined at the end of the input. Nothing is allocated before the header is
 * found within its limits.
 *
 * @throws RobotsFilterError `input` for a frame that is none
 */
export function readRequest(input: FrameInput, memory: ColumnMemory): Request | undefined {
  const header = Buffer.alloc(REQUEST_BYTES);
  if (!input.begin(header, 'the header of a request')) return undefined;
  const word = (at: number): number => header.readUInt32LE(at);
  if (word(REQUEST_KIND) !== KIND_JUDGE) {
    throw refusedFrame(`a request of kind ${word(REQUEST_KIND)}`, `The only kind is ${KIND_JUDGE}`);
  }
  const flags = word(REQUEST_FLAGS);
  if ((flags & ~(FLAG_EXPLAIN | FLAG_WARN)) !== 0) {
    throw refusedFrame(
      `a request with flags ${flags}`,
      `The flags are ${FLAG_EXPLAIN} and ${FLAG_WARN}`,
    );
  }
  const agentsBytes = word(REQUEST_AGENTS);
  const count = word(REQUEST_COUNT);
  const urlBytes = word(REQUEST_URL_BYTES);
  checkLimit('bytes of agents', agentsBytes, MAX_AGENTS_BYTES);
  checkLimit('URLs', count, MAX_VERDICTS);
  checkLimit('bytes of URLs', urlBytes, MAX_REQUEST_URL_BYTES);
  const agents = Buffer.alloc(Math.ceil(agentsBytes / ALIGNMENT) * ALIGNMENT);
  input.read(agents, 'the agents of a request');
  const column = memory.columnMemory(count, urlBytes);
  input.read(column, 'the URLs of a request');
  rebaseOffsets(new Uint32Array(column.buffer, column.byteOffset, count + 1), urlBytes);
  return {
    agents: agents.toString('utf8', 0, agentsBytes),
    explain: (flags & FLAG_EXPLAIN) !== 0,
    warn: (flags & FLAG_WARN) !== 0,
    count,
    urlBytes,
  };
}

/** Bytes of the offsets and the URLs. */
export function columnBytes(count: number, urlBytes: number): number {
  return OFFSET_BYTES * (count + 1) + urlBytes;
}

/**
 * Makes the offsets begin with 0, as the kernel takes for granted: a slice of an Arrow array begins
 * elsewhere.
 *
 * @throws RobotsFilterError `input` unless the offsets ascend over exactly the bytes of the URLs
 */
function rebaseOffsets(offsets: Uint32Array, urlBytes: number): void {
  const base = offsets[0] as number;
  let last = 0;
  for (let index = 0; index < offsets.length; index++) {
    const offset = (offsets[index] as number) - base;
    if (offset < last || offset > urlBytes) {
      throw refusedFrame(
        `a request whose offset ${index} is ${offsets[index]}`,
        `Offsets ascend from ${base} to at most ${base + urlBytes}`,
      );
    }
    offsets[index] = offset;
    last = offset;
  }
  if (last !== urlBytes) {
    throw refusedFrame(
      `a request of ${urlBytes} bytes of URLs whose offsets span ${last}`,
      'The last offset is the end of the last URL',
    );
  }
}

function checkLimit(what: string, value: number, most: number): void {
  if (value <= most) return;
  throw refusedFrame(`a request with ${value} ${what}`, `Send at most ${most} at a time`);
}

/** The error for a frame that no client of this protocol sends. What follows cannot be read. */
function refusedFrame(what: string, remedy: string): RobotsFilterError {
  return new RobotsFilterError(
    'input',
    `standard input has ${what}. ${remedy}: see ${docsPage('serve.md')}`,
  );
}
