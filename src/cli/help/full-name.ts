import type { Command } from 'commander';

/** `robots-filter`, or `robots-filter fetch`. */
export function fullName(command: Command): string {
  const parent = command.parent === null ? '' : `${fullName(command.parent)} `;
  return `${parent}${command.name()}`;
}
