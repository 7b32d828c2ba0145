/** `-o DIR/`: one output for each input, with the input's name, partitions and format. */

import { readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { findExactStatus, STANDARD_INPUT } from '../../files/openings.js';
import { replacedPath } from '../../files/replacement.js';
import { makeDirectory, unwritable } from '../../files/system-error.js';
import type { FilterSettings } from '../../pipeline/filter.js';
import type { OpenInput } from '../../pipeline/input/open.js';
import type { OutputTarget } from '../../pipeline/output/output.js';
import { writtenFormat } from '../../pipeline/output/rows.js';
import type { RunEnd } from '../../pipeline/run.js';
import { type Diagnostics, usageError } from '../console.js';
import type { FilterOptions } from '../options.js';
import { formatCount } from '../text.js';
import {
  type AssembledOutput,
  assembledOutput,
  isAssembledFormat,
  RecordFile,
  type RecordOutput,
} from './filter-output.js';
import { isHidden, type NamedInput } from './inputs.js';
import {
  filesToKeep,
  nameForFormat,
  outputFormat,
  refuseSourceAsOutput,
  refuseVerdictsInWarc,
} from './outputs.js';

/**
 * One output for each input, each replaced when it is complete, or not at all. Outputs that are
 * complete stay when the run ends early.
 */
export class MirroredOutput implements RecordOutput {
  readonly #directory: string;
  readonly #options: FilterOptions;
  readonly #format: ReturnType<typeof outputFormat>;
  /** The path of each input's output. */
  readonly #paths: readonly string[];
  #settings: FilterSettings | undefined;
  #file: RecordFile | undefined;
  #assembled: AssembledOutput | undefined;
  #complete = 0;
  /** Rows of Parquet, or records of WARC, in the outputs that are complete. */
  #rows: number | undefined;
  readonly isReplacement = false;
  readonly descriptor = undefined;

  private constructor(directory: string, options: FilterOptions, paths: readonly string[]) {
    this.#directory = directory;
    this.#options = options;
    this.#format = outputFormat(options);
    this.#paths = paths;
  }

  /**
   * @param directory a path that ends with a slash
   * @throws RobotsFilterError `usage` if an output has no name, or would replace another output, an
   *   input, or a file that the run reads or writes beside them
   */
  static async of(
    directory: string,
    inputs: readonly NamedInput[],
    options: FilterOptions,
    diagnostics: Diagnostics,
  ): Promise<MirroredOutput> {
    const paths = await outputPaths(directory, inputs, options);
    noteOthers(directory, paths, diagnostics);
    return new MirroredOutput(directory, options, paths);
  }

  get isAssembled(): boolean {
    if (this.#format !== 'own') return isAssembledFormat(this.#format);
    return (['parquet', 'warc'] as const).some((format) =>
      this.#paths.some((path) => nameForFormat(path, format) === path),
    );
  }

  get name(): string {
    return this.#file?.file.path ?? this.#directory;
  }

  get rows(): number | undefined {
    return this.#rows;
  }

  async open(): Promise<void> {
    createDirectory(this.#directory);
  }

  async prepare(settings: FilterSettings): Promise<void> {
    this.#settings = settings;
  }

  async targetFor(input: OpenInput, index: number): Promise<OutputTarget> {
    const settings = this.#settings;
    const path = this.#paths[index];
    if (settings === undefined || path === undefined) throw new Error(`no output ${index}`);
    const format = writtenFormat(input.format, this.#format);
    if (format === 'warc') refuseVerdictsInWarc(this.#options, path);
    createDirectory(dirname(path));
    const file = await RecordFile.create(path, format);
    this.#file = file;
    if (!isAssembledFormat(format)) return file.target;
    this.#assembled = await assembledOutput(format, file.file, settings);
    return this.#assembled.streamFor(input);
  }

  async endInput(): Promise<void> {
    await this.#assembled?.endInput();
    await this.#assembled?.finish();
    await this.#file?.commit('done');
    await this.#settle();
    this.#complete++;
  }

  async endRecords(): Promise<void> {}

  isReaderGone(): boolean {
    return false;
  }

  async commit(end: RunEnd): Promise<void> {
    if (end === 'closed') await this.#file?.commit(end);
  }

  describePartial(): string | undefined {
    const all = this.#paths.length;
    if (this.#complete === 0) return undefined;
    return `${this.#directory} has ${this.#complete} of ${formatCount(all, 'output')}, each of them complete. Run it again for the other inputs`;
  }

  async close(): Promise<void> {
    await this.#settle();
  }

  /** Closes the current output, and counts its rows. */
  async #settle(): Promise<void> {
    if (this.#assembled !== undefined) this.#rows = (this.#rows ?? 0) + this.#assembled.rows;
    this.#assembled = undefined;
    await this.#file?.close();
    this.#file = undefined;
  }
}

/** @throws RobotsFilterError `output` */
function createDirectory(path: string): void {
  try {
    makeDirectory(path);
  } catch (cause) {
    throw unwritable(path, cause);
  }
}

/**
 * The path of each input's output.
 *
 * @throws RobotsFilterError `usage`
 */
async function outputPaths(
  directory: string,
  inputs: readonly NamedInput[],
  options: FilterOptions,
): Promise<string[]> {
  const files = new Map(inputs.map(({ path }) => [fileAt(path), path]));
  const sources = filesToKeep(options);
  const inputOf = new Map<string, string>();
  const paths: string[] = [];
  for (const { path: input, place } of inputs) {
    if (place === undefined) {
      throw usageError(
        `standard input and pipes have no name for an output in ${directory}. Name the output: -o ${directory}urls.txt`,
      );
    }
    const path = join(directory, nameForFormat(place, options.format));
    const key = await keyOf(path);
    const other = inputOf.get(key);
    if (other !== undefined) {
      throw usageError(
        `${other} and ${input} would both be written to ${path}. Run it once for each, with another directory`,
      );
    }
    inputOf.set(key, input);
    const file = fileAt(path);
    const replaced = file === undefined ? undefined : files.get(file);
    if (replaced !== undefined) {
      throw usageError(
        `-o ${directory} would replace the input ${replaced}, and a run that ends early would leave some inputs and some outputs there. Name another directory`,
      );
    }
    refuseSourceAsOutput(`-o ${directory}:`, path, sources);
    paths.push(path);
  }
  const { report } = options;
  if (report !== undefined && inputOf.has(await keyOf(report))) {
    throw usageError(
      `--report ${report} and an output in -o ${directory} are one file. Name another file`,
    );
  }
  return paths;
}

/** What two paths of one output have in common, by links too. */
async function keyOf(path: string): Promise<string> {
  const whole = await replacedPath(path);
  // File systems of macOS and Windows make no difference between capitals and small letters.
  return process.platform === 'linux' ? whole : whole.toLowerCase();
}

/** What two names of one file have in common; undefined if there is no file. */
function fileAt(path: string): string | undefined {
  const status = path === STANDARD_INPUT ? undefined : findExactStatus(path);
  return status && `${status.dev}:${status.ino}`;
}

/** Says that the directories of the outputs have other files, perhaps of an earlier run. */
function noteOthers(directory: string, paths: readonly string[], diagnostics: Diagnostics): void {
  const own = new Set(paths);
  const others = [...new Set(paths.map((path) => dirname(path)))].flatMap((each) =>
    filesIn(each).filter((path) => !own.has(path)),
  );
  const [first] = others;
  if (first === undefined) return;
  diagnostics.note(
    `note: ${directory} also has ${formatCount(others.length, 'file')} that this run does not write, such as ${first}`,
  );
}

/** The files in a directory that readers of directories read; none if there is no directory. */
function filesIn(directory: string): string[] {
  try {
    return readdirSync(directory, { withFileTypes: true })
      .filter((entry) => entry.isFile() && !isHidden(entry.name))
      .map(({ name }) => join(directory, name));
  } catch {
    return []; // Creating the directory later gives the error.
  }
}
