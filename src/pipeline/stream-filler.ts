import type { Readable } from 'node:stream';
import { Filler } from '../workers/filler.js';
import type { Ring } from '../workers/ring.js';

/**
 * Fills the ring from a stream, on the main thread, at the pace at which slots become free. An
 * input that fails ends there: what came before is passed on, but for a torn last line.
 *
 * @returns the error with which the stream failed
 */
export async function fillFromStream(ring: Ring, stream: Readable): Promise<unknown> {
  const filler = new Filler(ring);
  let failure: unknown;
  try {
    for await (const chunk of stream) {
      if (!(await pour(ring, filler, octetsOf(chunk)))) return undefined;
    }
  } catch (error) {
    failure = error;
  }
  while (!ring.stopped && !filler.end(failure === undefined)) {
    await ring.waitAsync(filler.awaitedWord, filler.awaitedValue);
  }
  return failure;
}

/**
 * Puts a chunk into the ring; false if the run was stopped. Returns only when there is room again:
 * lines that were carried over to the next slot are offered to the workers when that is opened.
 */
async function pour(ring: Ring, filler: Filler, chunk: Uint8Array): Promise<boolean> {
  let rest = chunk;
  while (!ring.stopped) {
    const room = filler.room();
    if (room === undefined) {
      await ring.waitAsync(filler.awaitedWord, filler.awaitedValue);
      continue;
    }
    if (rest.length === 0) return true;
    const part = rest.subarray(0, room.length);
    room.set(part);
    rest = rest.subarray(part.length);
    filler.accept(part.length);
  }
  return false;
}

function octetsOf(chunk: unknown): Uint8Array {
  if (chunk instanceof Uint8Array) return chunk;
  if (typeof chunk === 'string') return Buffer.from(chunk);
  throw new TypeError(`the stream gives ${typeof chunk}, not bytes`);
}
