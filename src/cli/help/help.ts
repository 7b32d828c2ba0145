import { type Command, CommanderError, Option } from 'commander';
import type { HelpTexts } from '../definitions/definition.js';
import { HELP_GROUP } from '../options/option-groups.js';
import { writeOutput } from '../process/standard-streams.js';
import { longHelp } from './long-help.js';
import { shortHelp } from './short-help.js';

/** Adds `-h`, which prints one screen, and `--help`, which prints everything. */
export function addHelp(command: Command, texts: HelpTexts): void {
  command
    .description(texts.description)
    .addOption(new Option('-h', 'Print one screen of help.').helpGroup(HELP_GROUP))
    .addHelpOption(new Option('--help', 'Print this help.').helpGroup(HELP_GROUP))
    .configureHelp({ formatHelp: (_command, helper) => longHelp(command, texts, helper) })
    .on('option:h', () => {
      writeOutput(shortHelp(command, texts));
      throw new CommanderError(0, 'commander.helpDisplayed', '');
    });
}
