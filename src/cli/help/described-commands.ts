import { COMMAND_NAMES } from '../command-names.js';
import { COMMAND_DEFINITIONS } from '../definitions/commands.js';
import { filterDefinition } from '../definitions/filter.js';
import { createProgram } from '../program.js';
import type { DescribedCommand } from './man-page.js';

/** The filter, then its commands, each with the texts of its help. */
export function describedCommands(): [DescribedCommand, ...DescribedCommand[]] {
  const program = createProgram(() => {}, COMMAND_DEFINITIONS);
  const commands = COMMAND_NAMES.map((name, index) => {
    return { command: program.commands[index] ?? program, texts: COMMAND_DEFINITIONS[name].help };
  });
  return [{ command: program, texts: filterDefinition.help }, ...commands];
}
