import type { Duplex, Transform } from 'node:stream';
import type { Magic } from './magic.js';

/** A compression of inputs, robots.txt records, tables and outputs. */
export interface Compression extends Magic {
  /** Other first bytes that such data may have. */
  readonly otherMagics?: readonly (readonly number[])[];
  /** The name in messages, such as `gzip`. */
  readonly name: string;
  /** The command that decompresses, from standard input to standard output. */
  readonly command: string;
  /** The ending of file names, with its dot. */
  readonly ending: string;
  /** Makes the stream that decompresses all members; `chunkBytes` is the size of its chunks. */
  decompress(chunkBytes: number): Duplex;
  /** Makes the stream that compresses, after its dependencies are loaded. */
  compress(): Promise<Transform>;
  /** Whether an error comes from `decompress` on damaged or truncated data. */
  isDamage(error: unknown): boolean;
}
