/** Finds the authorities that `fetch` visits: those of the URLs in its input, each once. */

import { COLON, CR, DOT, HYPHEN, LOWER_A, LOWER_Z, SLASH, SPACE, TAB } from '../base/ascii.js';
import { isDigit } from '../base/characters.js';
import { RobotsFilterError } from '../base/errors.js';
import { isBlankLine, readLines } from '../files/lines.js';
import { ROW_MARK_BYTES } from '../kernel/layout.js';
import { RecordLocator } from '../kernel/session.js';
import type { OpenInput } from '../pipeline/input/open.js';
import { DescriptorChunks } from '../pipeline/input/raw-input.js';
import { type Authority, formatAuthority, parseAuthority } from '../protocol/authority.js';
import { nameOfAuthority } from '../sources/item.js';
import type { FetchAuthority } from './result.js';

/**
 * The most authorities of one run. Each takes about 180 bytes, all of them 1.8 GB; Node's heap and
 * the size of a JavaScript set end not far beyond.
 */
export const MOST_AUTHORITIES = 10_000_000;

/** Maximum number of spellings of authorities that are remembered, so that they are parsed once. */
const MOST_SPELLINGS = 65_536;

/** Number of records after which the event loop gets a turn. */
const RECORDS_AT_A_TIME = 4096;

export interface AuthoritiesOptions {
  /** The path of the member that holds the URL: one key for each level. */
  readonly urlField: readonly string[];
  /** Maximum length of a line, in bytes. A longer line counts as invalid. */
  readonly maxLineBytes: number;
  /** Maximum number of authorities. Default 10,000,000. */
  readonly most?: number | undefined;
}

/**
 * The distinct authorities of URLs: scheme, host and port, as the WHATWG URL Standard reads them.
 * Memory grows with their number, not with the input.
 */
export class Authorities implements Iterable<FetchAuthority> {
  readonly #options: AuthoritiesOptions;
  readonly #known = new Set<string>();
  /** Beginnings of URLs, as spelt in the input. */
  readonly #spellings = new Set<string>();
  /** What finds the URLs of records, by the format of the input and the path of the URL. */
  readonly #locators = new Map<string, RecordLocator>();
  readonly #decoder = new TextDecoder();
  #records = 0;
  #invalid = 0;

  constructor(options: AuthoritiesOptions) {
    this.#options = options;
  }

  /** Number of distinct authorities. */
  get size(): number {
    return this.#known.size;
  }

  /** Number of records, without blank lines. */
  get records(): number {
    return this.#records;
  }

  /** Records without an http, https or ftp URL, or with a host that no file name stands for. */
  get invalid(): number {
    return this.#invalid;
  }

  *[Symbol.iterator](): Iterator<FetchAuthority> {
    for (const text of this.#known) {
      const authority = parseAuthority(text);
      if (isFetchable(authority)) yield authority;
    }
  }

  /**
   * Adds the authorities of an input, until its end or until the signal is aborted. The input stays
   * open.
   *
   * @throws RobotsFilterError `input` if the input cannot be read, `limit` if there are too many
   *   authorities
   */
  async addInput(input: OpenInput, signal?: AbortSignal): Promise<void> {
    // A row may stand behind marks. Neither these nor the CR of a CRLF count for its length.
    const longest = this.#options.maxLineBytes + ROW_MARK_BYTES + 1;
    const lines = readLines(chunksOf(input, signal), longest);
    const locator = this.#locatorFor(input);
    let count = 0;
    for await (const { bytes: line } of lines) {
      if (line === undefined) {
        this.#records++;
        this.#invalid++;
      } else {
        this.#addLine(withoutReturn(line), input, locator);
      }
      // Progress and signals are handled on this thread too.
      if (++count % RECORDS_AT_A_TIME === 0) await new Promise(setImmediate);
    }
  }

  /** What finds the URLs of an input's records; made once, because its memory is large. */
  #locatorFor(input: OpenInput): RecordLocator | undefined {
    const { format } = input;
    if (format === 'text') return undefined;
    const { urlField, column, rowFields = 0 } = input.kind === 'stream' ? input : {};
    const path = urlField ?? this.#options.urlField;
    const key = JSON.stringify([format, path]);
    let locator = this.#locators.get(key);
    if (locator === undefined) {
      locator = new RecordLocator({ ...this.#options, format, urlField: path });
      this.#locators.set(key, locator);
    }
    if (column !== undefined) locator.setColumn(column, rowFields);
    return locator;
  }

  #addLine(line: Buffer, { format }: OpenInput, locator: RecordLocator | undefined): void {
    if (format === 'text') {
      if (line.length > this.#options.maxLineBytes || isSeveralUrls(line)) {
        this.#records++;
        this.#invalid++;
        return;
      }
      const text = spellingOf(line);
      if (text !== undefined && this.#spellings.has(text)) {
        this.#records++;
        return;
      }
      if (isBlankLine(line)) return;
      this.#records++;
      this.#add(text, this.#decoder.decode(line));
      return;
    }
    if (isBlankLine(line)) return;
    this.#records++;
    const url = locator?.urlOf(line);
    if (url === undefined) {
      this.#invalid++;
      return;
    }
    // The next record overwrites the URL.
    const bytes = Buffer.from(url);
    this.#add(spellingOf(bytes), this.#decoder.decode(bytes));
  }

  /** @param spelling as `spellingOf` returns it */
  #add(spelling: string | undefined, url: string): void {
    if (spelling !== undefined && this.#spellings.has(spelling)) return;
    const authority = parseAuthority(spelling ?? standardForm(url) ?? '');
    if (!isFetchable(authority) || nameOfAuthority(authority) === undefined) {
      this.#invalid++;
      return;
    }
    if (spelling !== undefined) {
      if (this.#spellings.size === MOST_SPELLINGS) this.#spellings.clear();
      this.#spellings.add(spelling);
    }
    const { most = MOST_AUTHORITIES } = this.#options;
    this.#known.add(formatAuthority(authority));
    if (this.#known.size > most) {
      throw new RobotsFilterError(
        'limit',
        `the input has more than ${most} hosts. Split it, and fetch the parts one after another.`,
      );
    }
  }
}

/** Nothing can be fetched without a scheme or from port 0. */
function isFetchable(authority: Authority | undefined): authority is FetchAuthority {
  return authority?.scheme !== undefined && authority.port !== 0;
}

/** Scheme, host and port of a URL as the standard reads it. */
function standardForm(url: string): string | undefined {
  try {
    const { protocol, host } = new URL(url);
    return `${protocol}//${host}`;
  } catch {
    return undefined;
  }
}

/**
 * `https://host:port` of a URL with a plain authority: lower-case letters, digits, dots, hyphens
 * and colons, followed by a path. The URL Standard leaves such an authority as it is. `undefined`
 * for other URLs.
 */
function spellingOf(url: Buffer): string | undefined {
  const colon = url.indexOf(COLON);
  if (colon < 3 || colon > 5 || url[colon + 1] !== SLASH || url[colon + 2] !== SLASH)
    return undefined;
  // White space before the scheme is no part of it.
  for (let at = 0; at < colon; at++) if (!isLowerLetter(url[at] ?? 0)) return undefined;
  const start = colon + 3;
  for (let at = start; at < url.length; at++) {
    const byte = url[at] ?? 0;
    if (byte === SLASH) return at === start ? undefined : url.toString('latin1', 0, at);
    const isPlain =
      isLowerLetter(byte) || isDigit(byte) || byte === COLON || byte === HYPHEN || byte === DOT;
    if (!isPlain) return undefined;
  }
  return undefined;
}

function isLowerLetter(byte: number): boolean {
  return byte >= LOWER_A && byte <= LOWER_Z;
}

/** Whether a tab or CR stands inside the line: the filter's `tab-in-line` and `return-in-line`. */
function isSeveralUrls(line: Buffer): boolean {
  if (!line.includes(TAB) && !line.includes(CR)) return false;
  let start = 0;
  let end = line.length;
  while (start < end && (line[start] ?? 0) <= SPACE) start++;
  while (start < end && (line[end - 1] ?? 0) <= SPACE) end--;
  const within = line.subarray(start, end);
  return within.includes(TAB) || within.includes(CR);
}

/** The line without the CR of a CRLF. */
function withoutReturn(line: Buffer): Buffer {
  return line[line.length - 1] === CR ? line.subarray(0, -1) : line;
}

/** The bytes of an input, from the start of its first line. */
async function* chunksOf(input: OpenInput, signal?: AbortSignal): AsyncGenerator<Buffer> {
  if (input.kind === 'stream') {
    for await (const chunk of input.stream) {
      if (signal?.aborted === true) return;
      yield chunk as Buffer;
    }
    return;
  }
  if (input.kind === 'pipe' && input.head.length > 0) yield Buffer.from(input.head);
  const source =
    input.kind === 'file'
      ? DescriptorChunks.ofFile(input.descriptor, input.offset, input.size)
      : await DescriptorChunks.ofPipe(input.descriptor);
  const abandon = () => void source.abandon();
  signal?.addEventListener('abort', abandon);
  try {
    for (;;) {
      const chunk = signal?.aborted === true ? undefined : await source.next();
      if (chunk === undefined) return;
      yield chunk;
    }
  } catch (cause) {
    throw new RobotsFilterError(
      'input',
      `${input.name}: reading failed (${cause instanceof Error ? cause.message : String(cause)}). Try again, or copy it to a file first.`,
      { cause },
    );
  } finally {
    signal?.removeEventListener('abort', abandon);
    await source.abandon();
  }
}
