import { type Command, CommanderError, type Help, Option } from 'commander';
import { writeOutput } from './console.js';
import { type HelpTexts, summaryOf } from './options.js';

/** Adds `-h`, which prints one screen, and `--help`, which prints everything. */
export function addHelp(command: Command, texts: HelpTexts): void {
  command
    .description(texts.description)
    .addOption(new Option('-h', 'Print one screen of help.').helpGroup('Help'))
    .addHelpOption(new Option('--help', 'Print this help.').helpGroup('Help'))
    .configureHelp({ formatHelp: (_command, helper) => longHelp(command, texts, helper) })
    .on('option:h', () => {
      writeOutput(shortHelp(command, texts));
      throw new CommanderError(0, 'commander.helpDisplayed', '');
    });
}

/** Commands for which one line has no room: they are typed once, or stand in scripts. */
const RARE_COMMANDS: readonly string[] = ['completion', 'shard', 'captures', 'serve'];

/** Formats one screen of help: usage, the main options and examples. */
function shortHelp(command: Command, texts: HelpTexts): string {
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

/** Width in columns, unless the terminal is narrower. */
const COLUMNS = 80;
const TERM_INDENT = '  ';
const TEXT_INDENT = '      ';

/** Formats the whole help: arguments, commands, all options in groups, examples and notes. */
function longHelp(command: Command, texts: HelpTexts, helper: Help): string {
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
    ...section('Commands', commandLines(command, helper, columns)),
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

function commandLines(command: Command, helper: Help, columns: number): string[] {
  const commands = helper.visibleCommands(command);
  if (commands.length === 0) return [];
  const width = Math.max(...commands.map((each) => each.name().length));
  const lines = commands.flatMap((each) =>
    wrappedLine(
      `${each.name().padEnd(width)}  ${each.description()}`,
      columns - TERM_INDENT.length,
    ),
  );
  return linesOf(lines);
}

/** Indents lines, and adds a blank line after the last. */
function linesOf(lines: readonly string[]): string[] {
  return [...lines.map((line) => `${TERM_INDENT}${line}`), ''];
}

/** Indents text and wraps its lines; those that start with white space as `wrappedLine`. */
function wrapped(text: string, indent: string, columns: number, helper: Help): string {
  const width = columns - indent.length;
  return text
    .split('\n')
    .flatMap((line) =>
      line.startsWith(' ') ? wrappedLine(line, width) : helper.boxWrap(line, width).split('\n'),
    )
    .map((line) => `${indent}${line}`.trimEnd())
    .join('\n');
}

/**
 * Wraps a line that is no paragraph: what follows a term and two blanks stays a column; any other
 * line is a command, which a backslash continues.
 */
function wrappedLine(line: string, columns: number): string[] {
  if (line.length <= columns) return [line];
  const start = line.length - line.trimStart().length;
  const gap = line.indexOf('  ', start);
  const isTerm = gap >= 0;
  const textStart = isTerm ? line.length - line.slice(gap).trimStart().length : start;
  const parts = isTerm ? line.slice(textStart).split(' ') : commandParts(line.slice(start));
  const [end, indent] = isTerm ? ['', textStart] : [' \\', start + TERM_INDENT.length];
  const lines: string[] = [];
  let current = line.slice(0, textStart);
  let isEmpty = true;
  for (const part of parts) {
    const longer = isEmpty ? current + part : `${current} ${part}`;
    if (isEmpty || longer.length + end.length <= columns) current = longer;
    else {
      lines.push(current + end);
      current = ' '.repeat(indent) + part;
    }
    isEmpty = false;
  }
  return [...lines, current];
}

/** What begins a part of a command that may stand on a line of its own. */
const PART_STARTS = ['-', '|', '>', '<', '&&'];

/** The parts of a command: options with their values, redirections, and what a pipe joins. */
function commandParts(command: string): string[] {
  const parts: string[] = [];
  let isQuoted = false;
  for (const word of command.split(' ')) {
    const last = parts.at(-1);
    const begins = !isQuoted && PART_STARTS.some((start) => word.startsWith(start));
    if (last === undefined || begins) parts.push(word);
    else parts[parts.length - 1] = `${last} ${word}`;
    if (word.split("'").length % 2 === 0) isQuoted = !isQuoted;
  }
  return parts;
}

/** The full name of a command: `robots-filter`, or `robots-filter fetch`. */
export function fullName(command: Command): string {
  const parent = command.parent === null ? '' : `${fullName(command.parent)} `;
  return `${parent}${command.name()}`;
}
