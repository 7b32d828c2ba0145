import { InvalidArgumentError, Option } from 'commander';
import { PROFILES, type Profile } from '../protocol/profile.js';
import { collectAgents } from './agents.js';
import type { FetchReadingOptions } from './fetch-options.js';
import { grouped } from './numbers.js';

/** Options of all commands that compile robots.txt. */
export interface RobotsOptions {
  readonly agent?: readonly string[];
  readonly profile?: Profile;
  readonly maxRobotsBytes?: number;
  readonly followLinks?: boolean;
  readonly quiet?: boolean;
}

export interface FilterOptions extends RobotsOptions, FetchReadingOptions {
  readonly fetch?: boolean;
  readonly concurrency?: number;
  readonly pause?: number;
  readonly perAddress?: number;
  readonly userAgent?: string;
  readonly allowPrivate?: boolean;
  readonly ca?: string;
  readonly robotsDir?: readonly string[];
  readonly table?: string;
  readonly input: 'auto' | 'text' | 'ndjson' | 'json';
  readonly urlField: readonly string[];
  readonly verdictField?: string;
  readonly allowed?: boolean;
  readonly denied?: boolean;
  readonly unknown: 'allow' | 'deny' | 'unknown';
  readonly explain?: boolean;
  readonly strict?: boolean;
  readonly output?: string;
  readonly threads?: number;
  readonly maxLineBytes: number;
  readonly stats?: 'text' | 'json';
  readonly progress?: boolean;
}

export interface CompileOptions extends RobotsOptions, FetchReadingOptions {
  readonly robotsDir?: readonly string[];
  readonly output?: string;
}

export interface InspectOptions {
  readonly verify?: boolean;
}

export interface CheckOptions {
  readonly profile?: Profile;
  readonly maxRobotsBytes?: number;
  readonly quiet?: boolean;
}

/**
 * The bounds of `parseRobots`, whose module would be loaded for them at every start. A test holds
 * the two together.
 */
export const MIN_ROBOTS_BYTES = 512_000;
export const MAX_ROBOTS_BYTES = 0x1000_0000;

const MAX_THREADS = 256;
/** Beyond this a line and what is made of it would not fit in a memory of 4 GiB. */
const MAX_LINE_BYTES = 512 * 1024 * 1024;
export const DEFAULT_LINE_BYTES = 16 * 1024 * 1024;

function isDigits(text: string): boolean {
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < 0x30 || unit > 0x39) return false;
  }
  return text !== '';
}

/**
 * Reads a whole number in decimal digits, between two bounds that are named in the message if it is
 * none.
 */
export function wholeNumber(least: number, most: number, unit: string): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (isDigits(text) && value >= least && value <= most) return value;
    throw new InvalidArgumentError(
      `Say a whole number from ${grouped(least)} to ${grouped(most)}${unit}, without commas.`,
    );
  };
}

function collect(value: string, earlier: readonly string[] = []): string[] {
  return [...earlier, value];
}

/** Parts a field's path at its dots. */
function fieldPath(text: string): string[] {
  const keys = text.split('.');
  if (!keys.includes('')) return keys;
  throw new InvalidArgumentError(
    'Say the name of a member, such as url, or of nested ones with a dot between them, such as request.url.',
  );
}

export function someText(text: string): string {
  if (text !== '') return text;
  throw new InvalidArgumentError('It is empty.');
}

/** For what two of would be two sources or destinations, of which one would silently not count. */
export function once(text: string, earlier: string | undefined): string {
  if (earlier !== undefined) throw new InvalidArgumentError(`There is one already: ${earlier}.`);
  return someText(text);
}

export const robotsDirOption = (): Option =>
  new Option(
    '--robots-dir <dir>',
    'robots.txt files of many hosts: a directory (HOST, HOST.txt, HOST-robots.txt, HOST/robots.txt, SCHEME/HOST/robots.txt), or a file .ndjson or .ndjson.gz; may be said again: later ones count first, but a name with a scheme before one without',
  ).argParser(collect);

export const profileOption = (): Option =>
  new Option(
    '--profile <profile>',
    'how robots.txt is read (default: rfc9309; with --table its own)',
  ).choices(PROFILES);

export const maxRobotsBytesOption = (): Option =>
  new Option(
    '--max-robots-bytes <n>',
    'bytes of a robots.txt that count, the rest is ignored (default: 512,000, the least there may be)',
  ).argParser(wholeNumber(MIN_ROBOTS_BYTES, MAX_ROBOTS_BYTES, ' bytes'));

export const followLinksOption = (): Option =>
  new Option('--follow-links', 'follow symbolic links that lead out of the robots directory');

export const agentOption = (description: string): Option =>
  new Option('-a, --agent <token,…>', description).argParser(collectAgents);

export const quietOption = (): Option =>
  new Option('-q, --quiet', 'say nothing on standard error but errors');

export const tableOption = (): Option =>
  new Option('--table <file>', 'a table that "robots-filter compile" wrote').argParser(once);

export const outputOption = (description: string): Option =>
  new Option('-o, --output <file>', description).argParser(once);

export const inputOption = (): Option =>
  new Option(
    '--input <format>',
    'text: a URL a line; ndjson: an object a line; json: an array, or values one after another',
  )
    .choices(['auto', 'text', 'ndjson', 'json'])
    .default('auto');

export const urlFieldOption = (): Option =>
  new Option('--url-field <name>', 'member that holds the URL; dots descend: request.url')
    .argParser(fieldPath)
    .default(['url'], 'url');

export const verdictFieldOption = (): Option =>
  new Option(
    '--verdict-field <name>',
    'member that is added (default: verdict; verdicts for several agents)',
  ).argParser(someText);

export const unknownOption = (): Option =>
  new Option('--unknown <verdict>', 'what a URL is taken for whose host has no robots.txt here')
    .choices(['allow', 'deny', 'unknown'])
    .default('unknown');

export const threadsOption = (): Option =>
  new Option('--threads <n>', 'threads that judge (default: one for each core)').argParser(
    wholeNumber(1, MAX_THREADS, ''),
  );

export const maxLineBytesOption = (): Option =>
  new Option('--max-line-bytes <n>', 'longest line that is judged, in bytes')
    .argParser(wholeNumber(1, MAX_LINE_BYTES, ' bytes'))
    .default(DEFAULT_LINE_BYTES, grouped(DEFAULT_LINE_BYTES));

/**
 * `--stats` or `--stats=json`; a file name behind it is not taken for its value: see
 * `completeStats`.
 */
export const statsOption = (): Option => {
  const option = new Option(
    '--stats [format]',
    'print verdicts, reasons, hosts seen, throughput, time and memory at the end',
  ).argParser(statsFormat);
  option.flags = '--stats[=json]';
  return option;
};

function statsFormat(text: string): 'text' | 'json' {
  if (text === 'text' || text === 'json') return text;
  throw new InvalidArgumentError('Say --stats or --stats=json.');
}

/** Writes `--stats` out: a value that may be missing is taken from the next word otherwise. */
export function completeStats(argv: readonly string[]): string[] {
  const end = argv.indexOf('--');
  return argv.map((argument, index) =>
    argument === '--stats' && (end < 0 || index < end) ? '--stats=text' : argument,
  );
}
