import type { Argument, Command, Option } from 'commander';
import { listNames } from '../../agents/known-agent.js';
import { knownAgents } from '../../agents/known-agents.js';
import { LINT_RULE_NAMES } from '../../lint/rules.js';
import { RECORD_KINDS } from '../../protocol/other-record-kinds.js';
import { summaryOf } from '../options/described-option.js';

/** Lists of words of which a value may have several, with commas between them. */
export type ListName = 'agents' | 'rules' | 'kinds';

/**
 * What a value may be: one of some words, the path of a file or directory, any text, or words of a
 * list.
 */
export type Value = readonly string[] | 'file' | 'text' | { readonly list: ListName };

/** The name of a value's list; `undefined` for other values. */
export function listOf(value: Value): ListName | undefined {
  return typeof value === 'object' && 'list' in value ? value.list : undefined;
}

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
  /** What each argument may be; the last one may be repeated. */
  readonly arguments: readonly Value[];
}

/** The program and its commands. */
export interface ProgramWords extends CommandWords {
  readonly commands: readonly CommandWords[];
  readonly lists: Readonly<Record<ListName, readonly string[]>>;
}

/** Reads the words from the same definitions that `--help` prints. */
export function programWords(program: Command): ProgramWords {
  const help = { name: 'help', summary: 'Print the help of a command.', options: [] };
  const commands = program.commands.map(commandWords);
  const names = commands.map(({ name }) => name);
  const known = knownAgents();
  return {
    ...commandWords(program),
    commands: [...commands, { ...help, arguments: [names] }],
    lists: {
      agents: [...listNames(known).map((name) => `@${name}`), ...known.map(({ token }) => token)],
      rules: LINT_RULE_NAMES,
      kinds: RECORD_KINDS,
    },
  };
}

function commandWords(command: Command): CommandWords {
  return {
    name: command.name(),
    summary: command.description(),
    options: command.createHelp().visibleOptions(command).map(optionWords),
    arguments: command.registeredArguments.map(valueOfArgument),
  };
}

function optionWords(option: Option): OptionWords {
  const [, placeholder = ''] = /<(.*)>/.exec(option.flags) ?? [];
  return {
    short: option.short,
    long: option.long,
    summary: summaryOf(option),
    value: option.required ? (option.argChoices ?? valueOfOption(placeholder)) : undefined,
    placeholder,
  };
}

/** The name of a member or column is any text. */
function valueOfOption(placeholder: string): Value {
  return placeholder === 'name' ? 'text' : valueOfPlaceholder(placeholder);
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

/** Placeholders of options and arguments that are words of a list. */
const LISTS: Readonly<Record<string, ListName>> = {
  'token,…': 'agents',
  agent: 'agents',
  name: 'agents',
  'rule,…': 'rules',
  'kind,…': 'kinds',
};

function valueOfPlaceholder(placeholder: string): Value {
  const list = LISTS[placeholder];
  if (list !== undefined) return { list };
  return PATHS.has(placeholder) ? 'file' : 'text';
}
