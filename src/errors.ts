/**
 * What can go wrong in the environment of a run. Content never throws: a bad
 * record is a counted verdict, a bad line of robots.txt a warning.
 *
 * - `usage`: an option or argument that cannot be carried out.
 * - `input`: a file, pipe or record that cannot be read as what it is said to be.
 * - `output`: a file or pipe that cannot be written.
 * - `table`: a table that is damaged, truncated, foreign, newer or of another profile.
 * - `limit`: an input too large for what the format or the memory can carry.
 * - `worker`: a thread that failed.
 */
export type ErrorCode = 'usage' | 'input' | 'output' | 'table' | 'limit' | 'worker';

/**
 * Every error that robots-filter throws on purpose: the message names the input, the place in it
 * and the remedy.
 */
export class RobotsFilterError extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'RobotsFilterError';
    this.code = code;
  }
}
