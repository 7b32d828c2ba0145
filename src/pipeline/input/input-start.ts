import { closeSync, constants, openSync, readSync } from 'node:fs';
import { InputSocket } from './input-socket.js';

/** A whole input, or the first bytes of a pipe or socket, read to learn whether it is short. */
export interface InputStart {
  /** The bytes that were read; more may follow. */
  readonly bytes: Buffer;
  /** Whether nothing follows: the writers have closed the pipe or socket, or the file ends. */
  readonly ended: boolean;
  /** A socket from which the rest must be read. */
  readonly socket?: InputSocket;
}

/** Bytes per read: the capacity of a pipe. */
const READ_BYTES = 65_536;
/** Milliseconds to wait for the bytes of a socket, which cannot be read without an event loop. */
const SOCKET_PATIENCE = 10;

/**
 * Reads the bytes in a pipe without waiting for more, which tells the length of a short input.
 * `undefined` if the pipe cannot be read without blocking (`DescriptorSource.ofPipe`).
 *
 * @param most number of bytes after which reading stops
 */
export function takePipeStart(descriptor: number, most: number): InputStart | undefined {
  let opened: number;
  try {
    opened = openSync(`/proc/self/fd/${descriptor}`, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
  const chunks: Buffer[] = [];
  let bytes = 0;
  let ended = false;
  try {
    while (bytes < most) {
      const chunk = Buffer.allocUnsafeSlow(READ_BYTES);
      const read = readSync(opened, chunk);
      ended = read === 0;
      if (ended) break;
      chunks.push(chunk.subarray(0, read));
      bytes += read;
    }
  } catch {
    // The pipe is empty for now, or reading failed; the next reader gets the error.
  } finally {
    closeSync(opened);
  }
  return { bytes: Buffer.concat(chunks), ended };
}

/**
 * Reads the bytes in a socket, and those that arrive within 10 ms. Node connects a child process to
 * its parent by sockets, which have usually been written and closed by the time the child runs.
 *
 * @param most number of bytes after which reading stops
 */
export async function takeSocketStart(descriptor: number, most: number): Promise<InputStart> {
  const socket = new InputSocket(descriptor);
  const chunks: Buffer[] = [];
  let bytes = 0;
  let timer: NodeJS.Timeout | undefined;
  const ended = await new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), SOCKET_PATIENCE);
    socket.on('data', (chunk) => {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes >= most) resolve(false);
    });
    socket.once('end', () => resolve(true));
    // Stays for errors that come before the rest is read; the reader of the rest gets them.
    socket.on('error', () => resolve(false));
  });
  clearTimeout(timer);
  socket.pause();
  socket.removeAllListeners('data');
  return { bytes: Buffer.concat(chunks), ended, socket };
}
