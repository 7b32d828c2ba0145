import { opendir } from 'node:fs/promises';
import type { Scheme } from '../protocol/authority.js';
import { type FileAccess, type FilePath, systemPath } from './file.js';

/** Number of names that are requested from the system in one call. */
const LISTING_BUFFER = 1024;

const NO_BYTES =
  'this runtime lists no names as bytes (Bun does not). Run it under Node, or give a file of records';

/** A directory whose names are hosts: the robots directory, or the directory of a scheme in it. */
export interface Place {
  /** The path for reading. */
  readonly path: FilePath;
  /** The path for messages. */
  readonly displayPath: string;
  /** The beginning of the sources of its entries: empty, or `https/`. */
  readonly prefix: string;
  /** The scheme; `undefined` for the robots directory itself. */
  readonly scheme: Scheme | undefined;
}

/** The path of a name in a directory. */
export function join(directory: FilePath, name: string): FilePath {
  if (typeof directory === 'string') return `${directory}/${name}`;
  return Buffer.concat([directory, Buffer.from(`/${name}`)]);
}

/** An entry of `opendir` with the encoding `buffer`, which Node's types lack. */
interface BufferDirent {
  /** Bun 1.4 leaves it out. */
  readonly name: Buffer | undefined;
  isDirectory(): boolean;
}

/**
 * Lists the byte names in a directory, sorted (file-name.ts). The names of directories end in a
 * slash, so that the paths below them are in the same order.
 */
export async function listNames(path: FilePath): Promise<string[]> {
  const directory = await opendir(systemPath(path), {
    encoding: 'buffer' as BufferEncoding,
    bufferSize: LISTING_BUFFER,
  });
  const names: string[] = [];
  for await (const entry of directory as unknown as AsyncIterable<BufferDirent>) {
    if (entry.name === undefined) throw new Error(NO_BYTES);
    const name = entry.name.toString('latin1');
    names.push(entry.isDirectory() ? `${name}/` : name);
  }
  return names.sort();
}

/** Names in a directory, to be read by `DirectoryReader` on any thread. */
export interface PlaceNames {
  readonly kind: 'names';
  /** The names, in the form of `listNames`. */
  readonly names: readonly string[];
  readonly place: Place;
  readonly access: FileAccess;
}

/** Number of names per part. */
const PART_NAMES = 256;

/** Splits the names of a directory, in the form of `listNames`, into parts. */
export function* splitNames(
  names: readonly string[],
  place: Place,
  access: FileAccess,
): Generator<PlaceNames> {
  for (let start = 0; start < names.length; start += PART_NAMES) {
    yield { kind: 'names', names: names.slice(start, start + PART_NAMES), place, access };
  }
}
