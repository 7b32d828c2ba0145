import { closeSync, fstatSync, type Stats } from 'node:fs';
import { RobotsFilterError } from '../../errors.js';
import { openPath } from '../../files/openings.js';
import { inputName, STANDARD_INPUT } from '../../files/standard-input.js';
import { errorText } from '../../files/system-error.js';
import { systemRemedy } from '../../files/system-remedy.js';
import { type ChunkSource, Chunks, startedSource, streamSource } from './chunks.js';
import {
  type DescriptorKind,
  DescriptorSource,
  descriptorKind,
  descriptorOffset,
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
  /** Whether all of the input has already been read into memory. */
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
 * Opens an input by its path.
 *
 * @param path a path, or `-` for standard input
 * @throws RobotsFilterError as `openRaw`, and if the path cannot be opened
 */
export async function openRawPath(path: string, taken?: InputStart): Promise<RawInput> {
  if (path === STANDARD_INPUT) return openRaw(0, inputName(path), taken);
  const descriptor = await openPath(path, 'r').catch((error: unknown) => {
    throw unreadable(path, error);
  });
  return openRaw(descriptor, path, taken);
}

/**
 * Prepares a descriptor for reading, whatever its kind.
 *
 * @param taken the bytes that have already been read from a pipe or socket, or all bytes of any
 *   input
 * @throws RobotsFilterError `input` if the descriptor is closed or leads to a directory
 */
async function openRaw(
  descriptor: number,
  name: string,
  taken: InputStart | undefined,
): Promise<RawInput> {
  const status = statusOf(descriptor, name);
  const kind = descriptorKind(descriptor, status);
  const isStandardInput = descriptor === 0;
  if (kind === 'directory') {
    if (!isStandardInput) closeSync(descriptor);
    throw new RobotsFilterError(
      'input',
      `${name}: is a directory. Name the files in it; robots.txt files go with --robots-dir.`,
    );
  }
  const size = kind === 'file' ? status.size : undefined;
  // The parent process may have read a part of a file that it passes as standard input.
  const offset = kind === 'file' ? (isStandardInput ? descriptorOffset(0) : 0) : undefined;
  const source = await sourceOf({ descriptor, kind, offset, size }, taken);
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
    isWhole: () => hasEnded || (size !== undefined && (offset ?? 0) + chunks.bytes >= size),
    close: async () => {
      await chunks.abandon();
      // A stream closes the descriptor of a socket, terminal or device itself.
      if ((kind === 'file' || kind === 'pipe') && !isStandardInput) {
        closeSync(descriptor);
      }
    },
  };
}

function statusOf(descriptor: number, name: string): Stats {
  try {
    return fstatSync(descriptor);
  } catch (error) {
    throw unreadable(name, error);
  }
}

async function sourceOf(
  { descriptor, kind, offset, size }: Pick<RawInput, 'descriptor' | 'kind' | 'offset' | 'size'>,
  taken: InputStart | undefined,
): Promise<ChunkSource> {
  // A socket that has ended must still be closed.
  if (taken?.ended === true && taken.socket === undefined) {
    return startedSource(taken.bytes, undefined);
  }
  switch (kind) {
    case 'file':
      return DescriptorSource.ofFile(descriptor, offset, size);
    case 'pipe': {
      const rest = DescriptorSource.ofPipe(descriptor);
      return taken === undefined ? rest : startedSource(taken.bytes, rest);
    }
    default:
      return taken?.socket === undefined
        ? streamSource(descriptorStream(descriptor, kind))
        : startedSource(taken.bytes, streamSource(taken.socket));
  }
}

/** The error for an input that cannot be opened or read after `bytes` bytes. */
export function unreadable(name: string, cause: unknown, bytes = 0): RobotsFilterError {
  const remedy =
    systemRemedy(cause, 'read') ??
    `reading failed at byte ${bytes} (${errorText(cause)}). Try again, or copy it to a file first`;
  return new RobotsFilterError('input', `${name}: ${remedy}.`, { cause });
}
