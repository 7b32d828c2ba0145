import type { Command, Help, Option } from 'commander';
import type { HelpTexts } from '../definitions/definition.js';
import { fullName } from './full-name.js';

/** Width in columns, unless the terminal is narrower. */
const COLUMNS = 100;
const TERM_INDENT = '  ';
const TEXT_INDENT = '      ';

/** Formats the whole help: arguments, commands, all options in groups, examples and notes. */
export function longHelp(command: Command, texts: HelpTexts, helper: Help): string {
  const columns = Math.min(helper.helpWidth ?? COLUMNS, COLUMNS);
  const item = (term: string, text: string): string =>
    `${TERM_INDENT}${term}\n${wrapped(text, TEXT_INDENT, columns, helper)}\n`;
  const section = (heading: string, items: readonly string[]): string[] =>
    items.length === 0 ? [] : [`${heading}:`, ...items];
  const name = fullName(command);
  return [
    wrapped(texts.description, '', columns, helper),
    '',
    ...section('Usage', linesOf(texts.usage.map((usage) => `${name} ${usage}`))),
    ...section(
      'Arguments',
      helper
        .visibleArguments(command)
        .map((argument) => item(helper.argumentTerm(argument), argument.description)),
    ),
    ...section('Commands', commandLines(command, helper)),
    ...[...optionGroups(command, helper)].flatMap(([heading, options]) =>
      section(
        heading,
        options.map((option) => item(option.flags, option.description)),
      ),
    ),
    ...section('Examples', linesOf(texts.examples)),
    wrapped(texts.notes.trim(), '', columns, helper),
    '',
  ].join('\n');
}

function optionGroups(command: Command, helper: Help): Map<string, Option[]> {
  return helper.groupItems(
    [...command.options],
    helper.visibleOptions(command),
    ({ helpGroupHeading = '' }) => helpGroupHeading,
  );
}

function commandLines(command: Command, helper: Help): string[] {
  const commands = helper.visibleCommands(command);
  if (commands.length === 0) return [];
  const width = Math.max(...commands.map((each) => each.name().length));
  return linesOf(commands.map((each) => `${each.name().padEnd(width)}  ${each.description()}`));
}

/** Indents lines, and adds a blank line after the last. */
function linesOf(lines: readonly string[]): string[] {
  return [...lines.map((line) => `${TERM_INDENT}${line}`), ''];
}

/** Indents text and wraps its lines, except those that start with white space. */
function wrapped(text: string, indent: string, columns: number, helper: Help): string {
  return text
    .split('\n')
    .map((line) => (line.startsWith(' ') ? line : helper.boxWrap(line, columns - indent.length)))
    .join('\n')
    .split('\n')
    .map((line) => `${indent}${line}`.trimEnd())
    .join('\n');
}
