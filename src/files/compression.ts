import type { Duplex, Transform } from 'node:stream';
import type { Magic } from './magic.js';

/** A compression of inputs, robots.txt records, tables and outputs. */
export interface Compression extends Magic {
  /** Other bytes that such data may begin with. */
  readonly otherMagics?: readonly (readonly number[])[];
  /** The word for it in messages: `gzip`. */
  readonly name: string;
  /** The command that undoes it, from standard input to standard output. */
  readonly command: string;
  /** The ending of file names, with its dot. */
  readonly ending: string;
  /** Makes the stream that undoes it, of all members; `chunkBytes` is the size of its chunks. */
  decompress(chunkBytes: number): Duplex;
  /** Makes the stream that compresses, once what it needs is loaded. */
  compress(): Promise<Transform>;
  /** Whether an error is that of `decompress` on damaged or truncated data. */
  isDamage(error: unknown): boolean;
}
