/** The inputs that a command line names, and what can be said of them before the run. */

import { type BigIntStats, type Dirent, promises, statSync } from 'node:fs';
import { posix } from 'node:path';
import { RobotsFilterError } from '../../base/errors.js';
import { nearest } from '../../base/nearest.js';
import { isCompressedName } from '../../files/compression.js';
import {
  exactStatus,
  findExactStatus,
  inputName,
  isSameFile,
  isStandardInput,
  isTerminal,
  STANDARD_INPUT,
} from '../../files/openings.js';
import { errorCode, errorText } from '../../files/system-error.js';
import { isPartition } from '../../parquet/partitions.js';
import type { KeptInput } from '../../pipeline/asked-shards.js';
import { PARQUET_ENDING } from '../../pipeline/bad-record.js';
import { namesNoServer } from '../../pipeline/input/formats.js';
import { type OpenInput, type OpenInputOptions, openInput } from '../../pipeline/input/open.js';
import {
  type DamagedPlace,
  type InputStart,
  openRawPath,
  takePipeStart,
  takeSocketStart,
} from '../../pipeline/input/raw-input.js';
import { isNonBlocking } from '../../pipeline/output/output.js';
import type { Manifest } from '../../table/manifest.js';
import { COMMAND_NAMES, type Diagnostics, usageError } from '../console.js';
import type { FilterOptions, InputOptions } from '../options.js';
import { formatCount } from '../text.js';

/** The kinds of the inputs and the output. */
interface InputSurvey {
  /** Bytes of all inputs together; undefined if not all of them are regular files. */
  readonly bytes: number | undefined;
  /** The same, with an estimate in place of the bytes of compressed inputs. */
  readonly contentBytes: number | undefined;
  /** The kind of standard input, if it is the only input, and a pipe or socket. */
  readonly soleStream: 'pipe' | 'socket' | undefined;
  /** Whether any input is a pipe. */
  readonly hasPipe: boolean;
  /** Whether writing to the output never waits for a reader. */
  readonly isOutputNonBlocking: boolean;
}

/** Bytes of content for each byte of an input that its name calls compressed, about as in lists. */
const EXPANSION = 5;

async function surveyInputs(
  paths: readonly string[],
  output: number | undefined,
): Promise<InputSurvey> {
  const target = output === undefined ? undefined : findExactStatus(output);
  let bytes: number | undefined = 0;
  let contentBytes = 0;
  let soleStream: InputSurvey['soleStream'];
  let hasPipe = false;
  for (const path of paths) {
    let status: BigIntStats;
    try {
      status = exactStatus(path === STANDARD_INPUT ? 0 : path);
    } catch (cause) {
      throw await openingError(path, cause);
    }
    if (target !== undefined && status.size > 0 && isSameFile(status, target)) {
      throw usageError(
        path === STANDARD_INPUT
          ? 'standard input is also the output and would grow while it is read. To replace the file, use -o with its name'
          : `${path} is also the output and would grow while it is read. To replace it, use -o ${path}`,
      );
    }
    bytes = status.isFile() && bytes !== undefined ? bytes + Number(status.size) : undefined;
    contentBytes += Number(status.size) * (isCompressedName(path) ? EXPANSION : 1);
    hasPipe ||= status.isFIFO();
    if (path === STANDARD_INPUT && paths.length === 1) {
      soleStream = status.isFIFO() ? 'pipe' : status.isSocket() ? 'socket' : undefined;
    }
  }
  const isOutputNonBlocking =
    output === undefined || (target !== undefined && isNonBlocking(target, output));
  return {
    bytes,
    contentBytes: bytes === undefined ? undefined : contentBytes,
    soleStream,
    hasPipe,
    isOutputNonBlocking,
  };
}

/** Tells a user at a terminal that the program waits for input. */
export function noteTerminalInput(paths: readonly string[], diagnostics: Diagnostics): void {
  if (paths.includes(STANDARD_INPUT) && isTerminal(0)) {
    diagnostics.note('reading URLs from standard input, one per line; press Ctrl-D to end');
  }
}

/** Warns that the lines of an input may be rows, although they are read as URLs. */
export function noteDoubt({ name, doubt }: OpenInput, diagnostics: Diagnostics): void {
  if (doubt !== undefined) diagnostics.note(`warning: ${name}: ${doubt}`);
}

/** Warns of a damaged place of a WARC file, for which there is an invalid record. */
export function noteDamage(path: string, place: DamagedPlace, diagnostics: Diagnostics): void {
  const name = inputName(path);
  diagnostics.note(
    'further' in place
      ? `warning: ${name}: ${formatCount(place.further, 'further damaged place')}`
      : `warning: ${name}:${place.offset}: Damaged: ${place.reason}; an invalid record stands for it.`,
  );
}

/** The error for an input that cannot be opened, with the command that may have been meant. */
async function openingError(path: string, cause: unknown): Promise<unknown> {
  try {
    await (await openInput(path)).close();
    return cause;
  } catch (error) {
    const isMissing = errorCode(cause) === 'ENOENT';
    const command = isMissing ? nearest(path, [...COMMAND_NAMES, 'help']) : undefined;
    if (command === undefined || !(error instanceof RobotsFilterError)) return error;
    const message = `${error.message} Or did you mean the command ${command}?`;
    return new RobotsFilterError(error.code, message, { cause: error });
  }
}

/** An input that a command line means. */
export interface NamedInput {
  /** The path to open, or `-` for standard input. */
  readonly path: string;
  /**
   * Where `-o DIR/` writes its records below the directory: its path below the directory that was
   * named, or its own name, after the Hive partitions in which it lies. Undefined for standard
   * input and other descriptors, which have no name.
   */
  readonly place: string | undefined;
  /** The directory that was named; undefined if the input itself was. */
  readonly directory?: string | undefined;
}

/** The paths of `namedInputs`. */
export async function inputPaths(files: readonly string[]): Promise<string[]> {
  return (await namedInputs(files)).map(({ path }) => path);
}

/**
 * The inputs that are meant by the files of a command line, of which none means standard input.
 * Each directory is replaced by the Parquet files below it, in the byte order of their paths. Names
 * that begin with `.` or `_` are left out, as in Hive and Spark. Links to directories are not
 * followed. A directory without Parquet files stays in the list.
 *
 * @throws RobotsFilterError `usage` if standard input is named twice, `input` for a directory that
 *   cannot be read, or nests too deep
 */
export async function namedInputs(files: readonly string[]): Promise<NamedInput[]> {
  if (files.length === 0) return [{ path: STANDARD_INPUT, place: undefined }];
  refuseSecondStandardInput(files);
  const inputs: NamedInput[] = [];
  for (const path of files) {
    const directory = path.endsWith('/') ? path.slice(0, -1) : path;
    const hasName = path !== STANDARD_INPUT && !isDescriptor(path);
    const below = hasName && isDirectory(path) ? await filesBelow(directory, 0) : [];
    if (below.length === 0) {
      inputs.push({ path, place: hasName ? placeOf(path, 1) : undefined });
    }
    for (const file of below) {
      const own = file.slice(directory.length + 1).split('/').length;
      inputs.push({ path: file, place: placeOf(file, own), directory: path });
    }
  }
  return inputs;
}

/** Whether a path is a descriptor, as `<(…)` of a shell is. */
function isDescriptor(path: string): boolean {
  return path.startsWith('/dev/') || path.startsWith('/proc/');
}

/**
 * The last names of a path, and all names from the first Hive partition on. Dots cannot lead out of
 * the output's directory, because they are resolved first.
 *
 * @param own number of names from which on the path is the input's own: 1 for a file that was named
 */
function placeOf(path: string, own: number): string {
  const names = posix.normalize(path).split('/');
  const partition = names.findIndex(isPartition);
  const first = names.length - own;
  return names.slice(partition < 0 ? first : Math.min(partition, first)).join('/');
}

/**
 * Refuses standard input named twice. A file as standard input is read by position, so its content
 * would come twice, but that of a pipe once.
 *
 * @throws RobotsFilterError `usage`
 */
export function refuseSecondStandardInput(files: readonly string[]): void {
  const [first, second] = files.filter(isStandardInput);
  if (second === undefined) return;
  const names = first === second ? `${first} is named twice` : `${first} and ${second} name it`;
  throw usageError(`standard input can be read only once, but ${names}. Name it once`);
}

/**
 * Greatest number of bytes of inputs that are looked at before the table is read. Longer inputs
 * nearly always have hosts of all shards.
 */
const MOST_BYTES = 4 * 1024 * 1024;

/**
 * The inputs of a filter. Short ones are read before the table in shards, so that only the shards
 * of their hosts are read, and kept: what is judged are the bytes in which the hosts were found.
 */
export class FilterInputs {
  readonly paths: readonly string[];
  readonly survey: InputSurvey;
  /** The beginning of standard input, if it is the only input and a pipe or socket. */
  #start: InputStart | undefined;
  #kept: readonly KeptInput[] = [];

  private constructor(paths: readonly string[], survey: InputSurvey) {
    this.paths = paths;
    this.survey = survey;
  }

  /**
   * Checks that all inputs exist before the first is read, and that none of them is the output.
   *
   * @param output descriptor to write to; undefined if the output replaces a file
   * @throws RobotsFilterError `input` for an input that cannot be opened, `usage` for one that is
   *   the output
   */
  static async of(paths: readonly string[], output: number | undefined): Promise<FilterInputs> {
    return new FilterInputs(paths, await surveyInputs(paths, output));
  }

  /** Bytes of all inputs after decompression, as far as they can be estimated. */
  get contentBytes(): number | undefined {
    return this.#start?.ended === true ? this.#start.bytes.length : this.survey.contentBytes;
  }

  /** Reads the first bytes of standard input if it is the only input, and a pipe or socket. */
  async takeStart(): Promise<void> {
    const { soleStream } = this.survey;
    if (soleStream === 'pipe') this.#start = takePipeStart();
    if (soleStream === 'socket') this.#start = await takeSocketStart();
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
      const { askedShards } = await import('../../pipeline/asked-shards.js');
      const { urlField, host: server, maxLineBytes } = options;
      const shards = await askedShards(inputs, manifest, {
        open: openOptions(options),
        urlField,
        server,
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
    const { contentBytes } = this.survey;
    if (this.#start !== undefined) {
      const { bytes, ended } = this.#start;
      const [path = STANDARD_INPUT] = this.paths;
      return ended ? [{ path, taken: { bytes, ended } }] : undefined;
    }
    if (contentBytes === undefined || contentBytes > MOST_BYTES) return undefined;
    const inputs: KeptInput[] = [];
    let left = MOST_BYTES;
    for (const path of this.paths) {
      const bytes = await wholeFile(path, left);
      if (bytes === undefined) return undefined;
      left -= bytes.length;
      inputs.push({ path, taken: { bytes, ended: true } });
    }
    return inputs;
  }
}

/** Whether the output tells about hosts that have no records. */
function needsWholeTable(options: FilterOptions): boolean {
  const { report, statsBy, preferences = false, crawlDelay = false } = options;
  return report !== undefined || statsBy !== undefined || preferences || crawlDelay;
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

/** Maximum nesting of directories: Hive has one level for each key. */
const MAX_DEPTH = 32;

/** Whether files of this name in a directory are not read, as in Hive and Spark. */
export function isHidden(name: string): boolean {
  return name.startsWith('.') || name.startsWith('_');
}

function isDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false; // Opening it later gives the error.
  }
}

async function filesBelow(directory: string, depth: number): Promise<string[]> {
  if (depth > MAX_DEPTH) {
    throw new RobotsFilterError(
      'input',
      `${directory}: nests more than ${MAX_DEPTH} deep. Name the files in it`,
    );
  }
  let entries: Dirent[];
  try {
    entries = await promises.readdir(directory, { withFileTypes: true });
  } catch (cause) {
    throw new RobotsFilterError(
      'input',
      `${directory}: cannot be read (${errorText(cause)}). Name the files in it`,
      { cause },
    );
  }
  const files: string[] = [];
  const named = entries.map((entry) => ({
    entry,
    // A directory is sorted like the paths below it.
    key: Buffer.from(entry.isDirectory() ? `${entry.name}/` : entry.name),
  }));
  named.sort((a, b) => a.key.compare(b.key));
  for (const { entry } of named) {
    const { name } = entry;
    if (isHidden(name)) continue;
    const path = `${directory}/${name}`;
    if (entry.isDirectory()) {
      for (const file of await filesBelow(path, depth + 1)) files.push(file);
    } else if (name.toLowerCase().endsWith(PARQUET_ENDING)) {
      files.push(path);
    }
  }
  return files;
}

// ---- The option --url-field

type UrlFieldOptions = Pick<InputOptions, 'input' | 'urlField'>;

/** Whether --url-field names a member other than the default. */
function isGiven({ urlField }: UrlFieldOptions): boolean {
  return urlField.join('.') !== 'url';
}

/** The column that --url-field names in rows; undefined for the default. */
export function columnOption(options: UrlFieldOptions): string | undefined {
  return isGiven(options) ? options.urlField.join('.') : undefined;
}

/**
 * Refuses --url-field with --input text and warc, which have no members.
 *
 * @throws RobotsFilterError `usage`
 */
export function checkUrlField(options: UrlFieldOptions): void {
  if (!isGiven(options)) return;
  if (options.input === 'warc') throw noUrlField('--input warc');
  if (options.input !== 'text') return;
  throw usageError(
    '--url-field has no effect on text: each line is a URL. Leave it out, or use --input ndjson instead of --input text',
  );
}

/**
 * Refuses --url-field, --time-field and --agent-field if the only input turned out to be text,
 * --url-field if it is WARC, and --header if it has no rows. Among several inputs, others may have
 * the member or the header.
 *
 * @throws RobotsFilterError `usage`
 */
export function checkUrlFieldOf(
  input: Pick<OpenInput, 'name' | 'format' | 'isBlank'>,
  options: UrlFieldOptions & Pick<FilterOptions, 'header' | 'timeField' | 'agentField'>,
  inputs: number,
): void {
  const { header } = options;
  const hasRows = ['csv', 'tsv', 'cdx'].includes(input.format);
  if (header !== undefined && !hasRows && !input.isBlank && inputs === 1) {
    throw usageError(
      `${input.name} is read as ${input.format}, and ${header ? '--header' : '--no-header'} has no effect on it. Leave it out, or use --input csv if its lines are rows`,
    );
  }
  if (input.format === 'text' && !input.isBlank && inputs === 1 && options.timeField) {
    throw usageError(
      `${input.name} is text, one URL per line, which have no times: --time-field has no effect on it. Use --input ndjson if its lines are objects, or --as-of DATE for all URLs`,
    );
  }
  if (input.format === 'text' && !input.isBlank && inputs === 1 && options.agentField) {
    throw usageError(
      `${input.name} is text, one URL per line, which names no agents: --agent-field has no effect on it. Use --input ndjson if its lines are objects, or name the agent: --agent GPTBot`,
    );
  }
  if (input.isBlank || inputs > 1 || !isGiven(options)) return;
  if (input.format === 'warc') throw noUrlField(input.name);
  if (input.format !== 'text') return;
  throw usageError(
    `${input.name} is text, one URL per line, and --url-field has no effect on it. Leave it out, or use --input ndjson if its lines are objects`,
  );
}

/**
 * Refuses a log without servers if none was named. The addresses of clients would be judged as if
 * they were hosts.
 *
 * @throws RobotsFilterError `usage`
 */
export function checkServerOf(
  { name, format, beginning }: OpenInput,
  { host }: Pick<FilterOptions, 'host'>,
): void {
  if (format !== 'log' || host !== undefined || !namesNoServer(beginning)) return;
  throw usageError(
    `${name}: its first line begins with the address of a client and names no server. Name the server: --host NAME`,
  );
}

function noUrlField(what: string): RobotsFilterError {
  return usageError(
    `--url-field has no effect on ${what}: the URL of a WARC record is its WARC-Target-URI. Leave it out`,
  );
}

/** How the options of a command say that inputs are opened. */
export function openOptions(
  options: InputOptions & Pick<FilterOptions, 'timeField' | 'agentField'>,
): Omit<OpenInputOptions, 'taken'> {
  const { input: format, maxLineBytes: maxRecordBytes, header } = options;
  const { urlField, timeField, agentField } = options;
  const column = columnOption(options);
  const timeColumn = timeField?.join('.');
  const agentColumn = agentField?.join('.');
  const fields = { urlField, timeField, agentField };
  return { format, maxRecordBytes, header, column, timeColumn, agentColumn, ...fields };
}
