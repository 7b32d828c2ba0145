import { Buffer, isUtf8 } from 'node:buffer';
import { RobotsFilterError } from '../errors.js';
import { crawlDelaySeconds } from './crawl-delay.js';
import { type Text, textOf } from './encoding.js';
import { GRAMMARS, type Grammar } from './grammar.js';
import { LineCursor } from './lines.js';
import { ASTERISK, isLetter, SLASH } from './octet.js';
import { endOfProductToken } from './product-token.js';
import type { Profile } from './profile.js';
import { RecordCursor } from './record.js';
import type { CrawlDelay, Group, OtherRecord, RobotsFile, Rule } from './robots-file.js';
import { WarningList } from './warnings.js';

/**
 * The least parsing limit that RFC 9309 section 2.5 admits, and the default: 500 KiB, in octets.
 */
export const MIN_BYTES = 512_000;

/**
 * The greatest parsing limit, in octets: a line of this length still fits a string, decoded from
 * UTF-16 too.
 */
export const MAX_BYTES = 0x1000_0000;

/**
 * What a file may cost, in octets of its records; each record, and each `*` in one, counts as
 * RECORD_COST of them besides. It bounds the memory that a file takes, to be parsed and compiled,
 * where the parsing limit has been raised or there is none.
 */
const FILE_BUDGET = 0x400_0000;
const RECORD_COST = 64;

/**
 * A text of so many octets can cost no more, were all of them `*`: within the usual parsing limit
 * none does, UTF-16 or not.
 */
const ALWAYS_AFFORDABLE = FILE_BUDGET / (RECORD_COST + 1);

/** Octets of an unknown key that a warning quotes. */
const QUOTED_OCTETS = 40;

export interface ParseOptions {
  /** Default `rfc9309`. */
  readonly profile?: Profile;
  /**
   * The parsing limit in octets of the body as received (RFC 9309 section 2.5), from 512,000, the
   * default, to 268,435,456. The google profile has none and passes this by.
   */
  readonly maxBytes?: number;
}

/**
 * Parses a robots.txt (RFC 9309 section 2.2). Whatever the octets are, this does not throw, and
 * takes time and memory linear in their number; a file with more records and wildcards than the
 * budget allows, about a million, is given up. The patterns of the rules are views of `body`, which
 * must not change as long as they are used.
 *
 * @throws RobotsFilterError `usage` for a profile that does not exist or a `maxBytes` out of range.
 */
export function parseRobots(body: Uint8Array, options: ParseOptions = {}): RobotsFile {
  const { profile = 'rfc9309', maxBytes = MIN_BYTES } = options;
  if (!Object.hasOwn(GRAMMARS, profile)) {
    throw new RobotsFilterError(
      'usage',
      `profile ${JSON.stringify(profile)} does not exist; use one of ${Object.keys(GRAMMARS).join(', ')}`,
    );
  }
  if (!Number.isInteger(maxBytes) || maxBytes < MIN_BYTES || maxBytes > MAX_BYTES) {
    throw new RobotsFilterError(
      'usage',
      `maxBytes is ${maxBytes}; use a whole number from ${MIN_BYTES} (500 KiB, the least that RFC 9309 section 2.5 admits) to ${MAX_BYTES}`,
    );
  }
  const grammar = GRAMMARS[profile];
  const text = textOf(body, grammar, maxBytes);
  return new Parser(text, grammar, maxBytes).parse();
}

/** A group that may still grow. */
interface OpenGroup extends Group {
  readonly productTokens: string[];
  readonly rules: Rule[];
}

/** The state of one pass over a text. */
class Parser {
  readonly #text: Text;
  readonly #grammar: Grammar;
  /** The octets of the text, as what can make strings of them. */
  readonly #buffer: Buffer;
  /**
   * The memory of the octets and their place in it: patterns are made from these, as subarray would
   * be slower and of a Buffer a Buffer.
   */
  readonly #memory: ArrayBufferLike;
  readonly #memoryOffset: number;
  readonly #lines: LineCursor;
  readonly #record: RecordCursor;
  readonly #html: boolean;
  /**
   * Whether all lines are known to be UTF-8. The octets that part lines and records are ASCII, so
   * parts of UTF-8 are UTF-8.
   */
  readonly #utf8: boolean;

  readonly #groups: OpenGroup[] = [];
  readonly #sitemaps: OtherRecord[] = [];
  readonly #crawlDelays: CrawlDelay[] = [];
  readonly #records: OtherRecord[] = [];
  readonly #warnings = new WarningList();
  #group: OpenGroup | undefined;
  /** What the records left may cost. */
  #budget: number;

  constructor(text: Text, grammar: Grammar, maxBytes: number) {
    const { octets, start, end, ignoredOctets } = text;
    this.#text = text;
    this.#grammar = grammar;
    this.#budget = end - start <= ALWAYS_AFFORDABLE ? Number.POSITIVE_INFINITY : FILE_BUDGET;
    this.#buffer = Buffer.from(octets.buffer, octets.byteOffset, octets.byteLength);
    this.#memory = octets.buffer;
    this.#memoryOffset = octets.byteOffset;
    this.#lines = new LineCursor(octets, start, end, grammar.lineOctets);
    this.#record = new RecordCursor(octets, grammar);
    this.#html = beginsWithMarkup(octets, start, end);
    this.#utf8 = text.utf16 || isUtf8(octets.subarray(start, end));

    // What concerns the file comes first, so that no number of bad lines can hide it.
    if (text.utf16) this.#warnings.add('utf-16', 0);
    if (this.#html) this.#warnings.add('html', 0);
    if (ignoredOctets > 0) {
      this.#warnings.add(
        'beyond-limit',
        0,
        () =>
          `The body is longer than the parsing limit of ${maxBytes} octets; the ${ignoredOctets} octets beyond it were ignored, and the line that the limit cuts.`,
      );
    }
  }

  parse(): RobotsFile {
    const line = this.#lines;
    while (line.advance()) {
      if (line.holdsNul && !this.#grammar.nulEndsLine) {
        this.#warnings.add('nul', line.number);
        continue;
      }
      if (line.endsAtNul) {
        this.#warnings.add('nul', line.number, () => 'The line was cut at a NUL.');
      }
      if (line.isCut) {
        this.#warnings.add(
          'line-cut',
          line.number,
          () => `The line is longer than ${this.#grammar.lineOctets} octets; the rest was dropped.`,
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
      sitemaps: this.#sitemaps,
      crawlDelays: this.#crawlDelays,
      records: this.#records,
      warnings: this.#warnings.list(),
      ignoredOctets: this.#text.ignoredOctets,
      overBudget: false,
    };
  }

  /** Whether the budget is enough for the record at hand, which is charged to it. */
  #canAfford(): boolean {
    if (this.#budget === Number.POSITIVE_INFINITY) return true;
    const { keyStart, valueStart, valueEnd } = this.#record;
    const { octets } = this.#text;
    let asterisks = 0;
    for (let at = valueStart; at < valueEnd; at++) if (octets[at] === ASTERISK) asterisks++;
    this.#budget -= valueEnd - keyStart + RECORD_COST * (1 + asterisks);
    return this.#budget >= 0;
  }

  /** A file that is given up at a line: what it says is not known, so nothing of it counts. */
  #overBudget(line: number): RobotsFile {
    this.#warnings.addFirst('over-budget', line);
    return {
      groups: [],
      sitemaps: [],
      crawlDelays: [],
      records: [],
      warnings: this.#warnings.list(),
      ignoredOctets: this.#text.ignoredOctets,
      overBudget: true,
    };
  }

  #readRecord(line: number): void {
    const record = this.#record;
    if (!this.#utf8 && !isUtf8(this.#text.octets.subarray(record.keyStart, record.valueEnd))) {
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
        this.#sitemaps.push(this.#readOther(line));
        break;
      case 'crawl-delay': {
        const { value } = this.#readOther(line);
        // The group's own list, not a copy: it is complete only once the run of user-agent lines
        // is.
        const productTokens = this.#group?.productTokens ?? [];
        this.#crawlDelays.push({ productTokens, seconds: crawlDelaySeconds(value), value, line });
        break;
      }
      case 'other':
        this.#readOther(line);
        if (!this.#html) this.#warnAboutKey(line);
    }
  }

  /**
   * A user-agent line goes on the run before it, or starts a group if a rule, of whatever worth,
   * has ended that run.
   */
  #readUserAgent(line: number): void {
    let group = this.#group;
    if (group === undefined || group.rules.length > 0) {
      group = { productTokens: [], rules: [], line };
      this.#group = group;
      this.#groups.push(group);
    }
    const token = this.#productToken();
    if (token === '') this.#warnings.add('no-product-token', line);
    if (token !== '' || this.#grammar.emptyProductToken) group.productTokens.push(token);
  }

  /**
   * `*`, alone or before white space, or the value's leading product token in lower case, which may
   * be empty.
   */
  #productToken(): string {
    const { valueStart, valueEnd } = this.#record;
    const { octets } = this.#text;
    if (valueStart < valueEnd && octets[valueStart] === ASTERISK) {
      const alone = valueEnd - valueStart === 1;
      return alone || this.#record.isWhiteSpace(octets[valueStart + 1]) ? '*' : '';
    }
    const end = endOfProductToken(octets, valueStart, valueEnd);
    return this.#buffer.toString('latin1', valueStart, end).toLowerCase();
  }

  #readRule(allow: boolean, line: number): void {
    const group = this.#group;
    if (group === undefined) {
      this.#warnings.add('rule-before-group', line);
      return;
    }
    const { octets } = this.#text;
    const { valueStart, valueEnd } = this.#record;
    if (valueStart < valueEnd) {
      const first = octets[valueStart];
      if (first !== SLASH && first !== ASTERISK) this.#warnings.add('malformed-pattern', line);
    }
    const offset = this.#memoryOffset + valueStart;
    const pattern = new Uint8Array(this.#memory, offset, valueEnd - valueStart);
    group.rules.push({ allow, pattern, line });
  }

  #readOther(line: number): OtherRecord {
    const { keyStart, keyEnd, valueStart, valueEnd } = this.#record;
    const key = this.#buffer.toString('utf8', keyStart, keyEnd).toLowerCase();
    const value = this.#buffer.toString('utf8', valueStart, valueEnd);
    const record = { key, value, line };
    this.#records.push(record);
    return record;
  }

  #warnAboutForm(form: 'no-separator' | 'no-key', line: number): void {
    if (form === 'no-separator') this.#warnings.add('missing-colon', line);
    else {
      this.#warnings.add('unknown-record', line, () => 'The line has no key; it was ignored.');
    }
  }

  #warnAboutKey(line: number): void {
    this.#warnings.add('unknown-record', line, () => {
      const { keyStart, keyEnd } = this.#record;
      const key = quote(this.#text.octets.subarray(keyStart, keyEnd));
      return `The key ${key} is none that is known; the line was ignored.`;
    });
  }
}

/** The first octets in quotes, fit for a terminal: what is no printable ASCII becomes `?`. */
function quote(octets: Uint8Array): string {
  const head = Array.from(octets.subarray(0, QUOTED_OCTETS), (octet) =>
    octet >= 0x20 && octet < 0x7f ? String.fromCharCode(octet) : '?',
  );
  return `"${head.join('')}${octets.length > QUOTED_OCTETS ? '…' : ''}"`;
}

/**
 * Whether the first octets other than white space are `<` and a letter, `!` or `?`: a tag, a
 * doctype, a comment, an XML declaration.
 */
function beginsWithMarkup(octets: Uint8Array, start: number, end: number): boolean {
  let at = start;
  while (at < end && (octets[at] as number) <= 0x20) at++;
  if (at + 1 >= end || octets[at] !== 0x3c) return false;
  const next = octets[at + 1] as number;
  return isLetter(next) || next === 0x21 || next === 0x3f;
}
