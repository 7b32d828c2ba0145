/** Inputs that are read twice. */

import { fstatSync, type Stats, statSync } from 'node:fs';
import { RobotsFilterError } from '../../base/errors.js';
import { inputName, STANDARD_INPUT } from '../../files/openings.js';
import { TemporaryCopies } from '../../files/temporary.js';
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
  readonly #copies = new TemporaryCopies();

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
    this.#copies.discard();
  }

  async #copy(input: string, signal: AbortSignal): Promise<string> {
    const path = await this.#copies.newPath();
    this.#onCopy(input, path);
    const raw = await openRawPath(input);
    // A pipe that stays silent must not delay a signal.
    const abandon = (): void => void raw.chunks.abandon();
    signal.addEventListener('abort', abandon);
    try {
      await this.#copies.write(path, raw.chunks.stream(), signal);
      signal.throwIfAborted();
    } finally {
      signal.removeEventListener('abort', abandon);
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
