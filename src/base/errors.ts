/**
 * The kind of an error. Errors come from the environment of a run, never from content: a bad record
 * is a counted verdict, a bad line of robots.txt a warning.
 *
 * - `usage`: an option or argument is invalid.
 * - `input`: a file, pipe or record cannot be read, or is not what it should be.
 * - `output`: a file or pipe cannot be written.
 * - `table`: a table is damaged, truncated, of another version or profile, or not a table.
 * - `limit`: an input is too large for the table's format or the memory.
 * - `worker`: a thread failed.
 */
export type ErrorCode = 'usage' | 'input' | 'output' | 'table' | 'limit' | 'worker';

/** Where the documentation is: a package has none of its pages. */
const DOCS = 'https://github.com/robots-filter/robots-filter/blob/main/docs/';

/** The address of a page of the documentation, for messages and help: `serve.md`. */
export function docsPage(page: string): string {
  return `${DOCS}${page}`;
}

/** An error that robots-filter throws. Its message names the input, the place and the remedy. */
export class RobotsFilterError extends Error {
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = 'RobotsFilterError';
    this.code = code;
  }
}
