import { RobotsFilterError } from '../../errors.js';
import { errorText } from '../../files/system-error.js';
import { systemRemedy } from '../../files/system-remedy.js';
import { type ChunkSource, Chunks, startedSource, streamSource } from './chunks.js';
import {
  closeDescriptor,
  type DescriptorKind,
  DescriptorSource,
  descriptorKind,
  descriptorOffset,
  descriptorStatus,
  descriptorStream,
} from './descriptor.js';
import type { InputStart } from './input-start.js';

/** An open input whose bytes have not been examined. */
export interface RawInput {
  readonly name: string;
  readonly descriptor: number;
  readonly kind: Exclude<DescriptorKind, 'directory'>;
  /** The size of a regular file, in bytes; otherwise `undefined`. */
  readonly size: number | undefined;
  /**
   * Offset in a regular file at which reading begins, in bytes. `undefined` for other inputs, and
   * if the system does not tell the position of an inherited descriptor.
   */
  readonly offset: number | undefined;
  /** Whether all of a pipe or socket has already been read into memory. */
  readonly hasEnded: boolean;
  readonly chunks: Chunks;
  /** Whether the bytes that have come are known to be the whole input. */
  isWhole(): boolean;
  /**
   * Closes everything that was opened for the input. Standard input stays open if it is a file or a
   * pipe.
   */
  close(): Promise<void>;
}

/**
 * Prepares a descriptor for reading, whatever its kind.
 *
 * @param taken the bytes that have already been read from a pipe or socket
 * @throws RobotsFilterError `input` if the descriptor is closed or leads to a directory
 */
export async function openRaw(
  descriptor: number,
  name: string,
  taken: InputStart | undefined,
): Promise<RawInput> {
  const status = await descriptorStatus(descriptor).catch((error: unknown) => {
    throw unreadable(name, error);
  });
  const kind = descriptorKind(descriptor, status);
  const isStandardInput = descriptor === 0;
  if (kind === 'directory') {
    if (!isStandardInput) await closeDescriptor(descriptor);
    throw new RobotsFilterError(
      'input',
      `${name}: is a directory. Name the files in it; robots.txt files go with --robots-dir.`,
    );
  }
  const size = kind === 'file' ? status.size : undefined;
  // The parent process may have read a part of a file that it passes as standard input.
  const offset = kind === 'file' ? (isStandardInput ? descriptorOffset(0) : 0) : undefined;
  const source =
    kind === 'file'
      ? DescriptorSource.ofFile(descriptor, offset, size)
      : kind === 'pipe'
        ? await pipeSource(descriptor, taken)
        : streamOf(descriptor, kind, taken);
  const chunks = new Chunks(source, (error, bytes) => unreadable(name, error, bytes));
  const hasEnded = taken?.ended === true;
  return {
    name,
    descriptor,
    kind,
    size,
    offset,
    hasEnded,
    chunks,
    isWhole: () => (size === undefined ? hasEnded : (offset ?? 0) + chunks.bytes >= size),
    close: async () => {
      await chunks.abandon();
      // A stream closes the descriptor of a socket, terminal or device itself.
      if ((kind === 'file' || kind === 'pipe') && !isStandardInput) {
        await closeDescriptor(descriptor);
      }
    },
  };
}

async function pipeSource(descriptor: number, taken: InputStart | undefined): Promise<ChunkSource> {
  if (taken === undefined) return DescriptorSource.ofPipe(descriptor);
  const rest = taken.ended ? undefined : await DescriptorSource.ofPipe(descriptor);
  return startedSource(taken.bytes, rest);
}

function streamOf(
  descriptor: number,
  kind: DescriptorKind,
  taken: InputStart | undefined,
): ChunkSource {
  if (taken?.socket === undefined) return streamSource(descriptorStream(descriptor, kind));
  return startedSource(taken.bytes, streamSource(taken.socket));
}

/** The error for an input that cannot be opened or read after `bytes` bytes. */
export function unreadable(name: string, cause: unknown, bytes = 0): RobotsFilterError {
  const remedy =
    systemRemedy(cause, 'read') ??
    `reading failed at byte ${bytes} (${errorText(cause)}). Try again, or copy it to a file first`;
  return new RobotsFilterError('input', `${name}: ${remedy}.`, { cause });
}
