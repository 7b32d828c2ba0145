import type { Warning, WarningCode } from './robots-file.js';

/** As many warnings as one file may have; further ones are counted. */
export const MAX_WARNINGS = 100;

/** What each kind of warning says, where there is nothing more to say. */
export const MESSAGES: Readonly<Record<WarningCode, string>> = {
  'beyond-limit': 'The body is longer than the parsing limit; the rest was ignored.',
  html: 'The body begins as a web page does, not as a robots.txt; lines that are no records are not reported singly.',
  'malformed-pattern':
    'The path pattern starts with neither "/" nor "*"; the rule matches nothing.',
  'missing-colon': 'The line has no colon after its key; it was ignored.',
  'no-product-token':
    'The user-agent line names no product token; no crawler is in the group by it.',
  nul: 'The line holds a NUL; it was ignored.',
  'not-utf-8': 'The line is not UTF-8; its octets were kept as they are.',
  'over-budget':
    'The file holds more records and wildcards than any robots.txt needs, about a million; it was given up, and everything is denied.',
  'rule-before-group': 'The rule stands before any user-agent line; it was ignored.',
  'unknown-record': 'The key is none that is known; the line was ignored.',
  'line-cut': 'The line is too long; its end was dropped.',
  'utf-16': 'The body is UTF-16; it was decoded.',
};

/**
 * Collects warnings, in bounded memory and without copying more than a little of what the file
 * says.
 */
export class WarningList {
  readonly #warnings: Warning[] = [];
  #further = 0;

  /**
   * Adds a warning; `message` is called only if there is room, and replaces the message that the
   * code has.
   */
  add(code: WarningCode, line: number, message?: () => string): void {
    if (this.#warnings.length === MAX_WARNINGS) {
      this.#further++;
      return;
    }
    this.#warnings.push({
      code,
      line,
      message: message === undefined ? MESSAGES[code] : message(),
    });
  }

  /** Adds a warning before all others, whether there is room or not. */
  addFirst(code: WarningCode, line: number): void {
    if (this.#warnings.length === MAX_WARNINGS) {
      this.#warnings.pop();
      this.#further++;
    }
    this.#warnings.unshift({ code, line, message: MESSAGES[code] });
  }

  /** The first 100 warnings; the last of them says how many more there are. */
  list(): readonly Warning[] {
    const last = this.#warnings.at(-1);
    if (this.#further === 0 || last === undefined) return this.#warnings;
    const message = `${last.message} (Further warnings, not listed: ${this.#further}.)`;
    return [...this.#warnings.slice(0, -1), { ...last, message }];
  }
}
