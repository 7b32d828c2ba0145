import { Command } from 'commander';
import { endOpenings } from '../files/openings.js';
import { nearest } from '../nearest.js';
import { COMMAND_NAMES } from './command-names.js';
import type { CommandDefinition, CommandDefinitions, Finish } from './definitions/definition.js';
import { filterDefinition } from './definitions/filter.js';
import { SUCCESS } from './exit-codes.js';
import { reportFailure } from './failure.js';
import { fullName } from './help/full-name.js';
import { addHelp } from './help/help.js';
import { HELP_GROUP } from './options/option-groups.js';
import { colourOption, completeStats } from './options/output-options.js';
import { requireNode, watchEnd } from './process/runtime.js';
import { writeError, writeOutput } from './process/standard-streams.js';
import { chooseColours } from './report/colour.js';
import { errorMessage } from './report/diagnostics.js';
import { usageError } from './usage-error.js';
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

/** Gives a command its arguments, options and help, and the program's way to write messages. */
function build(command: Command, { define, help }: CommandDefinition, finish: Finish): void {
  command
    .exitOverride()
    .showHelpAfterError(`(Type ${fullName(command)} --help for all options.)`)
    .configureOutput({
      writeOut: writeOutput,
      writeErr: writeError,
      outputError(text, write) {
        const message = text.startsWith('error: ') ? text.slice('error: '.length) : text;
        write(errorMessage(message));
      },
    });
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
    return reportFailure(error);
  } finally {
    await endOpenings();
    ended();
  }
}
