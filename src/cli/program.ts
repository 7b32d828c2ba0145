import { existsSync } from 'node:fs';
import { Command, type CommanderError } from 'commander';
import { endOpenings } from '../files/openings.js';
import { nearest } from '../nearest.js';
import { COMMAND_NAMES } from './command-names.js';
import type { CommandDefinition, CommandDefinitions, Finish } from './definitions/definition.js';
import { filterDefinition } from './definitions/filter.js';
import { FAILURE, SUCCESS } from './exit-codes.js';
import { reportFailure } from './failure.js';
import { fullName } from './help/full-name.js';
import { addHelp } from './help/help.js';
import { HELP_GROUP } from './options/option-groups.js';
import { colourOption, completeStats } from './options/output-options.js';
import { requireNode, watchEnd } from './process/runtime.js';
import { writeError, writeOutput } from './process/standard-streams.js';
import { chooseColours } from './report/colour.js';
import { errorMessage } from './report/diagnostics.js';
import { shellWords, usageError } from './usage-error.js';
import { version } from './version.js';

/**
 * Makes the program.
 *
 * @param definitions those of the commands; without them it is the filter alone
 * @param isNeeded whether a command may run or be described; the others have no options
 */
export function createProgram(
  finish: Finish,
  definitions: CommandDefinitions | undefined,
  isNeeded: (name: string) => boolean = () => true,
): Command {
  const root = new Command('robots-filter')
    .helpCommand('help [command]', 'Print the help of a command.')
    .enablePositionalOptions();
  build(root, filterDefinition, finish);
  if (definitions !== undefined) {
    for (const name of COMMAND_NAMES) {
      const command = root.command(name);
      if (isNeeded(name)) build(command, definitions[name], finish);
      else command.description(definitions[name].help.description);
    }
  }
  // The filter would accept an option before a command, and the command would not see it.
  root.hook('preSubcommand', (_root, command) => {
    for (const option of root.options) {
      if (root.getOptionValueSource(option.attributeName()) !== 'cli') continue;
      command.error(
        `error: ${option.long} comes before the command. Put options after it: ${fullName(command)} … ${option.long} …`,
      );
    }
  });
  root.hook('preAction', (_root, command) =>
    chooseColours(command.getOptionValue('color') ?? 'auto'),
  );
  return root;
}

/** A command line that commander refuses. */
class WrongCommandLine extends Error {
  /** Why, from commander. */
  readonly reason: CommanderError;
  /** The full name of the command. */
  readonly command: string;

  constructor(command: string, reason: CommanderError) {
    super(reason.message);
    this.command = command;
    this.reason = reason;
  }
}

/** Faults of a command line that has the arguments of another command. */
const SHAPE_FAULTS = [
  'commander.missingArgument',
  'commander.excessArguments',
  'commander.unknownOption',
];

/** Says what is wrong with a command line, and what to type. */
async function reportWrong(
  { reason, command, message }: WrongCommandLine,
  words: readonly string[],
): Promise<number> {
  const lines = message
    .replace(/^error: /, '')
    .trimEnd()
    .split('\n');
  if (SHAPE_FAULTS.includes(reason.code)) {
    const { meantCommand } = await import('./meant-command.js');
    const { COMMAND_DEFINITIONS } = await import('./definitions/commands.js');
    const meant = await meantCommand(
      createProgram(() => {}, COMMAND_DEFINITIONS),
      words,
    );
    // It is better than an option with a similar name.
    if (meant !== undefined) lines.splice(1, lines.length, `  Type: ${meant}`);
  }
  writeError(`${errorMessage(lines.join('\n'))}\n(Type ${command} --help for all options.)\n`);
  return FAILURE;
}

/** Gives a command its arguments, options and help, and the program's way to write messages. */
function build(command: Command, { define, help }: CommandDefinition, finish: Finish): void {
  command
    .exitOverride((error) => {
      throw error.exitCode === 0 ? error : new WrongCommandLine(fullName(command), error);
    })
    // The message comes with the command that was meant.
    .configureOutput({ writeOut: writeOutput, writeErr: writeError, outputError: () => {} });
  define(command, finish);
  command.addOption(colourOption());
  command.optionsGroup(HELP_GROUP);
  if (command.parent === null) command.version(version(), '-V, --version', 'Print the version.');
  addHelp(command, help);
}

/**
 * Refuses `help` for a command that does not exist: commander would print the filter's help.
 *
 * @throws RobotsFilterError `usage`
 */
function checkHelp([first, command]: readonly string[]): void {
  if (first !== 'help' || command === undefined || command.startsWith('-')) return;
  const names: readonly string[] = COMMAND_NAMES;
  if (names.includes(command)) return;
  const meant = nearest(command, names);
  throw usageError(
    `there is no command ${command}. ${meant === undefined ? '' : `Did you mean ${meant}? `}` +
      `Type robots-filter help COMMAND, with one of ${names.join(', ')}`,
  );
}

/**
 * Refuses a first word that is no file and likely a misspelt command. The filter would take it as
 * an input, and complain about the options of the command that was meant.
 *
 * @throws RobotsFilterError `usage`
 */
function checkCommand([word = '-', ...rest]: readonly string[]): void {
  const names: readonly string[] = [...COMMAND_NAMES, 'help'];
  if (word.startsWith('-') || names.includes(word)) return;
  const meant = word === 'filter' ? '' : nearest(word, names);
  if (meant === undefined || existsSync(word)) return;
  const command = shellWords(['robots-filter', ...(meant === '' ? [] : [meant]), ...rest]);
  throw usageError(
    meant === ''
      ? `the filter is the program itself, without a word before its options. Type: ${command}`
      : `there is no command and no file ${word}. Did you mean ${meant}? Type: ${command}`,
  );
}

/** The definitions of the commands, if one of the words may name a command or ask for help. */
async function neededDefinitions(
  words: readonly string[],
): Promise<CommandDefinitions | undefined> {
  const names: readonly string[] = [...COMMAND_NAMES, 'help', '--help'];
  // -h may stand among other short options: -qh.
  const mayAsk = (word: string): boolean =>
    word.startsWith('-') && !word.startsWith('--') && word.includes('h');
  const isNeeded = words.some((word) => names.includes(word) || mayAsk(word));
  return isNeeded ? (await import('./definitions/commands.js')).COMMAND_DEFINITIONS : undefined;
}

/** Runs the command line; returns its exit code. */
export async function run(argv: readonly string[]): Promise<number> {
  let exitCode: number = SUCCESS;
  chooseColours('auto');
  const ended = watchEnd();
  try {
    requireNode(process.versions);
    checkHelp(argv);
    checkCommand(argv);
    const words = completeStats(argv);
    // A start pays only for the options of the command that runs; completions need them all.
    const isNeeded = (name: string): boolean =>
      [name, 'completion'].some((word) => words.includes(word));
    const program = createProgram(
      (code) => {
        exitCode = code;
      },
      await neededDefinitions(words),
      isNeeded,
    );
    await program.parseAsync(words, { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof WrongCommandLine) return reportWrong(error, argv);
    return reportFailure(error);
  } finally {
    await endOpenings();
    ended();
  }
}
