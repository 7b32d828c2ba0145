import { type Command, InvalidArgumentError, Option } from 'commander';
import { formatFieldPath, parseFieldPath } from '../base/arguments.js';
import { isDigits } from '../base/characters.js';
import type { COMMAND_NAMES } from './console.js';
import { formatNumber } from './text.js';

/** The texts of `-h` and `--help` about a command, apart from its options. */
export interface HelpTexts {
  /** One imperative sentence that describes the command. */
  readonly description: string;
  /** Ways to call the command, without the program's name. */
  readonly usage: readonly string[];
  /** Long names of the options that `-h` shows, in its order. */
  readonly mainOptions: readonly string[];
  readonly examples: readonly string[];
  /** Paragraphs at the end of `--help`; a line that starts with white space is not wrapped. */
  readonly notes: string;
}

/** A command: its help, its arguments and options, and what it does. */
export interface CommandDefinition {
  readonly help: HelpTexts;
  readonly arguments: readonly (readonly [
    name: string,
    description: string,
    choices?: readonly string[],
  ])[];
  /** Whether `run` refuses further words itself, because it knows what was meant. */
  readonly allowsExcess?: boolean;
  /** Number of arguments that name files; all without it. */
  readonly paths?: number;
  /** The options in the order of the help. */
  readonly options: () => readonly Option[];
  /**
   * Runs the command.
   *
   * @param words the arguments
   * @returns the exit code
   */
  run(words: readonly string[], options: object, command: Command): Promise<number>;
}

/** The definition of each command, by its name. */
export type CommandDefinitions = Readonly<
  Record<(typeof COMMAND_NAMES)[number], CommandDefinition>
>;

/** Headings of the options in `--help`. */
export type OptionGroup =
  | 'Robots.txt'
  | 'Fetching'
  | 'Table'
  | 'Agents'
  | 'Rules'
  | 'Input'
  | 'Verdicts'
  | 'Output'
  | 'Performance'
  | 'Messages';

/**
 * Makes an option with its help text. `-h` shows the summary, and `--help` the details too. A
 * detail that starts with white space is an example and is not wrapped.
 *
 * @param group the heading in `--help`
 */
export function describedOption(
  group: OptionGroup,
  flags: string,
  summary: string,
  ...details: string[]
): Option {
  return new Option(flags, [summary, ...details].join('\n\n')).helpGroup(group);
}

/** The first line of a description, which `-h` shows. */
export function summaryOf({ description }: Option): string {
  return description.split('\n', 1)[0] ?? '';
}

/**
 * Makes a parser of decimal whole numbers, whose error names both bounds.
 *
 * @param unit the unit of the number, such as `bytes`
 */
export function wholeNumber(least: number, most: number, unit?: string): (text: string) => number {
  const what = unit === undefined ? 'a whole number' : `a whole number of ${unit}`;
  return (text) => {
    const value = Number(text);
    if (isDigits(text) && value >= least && value <= most) return value;
    throw new InvalidArgumentError(
      `Give ${what} from ${formatNumber(least)} to ${formatNumber(most)}, without commas.`,
    );
  };
}

/** Formats a range of whole numbers for help: `1 to 4,096 (default: 64)`. */
export function describeRange(
  { least, most, standard }: Readonly<Record<'least' | 'most' | 'standard', number>>,
  unit?: string,
): string {
  const noun = unit === undefined ? '' : ` ${unit}`;
  return `${formatNumber(least)} to ${formatNumber(most)}${noun} (default: ${formatNumber(standard)})`;
}

/** Parses a value that must not be empty. */
export function nonEmpty(text: string): string {
  if (text !== '') return text;
  throw new InvalidArgumentError('Give a value that is not empty.');
}

/**
 * Parses an option that names a source or a destination. A second value is refused, because it
 * would silently replace the first.
 */
export function once(text: string, earlier: string | undefined): string {
  if (earlier !== undefined) {
    throw new InvalidArgumentError(`It was already given as ${earlier}. Give it once.`);
  }
  return nonEmpty(text);
}

/** Parses an option that may be repeated. */
export function collect(value: string, earlier: readonly string[] = []): string[] {
  return [...earlier, nonEmpty(value)];
}

/** Reads the path of a member or column (arguments.ts). */
export function fieldPath(text: string): string[] {
  const keys = parseFieldPath(text);
  if (keys !== undefined) return keys;
  throw new InvalidArgumentError(
    `Give a name, such as url, or a path with dots, such as request.url. A name with dots of its own is quoted: '"request.url"'.`,
  );
}

/** As `fieldPath`, for an option that is given once. */
export function fieldPathOnce(text: string, earlier: readonly string[] | undefined): string[] {
  once(text, earlier && formatFieldPath(earlier));
  return fieldPath(text);
}

/** Lengths of the dates and times that `moment` reads, without fractions of a second. */
const DAY_LENGTH = 'YYYY-MM-DD'.length;
const MINUTE_LENGTH = 'YYYY-MM-DDThh:mm'.length;
const SECOND_LENGTH = 'YYYY-MM-DDThh:mm:ss'.length;

/**
 * Parses an ISO 8601 date or time in UTC.
 *
 * @returns milliseconds since 1970; the last one of a day, minute or second
 */
export function moment(text: string): number {
  const plain = text.endsWith('Z') && text.length > DAY_LENGTH + 1 ? text.slice(0, -1) : text;
  const [whole = '', fraction] = plain.split('.');
  const time = Date.parse(plain.length === DAY_LENGTH ? plain : `${plain}Z`);
  // Date.parse accepts more than ISO 8601, and moves 30 February to March.
  const isDate = hasForm(whole, fraction) && !Number.isNaN(time);
  if (!isDate || !new Date(time).toISOString().startsWith(whole)) {
    throw new InvalidArgumentError(
      'Give a date or time in UTC, such as 2025-03-10 or 2025-03-10T12:00:00Z.',
    );
  }
  if (fraction !== undefined) return time;
  const span =
    whole.length === DAY_LENGTH ? 86_400_000 : whole.length === MINUTE_LENGTH ? 60_000 : 1000;
  return time + span - 1;
}

/** Whether a text is YYYY-MM-DD, YYYY-MM-DDThh:mm or YYYY-MM-DDThh:mm:ss with digits. */
function hasForm(whole: string, fraction: string | undefined): boolean {
  const { length } = whole;
  if (length !== DAY_LENGTH && length !== MINUTE_LENGTH && length !== SECOND_LENGTH) return false;
  if (fraction !== undefined && (length !== SECOND_LENGTH || !isDigits(fraction))) return false;
  return [...whole].every((character, at) => {
    const expected = 'dddd-dd-ddTdd:dd:dd'[at];
    return expected === 'd' ? isDigits(character) : character === expected;
  });
}
