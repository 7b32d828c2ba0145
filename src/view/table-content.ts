/** What a table holds, as `view/` gives it to people and proofs. */

import { Buffer } from 'node:buffer';
import { RobotsFilterError } from '../base/errors.js';
import { type Authority, DEFAULT_PORTS, type Scheme } from '../protocol/authority.js';
import type { AccessResult } from '../protocol/verdict.js';
import { escapeText } from '../table/display-text.js';
import type { TableRecord } from '../table/record-list.js';

/** A host of a table. */
export interface TableHost {
  /** The host in canonical form: see `canonicalHost`. */
  readonly host: string;
  readonly authorities: readonly TableAuthority[];
}

/** Some schemes of a host at one port, and their robots.txt. */
export interface TableAuthority {
  /** Schemes in the order http, https, ftp. */
  readonly schemes: readonly Scheme[];
  /** The port; `undefined` for the default port of each scheme. */
  readonly port: number | undefined;
  /** `unknown` only where such authorities are listed: see `TableView.withUnknown`. */
  readonly accessResult: AccessResult | 'unknown';
  /** The source of the robots.txt, escaped as in a JSON string: safe to print. */
  readonly source: string;
  /** Offset of the robots record, for `TableView.groups`; equal files share a record. */
  readonly robots: number;
  /** Offset of the authority, for `TableView.recordsOf`. */
  readonly at: number;
}

/** A version of the robots.txt of an authority. */
export interface TableVersion {
  /** From when on it is in force, in seconds since 1970. */
  readonly since: number;
  /** When it was found for the last time before the next version. */
  readonly confirmed: number;
  /** The authority as it was. */
  readonly version: TableAuthority;
}

/** Where the versions of the robots.txt of an authority lie. */
export interface TableHistory {
  /** Offset of the authority. */
  readonly authority: number;
  /** Offset of the first version, from its robots record on, and what all offsets are less than. */
  readonly first: number;
  readonly end: number;
}

/** What a table keeps of a robots.txt beside its groups. */
export interface AuthorityRecords {
  /** Offset of the list of the records, 0 for none; equal files share a list. */
  readonly list: number;
  /** The other records (RFC 9309 section 2.2.4), in the order of the file. */
  readonly records: readonly TableRecord[];
  /** When the file was fetched, in seconds since 1970; `undefined` if it is not known. */
  readonly date: number | undefined;
}

/** A rule of a table. */
export interface TableRule {
  readonly allow: boolean;
  /** The pattern as written, truncated to TEXT_LIMIT bytes, escaped as in a JSON string. */
  readonly text: string;
  /** Specificity: canonical length of the pattern, in bytes. */
  readonly bytes: number;
  /** Number of its line in the file, from 1. */
  readonly line: number;
}

/** The canonical pattern of a rule: a prefix, then `*` before each segment. */
export interface TablePattern {
  /** Specificity, and 1 for an allow rule: see table/format.ts. */
  readonly rank: number;
  readonly line: number;
  readonly prefix: Uint8Array;
  /** The segments in their first form, and in their second form if they have two. */
  readonly first: readonly Uint8Array[];
  readonly second: readonly Uint8Array[] | undefined;
  /** Whether the last literal must end the path. */
  readonly isEnd: boolean;
}

/** The groups of a robots.txt that some product tokens share (RFC 9309 section 2.2.1). */
export interface MergedGroup {
  /** Product tokens in lower case, sorted, `*` first. */
  readonly productTokens: readonly string[];
  /** The groups that name the tokens, in the order of the file. */
  readonly groups: readonly TableGroup[];
}

export interface TableGroup {
  /** Offset of the automaton; 0 if no rule of the group can match. */
  readonly automaton: number;
  /** The line to which the lines of the rules are relative. */
  readonly firstLine: number;
}

/**
 * Reads the numbers and texts of a table. A checksum detects damage, not forgery, so an offset may
 * be anything. Reading outside the table throws RobotsFilterError `table`.
 */
export class TableReader {
  readonly bytes: Uint8Array;
  /** The table's name in messages. */
  readonly name: string;
  readonly #view: DataView;
  #buffer: Buffer | undefined;
  readonly #decoder = new TextDecoder('utf-8', { ignoreBOM: true });

  constructor(bytes: Uint8Array, name: string) {
    this.bytes = bytes;
    this.name = name;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  u8(at: number): number {
    return this.#view.getUint8(this.within(at, 1));
  }

  u16(at: number): number {
    return this.#view.getUint16(this.within(at, 2), true);
  }

  u32(at: number): number {
    return this.#view.getUint32(this.within(at, 4), true);
  }

  /** A copy of bytes, because TextDecoder refuses shared memory. */
  copy(at: number, length: number): Uint8Array {
    return this.bytes.slice(this.within(at, length), at + length);
  }

  /** A text that is ASCII, which is faster. */
  asciiText(at: number, length: number): string {
    const { buffer, byteOffset, byteLength } = this.bytes;
    this.#buffer ??= Buffer.from(buffer, byteOffset, byteLength);
    return this.#buffer.toString('latin1', this.within(at, length), at + length);
  }

  text(at: number, length: number): string {
    return this.#decoder.decode(this.copy(at, length));
  }

  /** A text that is stored escaped, escaped again so that it is safe to print. */
  escapedText(at: number, length: number): string {
    return this.escapedAgain(this.text(at, length));
  }

  /** Escapes an escaped text again. */
  escapedAgain(text: string): string {
    try {
      return escapeText(JSON.parse(`"${text}"`) as string);
    } catch {
      throw this.damaged('a text in it is no JSON string');
    }
  }

  /** Escapes bytes that are stored unescaped. */
  displayed(text: Uint8Array): string {
    return escapeText(this.#decoder.decode(text));
  }

  /** The error for a table that no compiler writes. */
  damaged(what: string): RobotsFilterError {
    return new RobotsFilterError(
      'table',
      `${this.name}: damaged: ${what}: copy it again, or compile it again`,
    );
  }

  /** Checks that bytes lie in the table; returns where. */
  within(at: number, length: number): number {
    if (at + length <= this.bytes.length) return at;
    throw this.damaged(`it refers to ${length} bytes at ${at}, beyond its end`);
  }
}

/**
 * Whether an authority matches the requested one. A bare host matches all of its authorities. With
 * a scheme or a port, the other has its default.
 */
export function answersFor({ schemes, port }: TableAuthority, asked: Authority): boolean {
  return schemes.some((scheme) => {
    if (asked.scheme !== undefined && asked.scheme !== scheme) return false;
    if (asked.scheme === undefined && asked.port === undefined) return true;
    return (port ?? DEFAULT_PORTS[scheme]) === (asked.port ?? DEFAULT_PORTS[scheme]);
  });
}
