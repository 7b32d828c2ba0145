import { closeSync, constants, openSync, readSync } from 'node:fs';

/** What a pipe held when it was looked into. */
export interface PipeStart {
  /** What has been taken from it; the rest is still to be read. */
  readonly octets: Buffer;
  /** Whether its writers have closed it, so that this is all. */
  readonly ended: boolean;
}

/** Octets of one read: what a pipe holds. */
const READ_OCTETS = 65_536;

/**
 * Takes what is in a pipe, and does not wait for more: so one knows of a short input, whose writer
 * has done with it, how long it is. Undefined where a pipe cannot be read without blocking
 * (`DescriptorSource.ofPipe`).
 *
 * @param most octets after which it is left off
 */
export function takePipeStart(descriptor: number, most: number): PipeStart | undefined {
  let opened: number;
  try {
    opened = openSync(`/proc/self/fd/${descriptor}`, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
  const chunks: Buffer[] = [];
  let octets = 0;
  let ended = false;
  try {
    while (octets < most) {
      const chunk = Buffer.allocUnsafeSlow(READ_OCTETS);
      const read = readSync(opened, chunk);
      ended = read === 0;
      if (ended) break;
      chunks.push(chunk.subarray(0, read));
      octets += read;
    }
  } catch {
    // Nothing is there now, or reading fails: who reads on learns of it.
  } finally {
    closeSync(opened);
  }
  return { octets: Buffer.concat(chunks), ended };
}
