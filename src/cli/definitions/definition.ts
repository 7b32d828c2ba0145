import type { Command } from 'commander';
import type { COMMAND_NAMES } from '../command-names.js';

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

/** Receives the exit code of a command that has run. */
export type Finish = (code: number) => void;

/** A command: its help, its arguments and options, and its action. */
export interface CommandDefinition {
  readonly help: HelpTexts;
  /** Adds arguments, options and the action. */
  readonly define: (command: Command, finish: Finish) => void;
}

/** The definition of each command, by its name. */
export type CommandDefinitions = Readonly<
  Record<(typeof COMMAND_NAMES)[number], CommandDefinition>
>;
