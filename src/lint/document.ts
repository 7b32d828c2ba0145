/**
 * A robots.txt as lint reads it: all lines with their places, where a parser keeps the rules alone.
 */

import { Buffer } from 'node:buffer';
import { ASTERISK, HASH } from '../base/ascii.js';
import { endOfProductToken, isLineEnd } from '../protocol/agent.js';
import { textOf } from '../protocol/encoding.js';
import { GRAMMARS, type Key, LineCursor, type LineForm, RecordCursor } from '../protocol/lines.js';
import { LEAST_PARSING_LIMIT } from '../protocol/verdict.js';
import type { Span } from './finding.js';

/** A line as the `rfc9309` profile reads it. Offsets are in the bytes of the document. */
export interface DocumentLine extends Span {
  readonly form: LineForm;
  /** The meaning of the key; `undefined` unless the line is a record. */
  readonly key: Key | undefined;
  readonly keyStart: number;
  readonly keyEnd: number;
  readonly valueStart: number;
  readonly valueEnd: number;
  readonly holdsNul: boolean;
  /** The meaning of the line in the `google` profile, if it has another one. */
  readonly googleKey: Key | undefined;
}

/** A user-agent line within a group. */
export interface AgentLine {
  /** The token in lower case; empty if the line names none. */
  readonly token: string;
  readonly line: DocumentLine;
  /** The first record other than a rule between this line and the next user-agent line. */
  other: DocumentLine | undefined;
}

/** A rule within a group. */
export interface RuleLine {
  readonly allow: boolean;
  readonly pattern: Uint8Array;
  readonly line: DocumentLine;
}

/** A group (RFC 9309 section 2.1) with the lines that it is made of. */
export interface DocumentGroup {
  readonly agents: AgentLine[];
  readonly rules: RuleLine[];
}

/** A robots.txt, line by line. */
export class RobotsDocument {
  readonly bytes: Buffer;
  /** Offset of the first byte after the byte order mark. */
  readonly start: number;
  readonly end: number;
  readonly utf16: boolean;
  readonly ignoredBytes: number;
  readonly lines: readonly DocumentLine[];
  readonly groups: readonly DocumentGroup[];
  /** Rules before the first group. */
  readonly stray: readonly DocumentLine[];

  constructor(body: Uint8Array) {
    const grammar = GRAMMARS.rfc9309;
    const { bytes, start, end, ignoredBytes, utf16 } = textOf(body, grammar, LEAST_PARSING_LIMIT);
    this.bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.start = start;
    this.end = end;
    this.ignoredBytes = ignoredBytes;
    this.utf16 = utf16;
    this.lines = this.#readLines();
    const { groups, stray } = this.#readGroups();
    this.groups = groups;
    this.stray = stray;
  }

  /** The text between two offsets; bytes that are not UTF-8 become U+FFFD. */
  text(start: number, end: number): string {
    return this.bytes.toString('utf8', start, end);
  }

  keyText({ keyStart, keyEnd }: DocumentLine): string {
    return this.text(keyStart, keyEnd);
  }

  valueText({ valueStart, valueEnd }: DocumentLine): string {
    return this.text(valueStart, valueEnd);
  }

  /** Offset after a line with its comment, before its line end. */
  lineEnd({ end }: Span): number {
    let at = end;
    while (at < this.end && !isLineEnd(this.bytes[at])) at++;
    return at;
  }

  /** Offset of the next line. */
  nextLine(line: Span): number {
    const end = this.lineEnd(line);
    return this.lines[line.line]?.start ?? Math.max(end, this.end);
  }

  /** Whether a comment ends the content of a line. */
  hasComment({ end }: Span): boolean {
    return end < this.end && this.bytes[end] === HASH;
  }

  #readLines(): DocumentLine[] {
    const lines: DocumentLine[] = [];
    const { google, rfc9309 } = GRAMMARS;
    // Both cursors find the same lines.
    const cursor = new LineCursor(this.bytes, this.start, this.end, rfc9309.lineBytes);
    const googleCursor = new LineCursor(this.bytes, this.start, this.end, google.lineBytes);
    const record = new RecordCursor(this.bytes, rfc9309);
    const googleRecord = new RecordCursor(this.bytes, google);
    while (cursor.advance()) {
      googleCursor.advance();
      const form = record.read(cursor);
      const key = form === 'record' ? record.key() : undefined;
      const other = googleRecord.read(googleCursor) === 'record' ? googleRecord.key() : undefined;
      const { number: line, start, end, holdsNul } = cursor;
      const { keyStart, keyEnd, valueStart, valueEnd } = record;
      const isRecord = form === 'record';
      lines.push({
        line,
        start,
        end,
        form,
        key,
        keyStart: isRecord ? keyStart : start,
        keyEnd: isRecord ? keyEnd : end,
        valueStart: isRecord ? valueStart : end,
        valueEnd: isRecord ? valueEnd : end,
        holdsNul,
        googleKey: other === key || other === 'other' ? undefined : other,
      });
    }
    return lines;
  }

  /** Reads groups as `parseRobots` does. */
  #readGroups(): { groups: DocumentGroup[]; stray: DocumentLine[] } {
    const groups: DocumentGroup[] = [];
    const stray: DocumentLine[] = [];
    let group: DocumentGroup | undefined;
    for (const line of this.lines) {
      const { key } = line;
      if (key === undefined || line.holdsNul) continue;
      if (key === 'user-agent') {
        if (group === undefined || group.rules.length > 0) {
          group = { agents: [], rules: [] };
          groups.push(group);
        }
        group.agents.push({ token: this.#token(line), line, other: undefined });
      } else if (key === 'allow' || key === 'disallow') {
        if (group === undefined) stray.push(line);
        else {
          const pattern = this.bytes.subarray(line.valueStart, line.valueEnd);
          group.rules.push({ allow: key === 'allow', pattern, line });
        }
      } else if (group !== undefined && group.rules.length === 0) {
        const last = group.agents.at(-1);
        if (last !== undefined) last.other ??= line;
      }
    }
    return { groups, stray };
  }

  #token({ valueStart, valueEnd }: DocumentLine): string {
    const { bytes } = this;
    if (bytes[valueStart] === ASTERISK && valueStart < valueEnd) {
      const next = bytes[valueStart + 1];
      return valueEnd - valueStart === 1 || next === 0x20 || next === 0x09 ? '*' : '';
    }
    const end = endOfProductToken(bytes, valueStart, valueEnd);
    return bytes.toString('latin1', valueStart, end).toLowerCase();
  }
}

/** The span of a record's value; of the key if the value is empty. */
export function valueSpan({ line, keyStart, keyEnd, valueStart, valueEnd }: DocumentLine): Span {
  return valueStart < valueEnd
    ? { line, start: valueStart, end: valueEnd }
    : { line, start: keyStart, end: keyEnd };
}

/** The span of a record's key. */
export function keySpan({ line, keyStart, keyEnd }: DocumentLine): Span {
  return { line, start: keyStart, end: keyEnd };
}

/** The span of a line without white space at its end. */
export function contentSpan(document: RobotsDocument, { line, start, end }: Span): Span {
  let last = end;
  while (last > start && (document.bytes[last - 1] as number) <= 0x20) last--;
  let first = start;
  while (first < last && (document.bytes[first] as number) <= 0x20) first++;
  return { line, start: first, end: last };
}
