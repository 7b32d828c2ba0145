import type { Argument, Command, Option } from 'commander';
import { summaryOf } from '../options/described-option.js';

/** What a value may be: one of some words, the path of a file or directory, or any text. */
export type Value = readonly string[] | 'file' | 'text';

/** An option as a shell completes it. */
export interface OptionWords {
  /** `-a`, if there is one. */
  readonly short: string | undefined;
  /** `--agent`; `-h` has only its short name. */
  readonly long: string | undefined;
  readonly summary: string;
  /** Missing if the option takes no value, or none that stands in a word of its own. */
  readonly value: Value | undefined;
  /** The placeholder of the value in the help: `token,…`. */
  readonly placeholder: string;
}

/** A command as a shell completes it. */
export interface CommandWords {
  /** `compile`; the filter itself has the name of the program. */
  readonly name: string;
  readonly summary: string;
  readonly options: readonly OptionWords[];
  /** What an argument may be: the first one's. */
  readonly argument: Value | undefined;
}

/** The program and its commands. */
export interface ProgramWords extends CommandWords {
  readonly commands: readonly CommandWords[];
}

/** Reads the words from the same definitions that `--help` prints. */
export function programWords(program: Command): ProgramWords {
  const help = { name: 'help', summary: 'Print the help of a command.', options: [] };
  const commands = program.commands.map(commandWords);
  const names = commands.map(({ name }) => name);
  return { ...commandWords(program), commands: [...commands, { ...help, argument: names }] };
}

function commandWords(command: Command): CommandWords {
  const [argument] = command.registeredArguments;
  return {
    name: command.name(),
    summary: command.description(),
    options: command.createHelp().visibleOptions(command).map(optionWords),
    argument: argument && valueOfArgument(argument),
  };
}

function optionWords(option: Option): OptionWords {
  const [, placeholder = ''] = /<(.*)>/.exec(option.flags) ?? [];
  return {
    short: option.short,
    long: option.long,
    summary: summaryOf(option),
    value: option.required ? (option.argChoices ?? valueOfPlaceholder(placeholder)) : undefined,
    placeholder,
  };
}

function valueOfArgument(argument: Argument): Value {
  return argument.argChoices ?? valueOfPlaceholder(argument.name());
}

/** Placeholders of options and arguments that are paths. A source is a file or a directory. */
const PATHS: ReadonlySet<string> = new Set([
  'dir',
  'file',
  'files',
  'new',
  'old',
  'paths',
  'robots-file',
  'source',
  'sources',
  'table',
]);

function valueOfPlaceholder(placeholder: string): Value {
  return PATHS.has(placeholder) ? 'file' : 'text';
}
