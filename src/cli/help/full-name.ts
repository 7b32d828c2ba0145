import type { Command } from 'commander';

/** The full name of a command: `robots-filter`, or `robots-filter fetch`. */
export function fullName(command: Command): string {
  const parent = command.parent === null ? '' : `${fullName(command.parent)} `;
  return `${parent}${command.name()}`;
}
