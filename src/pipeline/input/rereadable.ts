/** Inputs that are read twice. */

import { createWriteStream, fstatSync, rmSync, type Stats, statSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { RobotsFilterError } from '../../base/errors.js';
import { inputName, STANDARD_INPUT } from '../../files/openings.js';
import { openRawPath } from './raw-input.js';

/**
 * Inputs that are read twice. Pipes, which can be read only once, are copied to temporary files.
 */
export class RereadableInputs {
  readonly #inputs: readonly string[];
  readonly #onCopy: (input: string, copy: string) => void;
  /**
   * Bytes of each input when this object was made; undefined for an input that is not a regular
   * file.
   */
  readonly #sizes: readonly (number | undefined)[];
  #directory: string | undefined;
  #copies = 0;

  /** @param onCopy is told of each copy before it is made */
  constructor(inputs: readonly string[], onCopy: (input: string, copy: string) => void) {
    this.#inputs = inputs;
    this.#onCopy = onCopy;
    this.#sizes = inputs.map(sizeOf);
  }

  /** Returns paths that can be read twice, one for each input. */
  async paths(signal: AbortSignal): Promise<string[]> {
    const paths: string[] = [];
    for (const input of this.#inputs) {
      paths.push(canBeReadTwice(input) ? input : await this.#copy(input, signal));
    }
    return paths;
  }

  /**
   * Checks that no file is shorter than before: there would be fewer verdicts than records.
   *
   * @throws RobotsFilterError `input`
   */
  refuseTruncated(): void {
    for (const [index, input] of this.#inputs.entries()) {
      const before = this.#sizes[index] ?? 0;
      const now = sizeOf(input) ?? before;
      if (now >= before) continue;
      throw new RobotsFilterError(
        'input',
        `${inputName(input)}: was truncated from ${before} to ${now} bytes while robots.txt files were fetched. Copy it to a file first, or run it again`,
      );
    }
  }

  /** Deletes the copies. */
  discard(): void {
    if (this.#directory !== undefined) rmSync(this.#directory, { recursive: true, force: true });
    this.#directory = undefined;
  }

  async #copy(input: string, signal: AbortSignal): Promise<string> {
    this.#directory ??= await mkdtemp(join(tmpdir(), 'robots-filter-'));
    const path = join(this.#directory, String(this.#copies++));
    this.#onCopy(input, path);
    const raw = await openRawPath(input);
    try {
      await pipeline(raw.chunks.stream(), createWriteStream(path, { mode: 0o600 }), { signal });
    } finally {
      await raw.close();
    }
    return path;
  }
}

/** Bytes of a regular file; undefined for anything else. */
function sizeOf(input: string): number | undefined {
  const status = statusOf(input);
  return status?.isFile() === true ? status.size : undefined;
}

function canBeReadTwice(input: string): boolean {
  return statusOf(input)?.isFile() ?? true;
}

/** The status of an input; undefined if it cannot be opened. Opening it later gives the error. */
function statusOf(input: string): Stats | undefined {
  try {
    return input === STANDARD_INPUT ? fstatSync(0) : statSync(input);
  } catch {
    return undefined;
  }
}
