import { Option } from 'commander';

/**
 * Makes an option with its help text. `-h` shows the summary, and `--help` the details too. A
 * detail that starts with white space is an example and is not wrapped.
 */
export function describedOption(flags: string, summary: string, ...details: string[]): Option {
  return new Option(flags, [summary, ...details].join('\n\n'));
}

/** The first line of a description, which `-h` shows. */
export function summaryOf({ description }: Option): string {
  return description.split('\n', 1)[0] ?? '';
}
