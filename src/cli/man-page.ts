import type { Command, Option } from 'commander';
import { COMMAND_NAMES } from './console.js';
import { filterDefinition } from './definitions/filter.js';
import { COMMAND_DEFINITIONS } from './definitions.js';
import { fullName } from './help.js';
import type { HelpTexts } from './options.js';
import { createProgram } from './program.js';

/** A command with the texts of its help. */
interface DescribedCommand {
  readonly command: Command;
  readonly texts: HelpTexts;
}

/**
 * The manual page of the program, for man(1): the same words as `--help` of each command.
 *
 * @param program the filter itself
 * @param version of the package
 */
export function manPage(
  program: DescribedCommand,
  commands: readonly DescribedCommand[],
  version: string,
): string {
  const name = program.command.name();
  const summary = sentence(program.texts.description);
  return [
    `.TH ${quoted(name.toUpperCase())} 1 "" ${quoted(`${name} ${version}`)}`,
    '.SH NAME',
    `${escaped(name)} \\- ${escaped(summary)}`,
    '.SH SYNOPSIS',
    ...[program, ...commands].flatMap(synopsis),
    '.SH DESCRIPTION',
    ...prose(program.texts.notes),
    ...optionSections(program.command, '.SH'),
    '.SH COMMANDS',
    ...commands.flatMap((each) => [
      `.SS ${quoted(fullName(each.command))}`,
      escaped(each.texts.description),
      ...optionSections(each.command, '.P\n.B'),
      ...prose(each.texts.notes),
    ]),
    '.SH EXAMPLES',
    ...[program, ...commands].flatMap(({ texts }) => literal(texts.examples)),
    '',
  ].join('\n');
}

function synopsis({ command, texts }: DescribedCommand): string[] {
  const name = fullName(command);
  return texts.usage.flatMap((usage) => [`.B ${escaped(name)}`, escaped(usage), '.br']);
}

/** The options by their groups, each group below a heading. */
function optionSections(command: Command, heading: string): string[] {
  const helper = command.createHelp();
  const groups = helper.groupItems(
    [...command.options],
    helper.visibleOptions(command),
    ({ helpGroupHeading = '' }) => helpGroupHeading,
  );
  return [...groups].flatMap(([group, options]) => [
    `${heading} ${quoted(heading === '.SH' ? group.toUpperCase() : group)}`,
    ...options.flatMap(optionLines),
  ]);
}

function optionLines({ flags, description }: Option): string[] {
  return ['.TP', `.B ${escaped(flags)}`, ...prose(description).map(indented)];
}

/** Within an option, a paragraph keeps the indentation. */
function indented(line: string): string {
  return line === '.P' ? '.IP' : line;
}

/** Paragraphs; lines that start with white space stay as they are. */
function prose(text: string): string[] {
  return text
    .trim()
    .split('\n\n')
    .flatMap((paragraph, index) => {
      const lines = paragraph.split('\n');
      const first = lines.findIndex((line) => line.startsWith(' '));
      const words = first < 0 ? lines : lines.slice(0, first);
      const example = first < 0 ? [] : lines.slice(first);
      return [
        ...(index === 0 ? [] : ['.P']),
        ...words.map(escaped),
        ...(example.length === 0 ? [] : literal(example)),
      ];
    });
}

/** Lines that are not filled. */
function literal(lines: readonly string[]): string[] {
  return ['.RS', '.nf', ...lines.map((line) => escaped(line.trimStart())), '.fi', '.RE'];
}

/** `Check URLs.` as `check URLs`. */
function sentence(text: string): string {
  const plain = text.endsWith('.') ? text.slice(0, -1) : text;
  return plain.charAt(0).toLowerCase() + plain.slice(1);
}

/** Text for roff: backslashes, hyphens, and a control character at the start of a line. */
function escaped(text: string): string {
  const safe = [...text.replaceAll('\\', '\\e').replaceAll('-', '\\-')].map(character).join('');
  return safe.startsWith('.') || safe.startsWith("'") ? `\\&${safe}` : safe;
}

/** groff reads only ASCII without an option. */
function character(text: string): string {
  const code = text.codePointAt(0) ?? 0;
  return code < 0x80 ? text : `\\[u${code.toString(16).toUpperCase().padStart(4, '0')}]`;
}

function quoted(text: string): string {
  return `"${escaped(text).replaceAll('"', '\\(dq')}"`;
}

/** The filter, then its commands, each with the texts of its help. */
export function describedCommands(): [DescribedCommand, ...DescribedCommand[]] {
  const program = createProgram(() => {}, COMMAND_DEFINITIONS);
  const commands = COMMAND_NAMES.map((name, index) => {
    return { command: program.commands[index] ?? program, texts: COMMAND_DEFINITIONS[name].help };
  });
  return [{ command: program, texts: filterDefinition.help }, ...commands];
}
