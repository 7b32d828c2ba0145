import type { Warning, WarningCode } from './robots-file.js';

/** Maximum number of warnings of a file. Further ones are counted. */
export const MAX_WARNINGS = 100;

/** The message of each kind of warning. */
export const MESSAGES: Readonly<Record<WarningCode, string>> = {
  'beyond-limit': 'The body is longer than the parsing limit; the rest was ignored.',
  html: 'The body begins like a web page, not a robots.txt; lines that are not records are not reported one by one.',
  'malformed-pattern':
    'The path pattern starts with neither "/" nor "*"; the rule matches nothing.',
  'missing-colon': 'No colon after the key; line ignored.',
  'no-product-token':
    'The user-agent line names no product token; it adds no crawler to the group.',
  nul: 'The line contains a NUL; it was ignored.',
  'not-utf-8': 'The line is not UTF-8; its bytes were kept.',
  'over-budget':
    'The file has more than about a million records and wildcards; everything is denied.',
  'rule-before-group': 'The rule comes before any user-agent line; it was ignored.',
  'unknown-record': 'Unknown key; line ignored.',
  'line-truncated': 'The line is too long; it was truncated.',
  'utf-16': 'The body is UTF-16; it was decoded.',
};

/** What is kept of warnings: nothing, all but the messages that quote the file, or everything. */
export type WarningDetail = 'none' | 'codes' | 'messages';

/** Collects warnings in bounded memory. */
export class WarningList {
  readonly #detail: WarningDetail;
  readonly #warnings: Warning[] = [];
  #further = 0;

  constructor(detail: WarningDetail) {
    this.#detail = detail;
  }

  /**
   * Adds a warning. `message` replaces the text of `MESSAGES`, and is called only if there is room.
   */
  add(code: WarningCode, line: number, message?: () => string): void {
    if (this.#detail === 'none') return;
    if (this.#warnings.length === MAX_WARNINGS) {
      this.#further++;
      return;
    }
    const isGeneral = message === undefined || this.#detail === 'codes';
    this.#warnings.push({ code, line, message: isGeneral ? MESSAGES[code] : message() });
  }

  /** Adds a warning before all others, even if there is no room. */
  addFirst(code: WarningCode, line: number): void {
    if (this.#detail === 'none') return;
    if (this.#warnings.length === MAX_WARNINGS) {
      this.#warnings.pop();
      this.#further++;
    }
    this.#warnings.unshift({ code, line, message: MESSAGES[code] });
  }

  /** The first 100 warnings. If there are more, the last one tells how many. */
  list(): readonly Warning[] {
    const last = this.#warnings.at(-1);
    if (this.#further === 0 || last === undefined) return this.#warnings;
    const message = `${last.message} (Further warnings, not listed: ${this.#further}.)`;
    return [...this.#warnings.slice(0, -1), { ...last, message }];
  }
}
