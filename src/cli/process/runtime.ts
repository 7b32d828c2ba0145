import { FAILURE } from '../exit-codes.js';
import { Diagnostics } from '../report/diagnostics.js';
import { usageError } from '../usage-error.js';

/** Programs that run code for Node, but not all of it alike. */
const OTHERS: Readonly<Record<string, string>> = { bun: 'Bun', deno: 'Deno' };

/**
 * Refuses to run under another program than Node: Deno 2.9 ends in the middle of a run with exit
 * code 0, and Bun 1.4 cannot read directories as bytes.
 *
 * @param versions the versions of what runs, by its name
 * @throws RobotsFilterError `usage`
 */
export function requireNode(versions: Readonly<Record<string, string | undefined>>): void {
  for (const [key, name] of Object.entries(OTHERS)) {
    const version = versions[key];
    if (version === undefined) continue;
    throw usageError(
      `robots-filter runs under Node, and this is ${name} ${version}. Install Node 20.20 or later, and type: node "$(command -v robots-filter)" …`,
    );
  }
}

/**
 * Makes it an error if the process ends while a run still waits for something: Node ends with
 * success when nothing is left that could wake it.
 *
 * @returns call it when the run has ended
 */
export function watchEnd(): () => void {
  const report = (): void => {
    new Diagnostics(true).error(
      'the run stopped before its end: the output is incomplete. Run it again; if it stops again, please report it with the command',
    );
    process.exitCode = FAILURE;
  };
  process.once('beforeExit', report);
  return () => {
    process.off('beforeExit', report);
  };
}
