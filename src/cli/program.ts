/** The program: finds the command, runs it, and ends with its status. */

import { existsSync } from 'node:fs';
import { Argument, Command, type CommanderError } from 'commander';
import { nearest } from '../base/nearest.js';
import { endOpenings } from '../files/openings.js';
import { version } from '../files/package-file.js';
import { refuseLossyPaths } from './commands/robots-source.js';
import {
  COMMAND_NAMES,
  Diagnostics,
  errorMessage,
  FAILURE,
  reportFailure,
  SUCCESS,
  shellWords,
  usageError,
  writeError,
  writeOutput,
} from './console.js';
import { completeStats, filterDefinition } from './definitions/filter.js';
import { addHelp, fullName } from './help.js';
import { type CommandDefinition, type CommandDefinitions, describedOption } from './options.js';
import { COLOUR_CHOICES, chooseColours } from './text.js';

/** Receives the exit code of a command that has run. */
type Finish = (code: number) => void;

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
    const { COMMAND_DEFINITIONS } = await import('./definitions.js');
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

/** Gives a command what its definition says, and the program's way to write messages. */
function build(command: Command, definition: CommandDefinition, finish: Finish): void {
  const { help } = definition;
  command
    .exitOverride((error) => {
      throw error.exitCode === 0 ? error : new WrongCommandLine(fullName(command), error);
    })
    // The message comes with the command that was meant.
    .configureOutput({ writeOut: writeOutput, writeErr: writeError, outputError: () => {} });
  for (const [name, description, choices] of definition.arguments) {
    const argument = new Argument(name, description);
    command.addArgument(choices === undefined ? argument : argument.choices(choices));
  }
  for (const option of definition.options()) command.addOption(option);
  command.allowExcessArguments(definition.allowsExcess ?? false).action(async () => {
    refuseLossyPaths(command.args.slice(0, definition.paths), command.opts());
    finish(await definition.run(command.args, command.opts(), command));
  });
  command.addOption(
    describedOption(
      'Messages',
      '--color <when>',
      'Write colours: auto, always or never.',
      'auto, the default, colours what goes to a terminal, unless NO_COLOR is set. always writes text for people as to a terminal, for a pager.',
      '    robots-filter --robots-dir robots/ --explain --color always urls.txt | less -RS',
    )
      .choices(COLOUR_CHOICES)
      .default('auto'),
  );
  command.optionsGroup('Help');
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
  return isNeeded ? (await import('./definitions.js')).COMMAND_DEFINITIONS : undefined;
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

/** Programs that run code for Node, but not all of it alike. */
const OTHERS: Readonly<Record<string, string>> = { bun: 'Bun', deno: 'Deno' };

/**
 * Refuses to run under another program than Node: Deno 2.9 ends in the middle of a run with exit
 * code 0, and Bun 1.4 cannot read directories as bytes.
 *
 * @param versions the versions of what runs, by its name
 * @throws RobotsFilterError `usage`
 */
export function requireNode(versions: Readonly<Record<string, string | undefined>>): void {
  for (const [key, name] of Object.entries(OTHERS)) {
    const version = versions[key];
    if (version === undefined) continue;
    throw usageError(
      `robots-filter runs under Node, and this is ${name} ${version}. Install Node 20.20 or later, and type: node "$(command -v robots-filter)" …`,
    );
  }
}

/**
 * Makes it an error if the process ends while a run still waits for something: Node ends with
 * success when nothing is left that could wake it.
 *
 * @returns call it when the run has ended
 */
function watchEnd(): () => void {
  const report = (): void => {
    new Diagnostics(true).error(
      'the run stopped before its end: the output is incomplete. Run it again; if it stops again, please report it with the command',
    );
    process.exitCode = FAILURE;
  };
  process.once('beforeExit', report);
  return () => {
    process.off('beforeExit', report);
  };
}
