import { RobotsFilterError } from '../../errors.js';
import { STANDARD_INPUT } from '../../files/standard-input.js';
import type { InputStart } from '../../pipeline/input/input-start.js';
import { openRawPath } from '../../pipeline/input/raw-input.js';
import type { Manifest } from '../../table/manifest.js';
import type { FilterOptions } from '../options/command-options.js';
import { openOptions } from '../options/open-options.js';
import type { KeptInput } from './asked-shards.js';
import type { InputSurvey } from './input-survey.js';

/**
 * Greatest number of bytes of inputs that are looked at before the table is read. Longer inputs
 * nearly always have hosts of all shards.
 */
const MOST_BYTES = 4 * 1024 * 1024;

/**
 * The inputs of a filter. Short ones are read before the table in shards, so that only the shards
 * of their hosts are read, and kept: what is judged are the bytes in which the hosts were found.
 */
export class KeptInputs {
  readonly #paths: readonly string[];
  readonly #survey: InputSurvey;
  /** The beginning of standard input, if it is the only input and a pipe or socket. */
  readonly #start: InputStart | undefined;
  #kept: readonly KeptInput[] = [];

  constructor(paths: readonly string[], survey: InputSurvey, start: InputStart | undefined) {
    this.#paths = paths;
    this.#survey = survey;
    this.#start = start;
  }

  /** What has been read of an input, by its place among all; `undefined` if nothing. */
  startOf(index: number): InputStart | undefined {
    return this.#start ?? this.#kept[index]?.taken;
  }

  /**
   * The shards of the hosts of all inputs; undefined if all shards must be read.
   *
   * @param options those of the filter
   */
  async shards(
    manifest: Manifest,
    options: FilterOptions,
  ): Promise<ReadonlySet<number> | undefined> {
    if (manifest.shards === 1 || needsWholeTable(options)) return undefined;
    try {
      const inputs = await this.#read();
      if (inputs === undefined) return undefined;
      // Loaded on demand, because most tables are in one piece.
      const { askedShards } = await import('./asked-shards.js');
      const { urlField, maxLineBytes } = options;
      const shards = await askedShards(inputs, manifest, {
        open: openOptions(options),
        urlField,
        maxLineBytes,
        mostBytes: MOST_BYTES,
      });
      if (shards !== undefined) this.#kept = inputs;
      return shards;
    } catch (error) {
      // The filter meets the same error, after the records before it.
      if (error instanceof RobotsFilterError) return undefined;
      throw error;
    }
  }

  /** Reads all inputs, if they are short, and end. */
  async #read(): Promise<KeptInput[] | undefined> {
    const { contentBytes } = this.#survey;
    if (this.#start !== undefined) {
      const { bytes, ended } = this.#start;
      const [path = STANDARD_INPUT] = this.#paths;
      return ended ? [{ path, taken: { bytes, ended } }] : undefined;
    }
    if (contentBytes === undefined || contentBytes > MOST_BYTES) return undefined;
    const inputs: KeptInput[] = [];
    let left = MOST_BYTES;
    for (const path of this.#paths) {
      const bytes = await wholeFile(path, left);
      if (bytes === undefined) return undefined;
      left -= bytes.length;
      inputs.push({ path, taken: { bytes, ended: true } });
    }
    return inputs;
  }
}

/** Whether the output tells about hosts that have no records. */
function needsWholeTable({ report, statsBy, preferences }: FilterOptions): boolean {
  return report !== undefined || statsBy !== undefined || preferences === true;
}

/**
 * Reads a file.
 *
 * @param most greatest number of bytes
 * @returns undefined if it is longer, or no file that can be read again
 */
async function wholeFile(path: string, most: number): Promise<Buffer | undefined> {
  const raw = await openRawPath(path);
  try {
    if (raw.kind !== 'file' || raw.offset === undefined) return undefined;
    const chunks: Buffer[] = [];
    let left = most;
    for (;;) {
      const chunk = await raw.chunks.next();
      if (chunk === undefined) return Buffer.concat(chunks);
      chunks.push(chunk);
      left -= chunk.length;
      if (left < 0) return undefined;
    }
  } finally {
    await raw.close();
  }
}
