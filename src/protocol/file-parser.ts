import { Buffer, isUtf8 } from 'node:buffer';
import {
  ASTERISK,
  DELETE,
  EXCLAMATION_MARK,
  LESS_THAN,
  QUESTION_MARK,
  SLASH,
  SPACE,
} from '../ascii.js';
import { isLetter } from './byte.js';
import { crawlDelaySeconds } from './crawl-delay.js';
import type { Text } from './encoding.js';
import type { Grammar, Key } from './grammar.js';
import { LineCursor } from './lines.js';
import { endOfProductToken, type ProductTokens } from './product-token.js';
import { RecordCursor } from './record.js';
import type { CrawlDelay, Group, OtherRecord, RobotsFile } from './robots-file.js';
import { RulePlaces } from './rule-places.js';
import { type WarningDetail, WarningList } from './warnings.js';

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
  readonly tokens?: ProductTokens | undefined;
  /** Whether sitemaps, crawl-delays and other records are read. */
  readonly records: boolean;
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
export class FileParser {
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
  readonly #tokens: ProductTokens | undefined;
  readonly #keepsRecords: boolean;
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
        if (this.#keepsRecords) this.#readOther(key, line);
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
    this.#warnings.add('unknown-record', line, () => {
      const { keyStart, keyEnd } = this.#record;
      const key = quote(this.#text.bytes.subarray(keyStart, keyEnd));
      return `Unknown key ${key}; line ignored.`;
    });
  }
}

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
