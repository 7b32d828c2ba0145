import { opendir } from 'node:fs/promises';
import type { Scheme } from '../../protocol/authority.js';
import { type FileAccess, type FilePath, systemPath } from './file.js';

/** Names that the system is asked for at a time. */
const LISTING_BUFFER = 1024;

/** A directory of names of hosts: the cache itself, or one for a scheme in it. */
export interface Place {
  /** The path to read it by. */
  readonly path: FilePath;
  /** The path as the user knows it, for messages. */
  readonly shown: string;
  /** What the sources of its entries begin with: nothing, or `https/`. */
  readonly prefix: string;
  /** `undefined` for the cache itself. */
  readonly scheme: Scheme | undefined;
}

/** The path of a name in a directory. */
export function join(directory: FilePath, name: string): FilePath {
  if (typeof directory === 'string') return `${directory}/${name}`;
  return Buffer.concat([directory, Buffer.from(`/${name}`)]);
}

/** A list entry of `opendir` with the encoding `buffer`, which Node knows but its types do not. */
interface OctetDirent {
  readonly name: Buffer;
  isDirectory(): boolean;
}

/**
 * The octet names in a directory in the order of their octets. Those of
 * directories end in a slash, so this is the order of the paths below too.
 */
export async function listNames(path: FilePath): Promise<string[]> {
  const directory = await opendir(systemPath(path), {
    encoding: 'buffer' as BufferEncoding,
    bufferSize: LISTING_BUFFER,
  });
  const names: string[] = [];
  for await (const entry of directory as unknown as AsyncIterable<OctetDirent>) {
    const name = entry.name.toString('latin1');
    names.push(entry.isDirectory() ? `${name}/` : name);
  }
  return names.sort();
}

/** Names in a directory, to be looked at by `filesOf`, on whatever thread. */
export interface PlaceNames {
  readonly kind: 'names';
  /** As `listNames` gives them. */
  readonly names: readonly string[];
  readonly place: Place;
  readonly access: FileAccess;
}

/** Names that are looked at together. */
const NAMES_TOGETHER = 256;

/** Cuts a directory's names, as `listNames` gives them, into parts. */
export function* cutNames(
  names: readonly string[],
  place: Place,
  access: FileAccess,
): Generator<PlaceNames> {
  for (let start = 0; start < names.length; start += NAMES_TOGETHER) {
    yield { kind: 'names', names: names.slice(start, start + NAMES_TOGETHER), place, access };
  }
}
