import type { Readable } from 'node:stream';
import { Producer } from '../../workers/producer.js';
import type { Ring } from '../../workers/ring/ring.js';

/**
 * Fills the ring from a stream, on the main thread, as slots become free. If the stream fails, the
 * lines before the failure are passed on, except an unfinished last one.
 *
 * @returns the error with which the stream failed
 */
export async function produceFromStream(ring: Ring, stream: Readable): Promise<unknown> {
  const producer = new Producer(ring);
  let failure: unknown;
  try {
    for await (const chunk of stream) {
      if (!(await pour(ring, producer, bytesOf(chunk)))) return undefined;
    }
  } catch (error) {
    failure = error;
  }
  while (!ring.stopped && !producer.end(failure === undefined)) {
    await ring.waits.inEventLoop(producer.awaitedWord, producer.awaitedValue);
  }
  return failure;
}

/**
 * Puts a chunk into the ring; returns false if the run was stopped. Returns when there is room
 * again, because workers get lines that were carried over only when the next slot is opened.
 */
async function pour(ring: Ring, producer: Producer, chunk: Uint8Array): Promise<boolean> {
  let rest = chunk;
  while (!ring.stopped) {
    const room = producer.room();
    if (room === undefined) {
      await ring.waits.inEventLoop(producer.awaitedWord, producer.awaitedValue);
      continue;
    }
    if (rest.length === 0) return true;
    const part = rest.subarray(0, room.length);
    room.set(part);
    rest = rest.subarray(part.length);
    producer.accept(part.length);
  }
  return false;
}

function bytesOf(chunk: unknown): Uint8Array {
  if (chunk instanceof Uint8Array) return chunk;
  if (typeof chunk === 'string') return Buffer.from(chunk);
  throw new TypeError(`the stream gives ${typeof chunk}, not bytes`);
}
