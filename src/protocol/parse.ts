/**
 * Parses a robots.txt (RFC 9309 section 2.2): groups, rules, fields and warnings, with their lines.
 */

import { Buffer, isUtf8 } from 'node:buffer';
import {
  ASTERISK,
  DELETE,
  EXCLAMATION_MARK,
  LESS_THAN,
  QUESTION_MARK,
  SLASH,
  SPACE,
} from '../base/ascii.js';
import { isLetter } from '../base/characters.js';
import { RobotsFilterError } from '../base/errors.js';
import { endOfProductToken, isLineEnd, Names } from './agent.js';
import { endOfLastLine, type Text, textOf, utf16Order } from './encoding.js';
import { crawlDelaySeconds, READ_KEYS, SIGNAL_KEYS } from './fields.js';
import { GRAMMARS, type Grammar, type Key, LineCursor, RecordCursor } from './lines.js';
import {
  type CrawlDelay,
  type Group,
  type OtherRecord,
  type RobotsFile,
  RulePlaces,
  type Warning,
  type WarningCode,
} from './robots-file.js';
import { GREATEST_PARSING_LIMIT, LEAST_PARSING_LIMIT, type Profile } from './verdict.js';

export interface ParseOptions {
  /** The profile; default `rfc9309`. */
  readonly profile?: Profile | undefined;
  /**
   * The parsing limit (RFC 9309 section 2.5), in bytes of the body as received: from 512,000, the
   * default, to 268,435,456. The google profile has no limit and ignores this.
   */
  readonly maxBytes?: number | undefined;
}

/**
 * Parses a robots.txt (RFC 9309 section 2.2). No body makes it throw. Time and memory are linear in
 * the length of the body. A file with more records and wildcards than its budget allows, about a
 * million, is given up. The patterns of the rules are views of `body`, which must not change while
 * they are used.
 *
 * @throws RobotsFilterError `usage` for an unknown profile or a `maxBytes` out of range
 */
export function parseRobots(body: Uint8Array, options: ParseOptions = {}): RobotsFile {
  return withRules(placeRules(body, options));
}

/** The file with an object for each rule. */
export function withRules({ groups, rules, ...others }: PlacedFile): RobotsFile {
  return {
    groups: groups.map(({ productTokens, line, firstRule, rulesEnd }) => ({
      productTokens,
      rules: rules.slice(firstRule, rulesEnd),
      line,
    })),
    ...others,
  };
}

/**
 * Parses a robots.txt as `parseRobots` does, but leaves the rules where they stand in `body`.
 *
 * @param parts what to read; the rest of the result is empty. Default: everything
 * @throws RobotsFilterError `usage` for an unknown profile or a `maxBytes` out of range
 */
export function placeRules(body: Uint8Array, options: ParseOptions, parts?: FileParts): PlacedFile {
  checkParseOptions(options);
  const { profile = 'rfc9309', maxBytes = LEAST_PARSING_LIMIT } = options;
  const grammar = GRAMMARS[profile];
  const text = textOf(body, grammar, maxBytes);
  return new FileParser(text, grammar, maxBytes, parts).parse();
}

/** @throws RobotsFilterError `usage` for an unknown profile or a `maxBytes` out of range */
export function checkParseOptions({
  profile = 'rfc9309',
  maxBytes = LEAST_PARSING_LIMIT,
}: ParseOptions): void {
  if (!Object.hasOwn(GRAMMARS, profile)) {
    throw new RobotsFilterError(
      'usage',
      `profile ${JSON.stringify(profile)} does not exist; use one of ${Object.keys(GRAMMARS).join(', ')}`,
    );
  }
  if (
    !Number.isInteger(maxBytes) ||
    maxBytes < LEAST_PARSING_LIMIT ||
    maxBytes > GREATEST_PARSING_LIMIT
  ) {
    throw new RobotsFilterError(
      'usage',
      `maxBytes is ${maxBytes}; use a whole number from ${LEAST_PARSING_LIMIT} (500 KiB, the least that RFC 9309 section 2.5 allows) to ${GREATEST_PARSING_LIMIT}`,
    );
  }
}

/**
 * The budget of a file, in bytes of its records. Each record, and each `*` in a record, costs
 * RECORD_COST more. The budget bounds the memory for parsing and compiling a file if the parsing
 * limit is raised or absent.
 */
const FILE_BUDGET = 0x400_0000;
const RECORD_COST = 64;

/**
 * Length of the longest text that is always within the budget, even if it were all `*`. The default
 * parsing limit is below this length, even for UTF-16.
 */
const ALWAYS_AFFORDABLE = FILE_BUDGET / (RECORD_COST + 1);

/** Maximum number of bytes of an unknown key that a warning quotes. */
const QUOTED_BYTES = 40;

/** What is read of a file: its groups, and these. */
export interface FileParts {
  /**
   * The product tokens that count. A group lists no others, and groups without any are left out.
   * Default: all count. Only without records and warnings, some of which depend on all groups.
   */
  readonly tokens?: Names | undefined;
  /** Whether sitemaps, crawl-delays and other records are read. */
  readonly records: boolean;
  /** Whether of the other records at least those with signals are read. Default false. */
  readonly signals?: boolean | undefined;
  readonly warnings: WarningDetail;
}

const EVERYTHING: FileParts = { records: true, warnings: 'messages' };

/** A group whose rules are places in the text. */
export interface PlacedGroup extends Omit<Group, 'rules'> {
  /** The number of its first rule, and the number after its last. */
  readonly firstRule: number;
  readonly rulesEnd: number;
}

/** A parsed file whose rules are places in its text. */
export interface PlacedFile extends Omit<RobotsFile, 'groups'> {
  readonly groups: readonly PlacedGroup[];
  readonly rules: RulePlaces;
}

/** A group that may still grow. */
interface OpenGroup extends PlacedGroup {
  readonly productTokens: string[];
  rulesEnd: number;
}

/** The state of one pass over a text. */
class FileParser {
  readonly #text: Text;
  readonly #grammar: Grammar;
  /** The bytes of the text as a Buffer, for making strings; see `#string`. */
  #buffer: Buffer | undefined;
  readonly #lines: LineCursor;
  readonly #record: RecordCursor;
  readonly #html: boolean;
  /**
   * Whether the whole text is UTF-8. Then all lines are, because delimiters are ASCII: no line
   * need be checked.
   */
  readonly #utf8: boolean;

  readonly #groups: OpenGroup[] = [];
  readonly #rules: RulePlaces;
  readonly #sitemaps: OtherRecord[] = [];
  readonly #crawlDelays: CrawlDelay[] = [];
  /** The product tokens of the last crawl-delay, and how many tokens of the group have had one. */
  #lastDelayTokens: readonly string[] = [];
  #delayed = 0;
  readonly #records: OtherRecord[] = [];
  readonly #warnings: WarningList;
  readonly #tokens: Names | undefined;
  readonly #keepsRecords: boolean;
  readonly #keepsSignals: boolean;
  #group: OpenGroup | undefined;
  /** Whether a rule has followed the last user-agent line, even one that is not kept. */
  #hasRule = false;
  /** The remaining budget. */
  #budget: number;

  constructor(text: Text, grammar: Grammar, maxBytes: number, parts = EVERYTHING) {
    const { bytes, start, end, ignoredBytes } = text;
    this.#text = text;
    this.#grammar = grammar;
    this.#budget = end - start <= ALWAYS_AFFORDABLE ? Number.POSITIVE_INFINITY : FILE_BUDGET;
    this.#rules = new RulePlaces(bytes);
    this.#lines = new LineCursor(bytes, start, end, grammar.lineBytes);
    this.#record = new RecordCursor(bytes, grammar);
    this.#html = beginsWithMarkup(bytes, start, end);
    this.#tokens = parts.tokens;
    this.#keepsRecords = parts.records;
    this.#keepsSignals = parts.signals ?? false;
    this.#warnings = new WarningList(parts.warnings);
    // Without warnings nobody asks.
    const isAsked = parts.warnings !== 'none';
    this.#utf8 = !isAsked || text.utf16 || isUtf8(bytes.subarray(start, end));

    // Warnings about the file come first, so that bad lines cannot push them out.
    if (text.utf16) this.#warnings.add('utf-16', 0);
    if (this.#html) this.#warnings.add('html', 0);
    if (ignoredBytes > 0) {
      this.#warnings.add(
        'beyond-limit',
        0,
        () =>
          `The body is longer than the parsing limit of ${maxBytes} bytes; the ${ignoredBytes} bytes beyond it, and the line that the limit truncates, were ignored.`,
      );
    }
  }

  parse(): PlacedFile {
    const line = this.#lines;
    while (line.advance()) {
      if (line.holdsNul && !this.#grammar.nulEndsLine) {
        this.#warnings.add('nul', line.number);
        continue;
      }
      if (line.endsAtNul) {
        this.#warnings.add('nul', line.number, () => 'The line was truncated at a NUL.');
      }
      if (line.isTruncated) {
        this.#warnings.add(
          'line-truncated',
          line.number,
          () => `The line is longer than ${this.#grammar.lineBytes} bytes; the rest was dropped.`,
        );
      }
      const form = this.#record.read(line);
      if (form === 'record') {
        if (!this.#canAfford()) return this.#overBudget(line.number);
        this.#readRecord(line.number);
      } else if (form !== 'blank' && !this.#html) this.#warnAboutForm(form, line.number);
    }
    return {
      groups: this.#groups,
      rules: this.#rules,
      sitemaps: this.#sitemaps,
      crawlDelays: this.#crawlDelays,
      records: this.#records,
      warnings: this.#warnings.list(),
      ignoredBytes: this.#text.ignoredBytes,
      overBudget: false,
    };
  }

  /** Charges the current record to the budget; returns false if the budget is used up. */
  #canAfford(): boolean {
    if (this.#budget === Number.POSITIVE_INFINITY) return true;
    const { keyStart, valueStart, valueEnd } = this.#record;
    const { bytes } = this.#text;
    let asterisks = 0;
    for (let at = valueStart; at < valueEnd; at++) if (bytes[at] === ASTERISK) asterisks++;
    this.#budget -= valueEnd - keyStart + RECORD_COST * (1 + asterisks);
    return this.#budget >= 0;
  }

  /** The result for a file that is given up at a line: no part of the file counts. */
  #overBudget(line: number): PlacedFile {
    this.#warnings.addFirst('over-budget', line);
    return {
      groups: [],
      rules: this.#rules,
      sitemaps: [],
      crawlDelays: [],
      records: [],
      warnings: this.#warnings.list(),
      ignoredBytes: this.#text.ignoredBytes,
      overBudget: true,
    };
  }

  #readRecord(line: number): void {
    const record = this.#record;
    if (!this.#utf8 && !isUtf8(this.#text.bytes.subarray(record.keyStart, record.valueEnd))) {
      this.#warnings.add('not-utf-8', line);
    }
    const key = record.key();
    switch (key) {
      case 'disallow':
      case 'allow':
        this.#readRule(key === 'allow', line);
        break;
      case 'user-agent':
        this.#readUserAgent(line);
        break;
      case 'sitemap':
      case 'crawl-delay':
        if (this.#keepsRecords) this.#readOther(key, line);
        break;
      case 'other':
        if (this.#keepsRecords || this.#holdsSignals()) this.#readOther(key, line);
        if (!this.#html) this.#warnAboutKey(line);
    }
  }

  /**
   * Adds a user-agent line to the current group. Starts a new group if the current one already has
   * a rule, with the first token that counts.
   */
  #readUserAgent(line: number): void {
    if (this.#hasRule) this.#group = undefined;
    this.#hasRule = false;
    const { valueStart } = this.#record;
    const end = this.#endOfProductToken();
    if (end === valueStart) this.#warnings.add('no-product-token', line);
    let token: string | undefined;
    if (this.#tokens !== undefined) {
      token = this.#tokens.find(this.#text.bytes, valueStart, end);
      if (token === undefined) return;
    } else {
      token = this.#string('latin1', valueStart, end).toLowerCase();
    }
    let group = this.#group;
    if (group === undefined) {
      const { count } = this.#rules;
      group = { productTokens: [], line, firstRule: count, rulesEnd: count };
      this.#group = group;
      this.#delayed = 0;
      this.#groups.push(group);
    }
    if (token !== '' || this.#grammar.emptyProductToken) group.productTokens.push(token);
  }

  /**
   * The product tokens that a crawl-delay is for: those of the user-agent lines since the last
   * crawl-delay of the group, or the same as for the last one if there are none.
   */
  #delayTokens(): readonly string[] {
    const tokens = this.#group?.productTokens ?? [];
    // So each token of a group is in one list, and the lists are no longer than the file.
    if (this.#delayed === 0 || tokens.length > this.#delayed) {
      this.#lastDelayTokens = tokens.slice(this.#delayed);
      this.#delayed = tokens.length;
    }
    return this.#lastDelayTokens;
  }

  /** The end of the value's product token: of `*`, alone or before white space, or of a word. */
  #endOfProductToken(): number {
    const { valueStart, valueEnd } = this.#record;
    const { bytes } = this.#text;
    if (valueStart === valueEnd || bytes[valueStart] !== ASTERISK) {
      return endOfProductToken(bytes, valueStart, valueEnd);
    }
    const end = valueStart + 1;
    return end === valueEnd || this.#record.isWhiteSpace(bytes[end]) ? end : valueStart;
  }

  #readRule(allow: boolean, line: number): void {
    const group = this.#group;
    this.#hasRule = true;
    if (group === undefined) {
      this.#warnings.add('rule-before-group', line);
      return;
    }
    const { bytes } = this.#text;
    const { valueStart, valueEnd } = this.#record;
    if (valueStart < valueEnd) {
      const first = bytes[valueStart];
      if (first !== SLASH && first !== ASTERISK) this.#warnings.add('malformed-pattern', line);
    }
    this.#rules.add(allow, valueStart, valueEnd, line);
    group.rulesEnd = this.#rules.count;
  }

  #readOther(kind: Key, line: number): void {
    const { keyStart, keyEnd, valueStart, valueEnd } = this.#record;
    const key = this.#string('utf8', keyStart, keyEnd).toLowerCase();
    const value = this.#string('utf8', valueStart, valueEnd);
    const record = { key, value, line };
    this.#records.push(record);
    if (kind === 'sitemap') this.#sitemaps.push(record);
    if (kind !== 'crawl-delay') return;
    const seconds = crawlDelaySeconds(value);
    this.#crawlDelays.push({ productTokens: this.#delayTokens(), seconds, value, line });
  }

  /** Whether the current record has signals, and those are read. */
  #holdsSignals(): boolean {
    const { keyStart, keyEnd } = this.#record;
    return this.#keepsSignals && SIGNALS.find(this.#text.bytes, keyStart, keyEnd) !== undefined;
  }

  #string(encoding: 'latin1' | 'utf8', start: number, end: number): string {
    const { buffer, byteOffset, byteLength } = this.#text.bytes;
    this.#buffer ??= Buffer.from(buffer, byteOffset, byteLength);
    return this.#buffer.toString(encoding, start, end);
  }

  #warnAboutForm(form: 'no-separator' | 'no-key', line: number): void {
    if (form === 'no-separator') this.#warnings.add('missing-colon', line);
    else {
      this.#warnings.add('unknown-record', line, () => 'No key before the colon; line ignored.');
    }
  }

  #warnAboutKey(line: number): void {
    const { keyStart, keyEnd } = this.#record;
    if (READ.find(this.#text.bytes, keyStart, keyEnd) !== undefined) return;
    this.#warnings.add('unknown-record', line, () => {
      const key = quote(this.#text.bytes.subarray(keyStart, keyEnd));
      return `Unknown key ${key}; line ignored.`;
    });
  }
}

/** The keys of other records that are read. */
const READ = new Names(READ_KEYS);
/** Those whose records have signals about uses. */
const SIGNALS = new Names(SIGNAL_KEYS);

/** Quotes the first bytes, safe on a terminal: everything but printable ASCII becomes `?`. */
function quote(bytes: Uint8Array): string {
  const head = Array.from(bytes.subarray(0, QUOTED_BYTES), (byte) =>
    byte >= SPACE && byte < DELETE ? String.fromCharCode(byte) : '?',
  );
  return `"${head.join('')}${bytes.length > QUOTED_BYTES ? '…' : ''}"`;
}

/** Whether a text begins with a tag, doctype, comment or XML declaration, after white space. */
function beginsWithMarkup(bytes: Uint8Array, start: number, end: number): boolean {
  let at = start;
  while (at < end && (bytes[at] as number) <= SPACE) at++;
  if (at + 1 >= end || bytes[at] !== LESS_THAN) return false;
  const next = bytes[at + 1] as number;
  return isLetter(next) || next === EXCLAMATION_MARK || next === QUESTION_MARK;
}

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
class WarningList {
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

/**
 * A truncated body without its truncated line: half a rule may allow what the whole rule denies. A
 * line whose line end is the last byte is whole.
 */
export function withoutTruncatedLine(body: Uint8Array): Uint8Array {
  const order = utf16Order(body);
  if (order === undefined) return body.subarray(0, endOfLastLine(body, 0, body.length));
  const [high, low] = order === 'little' ? [1, 0] : [0, 1];
  let end = body.length - (body.length % 2);
  while (end > 2 && !(body[end - 2 + high] === 0 && isLineEnd(body[end - 2 + low]))) end -= 2;
  return body.subarray(0, end);
}
