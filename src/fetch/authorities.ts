import { RobotsFilterError } from '../errors.js';
import { nameOfAuthority } from '../pipeline/cache/layout.js';
import { readLines } from '../pipeline/cache/lines.js';
import { DescriptorSource } from '../pipeline/input/descriptor.js';
import type { InputFormat } from '../pipeline/input/format.js';
import type { OpenInput } from '../pipeline/input/open.js';
import { type Authority, formatAuthority, parseAuthority } from '../protocol/authority.js';
import type { FetchAuthority } from './result.js';

/**
 * Authorities that one run can have. Each takes some 180 octets (measured with 3,000,000 of 30
 * characters: 580 MB), so many 1.8 GB; Node's heap and the size of a JavaScript set end not far
 * beyond.
 */
export const MOST_AUTHORITIES = 10_000_000;

/**
 * Spellings of authorities that are remembered, to save reading them again; then all are forgotten.
 */
const REMEMBERED = 65_536;

/** Records between two looks at the clock by others. */
const RECORDS_AT_A_TIME = 4096;

export interface AuthoritiesOptions {
  /** The member that holds the URL: a key for each level. */
  readonly urlField: readonly string[];
  /** Octets; a longer line is no URL. */
  readonly maxLineOctets: number;
  /** Authorities beyond which an input is refused; default 10,000,000. */
  readonly most?: number | undefined;
}

/**
 * The distinct authorities of URLs: scheme, host and port, as the WHATWG URL Standard reads them.
 * Its memory grows with them alone, not with the input.
 */
export class Authorities implements Iterable<FetchAuthority> {
  readonly #options: AuthoritiesOptions;
  readonly #known = new Set<string>();
  /** Beginnings of URLs as they were spelt. */
  readonly #spellings = new Set<string>();
  readonly #decoder = new TextDecoder();
  #records = 0;
  #invalid = 0;

  constructor(options: AuthoritiesOptions) {
    this.#options = options;
  }

  /** Distinct authorities. */
  get size(): number {
    return this.#known.size;
  }

  /** Records, blank lines left out. */
  get records(): number {
    return this.#records;
  }

  /** Those of them without an http, https or ftp URL whose host a file can be named for. */
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
   * Adds the authorities of an input, as far as it is read before the signal is aborted. The input
   * stays open.
   *
   * @throws RobotsFilterError `input` if it cannot be read, `limit` if there are too many
   *   authorities
   */
  async addInput(input: OpenInput, signal?: AbortSignal): Promise<void> {
    const lines = readLines(chunksOf(input, signal), this.#options.maxLineOctets);
    let count = 0;
    for await (const { octets } of lines) {
      if (octets === undefined) {
        this.#records++;
        this.#invalid++;
      } else {
        this.#addLine(octets, input.format);
      }
      // Whoever shows progress, or hears signals, is on this thread too.
      if (++count % RECORDS_AT_A_TIME === 0) await new Promise(setImmediate);
    }
  }

  #addLine(line: Buffer, format: InputFormat): void {
    if (format === 'text') {
      if (isSeveralUrls(line)) {
        this.#records++;
        this.#invalid++;
        return;
      }
      const text = spellingOf(line);
      if (text !== undefined && this.#spellings.has(text)) {
        this.#records++;
        return;
      }
      if (isBlank(line)) return;
      this.#records++;
      this.#add(text, this.#decoder.decode(line));
      return;
    }
    if (isBlank(line)) return;
    this.#records++;
    const url = this.#urlOf(line, format);
    if (url === undefined) this.#invalid++;
    else this.#add(spellingOf(Buffer.from(url)), url);
  }

  /** The URL of a JSON record. */
  #urlOf(line: Buffer, format: InputFormat): string | undefined {
    let value: unknown;
    try {
      value = JSON.parse(this.#decoder.decode(line));
    } catch {
      return undefined;
    }
    if (typeof value === 'string') return format === 'json' ? value : undefined;
    for (const key of this.#options.urlField) {
      if (typeof value !== 'object' || value === null || !Object.hasOwn(value, key))
        return undefined;
      value = (value as Readonly<Record<string, unknown>>)[key];
    }
    return typeof value === 'string' ? value : undefined;
  }

  /** @param spelling the beginning of the URL, if it is plain */
  #add(spelling: string | undefined, url: string): void {
    if (spelling !== undefined && this.#spellings.has(spelling)) return;
    const authority = parseAuthority(spelling ?? standardForm(url) ?? '');
    if (!isFetchable(authority) || nameOfAuthority(authority) === undefined) {
      this.#invalid++;
      return;
    }
    if (spelling !== undefined) {
      if (this.#spellings.size === REMEMBERED) this.#spellings.clear();
      this.#spellings.add(spelling);
    }
    const { most = MOST_AUTHORITIES } = this.#options;
    this.#known.add(formatAuthority(authority));
    if (this.#known.size > most) {
      throw new RobotsFilterError(
        'limit',
        `the input names more than ${most} authorities. Part it, and fetch one part after the other.`,
      );
    }
  }
}

/** Port 0 cannot be connected to. */
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

const TAB = 0x09;
const RETURN = 0x0d;
const SPACE = 0x20;
const COLON = 0x3a;
const SLASH = 0x2f;

/**
 * `https://host:port` of a URL that is spelt plainly: nothing in it but lower-case letters, digits,
 * dots and hyphens, and what follows begins a path. The standard reads such a one as it stands.
 * `undefined` for all others.
 */
function spellingOf(url: Buffer): string | undefined {
  const colon = url.indexOf(COLON);
  if (colon < 3 || colon > 5 || url[colon + 1] !== SLASH || url[colon + 2] !== SLASH)
    return undefined;
  const start = colon + 3;
  for (let at = start; at < url.length; at++) {
    const octet = url[at] ?? 0;
    if (octet === SLASH) return at === start ? undefined : url.toString('latin1', 0, at);
    const isPlain =
      (octet >= 0x61 && octet <= 0x7a) ||
      (octet >= 0x30 && octet <= 0x3a) ||
      octet === 0x2d ||
      octet === 0x2e;
    if (!isPlain) return undefined;
  }
  return undefined;
}

/**
 * As the filter has it (`tab-in-line`, `return-in-line`): neither may be within a line, but at
 * either end.
 */
function isSeveralUrls(line: Buffer): boolean {
  if (!line.includes(TAB) && !line.includes(RETURN)) return false;
  let start = 0;
  let end = line.length;
  while (start < end && (line[start] ?? 0) <= SPACE) start++;
  while (start < end && (line[end - 1] ?? 0) <= SPACE) end--;
  const within = line.subarray(start, end);
  return within.includes(TAB) || within.includes(RETURN);
}

function isBlank(line: Buffer): boolean {
  return line.every((octet) => octet <= 0x20);
}

/** The octets of an input from its first line on. */
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
      ? DescriptorSource.ofFile(input.descriptor, input.offset, input.size)
      : await DescriptorSource.ofPipe(input.descriptor);
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
