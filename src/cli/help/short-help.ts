import type { Command } from 'commander';
import type { HelpTexts } from '../definitions/definition.js';
import { summaryOf } from '../options/described-option.js';
import { fullName } from './full-name.js';

/** Commands for which one line has no room: they are typed once, or stand in scripts. */
const RARE_COMMANDS: readonly string[] = ['completion', 'shard', 'captures', 'serve'];

/** Formats one screen of help: usage, the main options and examples. */
export function shortHelp(command: Command, texts: HelpTexts): string {
  const name = fullName(command);
  const options = texts.mainOptions.flatMap((long) =>
    command.options.filter((option) => option.long === long),
  );
  const width = Math.max(...options.map(({ flags }) => flags.length));
  const names = command.commands.map((each) => each.name());
  const commands = names.filter((each) => !RARE_COMMANDS.includes(each));
  return [
    texts.description,
    ...texts.usage.map((usage, index) => `${index === 0 ? 'Usage:' : '      '} ${name} ${usage}`),
    '',
    ...options.map((option) => `  ${option.flags.padEnd(width)}  ${summaryOf(option)}`),
    '',
    'Examples:',
    ...texts.examples.map((example) => `  ${example}`),
    '',
    ...(commands.length === 0 ? [] : [`Commands: ${commands.join(', ')}.`]),
    `${name} --help for everything.`,
    '',
  ].join('\n');
}
