import type { Command } from 'commander';

/** What `-h` and `--help` print of a command besides its options. */
export interface HelpTexts {
  /** What the command does, as one imperative sentence. */
  readonly description: string;
  /** Ways to call the command, without the program's name. */
  readonly usage: readonly string[];
  /** Long names of the options that `-h` shows, in its order. */
  readonly mainOptions: readonly string[];
  readonly examples: readonly string[];
  /** Paragraphs at the end of `--help`; a line that starts with white space is not wrapped. */
  readonly notes: string;
}

/** Takes the exit code of a command that has run. */
export type Finish = (code: number) => void;

/** A command: its name, its help, and what it accepts and does. */
export interface CommandDefinition {
  readonly help: HelpTexts;
  /** Adds arguments, options and the action. */
  readonly define: (command: Command, finish: Finish) => void;
}
