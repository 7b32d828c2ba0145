/** Checks that a robots.txt is text, and how it is encoded: byte order marks, UTF-8, long lines. */

import { isUtf8 } from 'node:buffer';
import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  DELETE,
  EXCLAMATION_MARK,
  LESS_THAN,
  NUL,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUESTION_MARK,
  QUOTE,
  SLASH,
  SPACE,
} from '../../base/ascii.js';
import { isLetter } from '../../base/characters.js';
import { unsupportedBody } from '../../files/unsupported-formats.js';
import { isBinary } from '../../protocol/encoding.js';
import { GRAMMARS } from '../../protocol/lines.js';
import { LEAST_PARSING_LIMIT } from '../../protocol/verdict.js';
import { type CheckContext, listedLines } from '../check.js';
import { contentSpan, type RobotsDocument } from '../document.js';
import { type Span, WHOLE_FILE } from '../finding.js';

/** EF BB BF read as Latin-1 and written as UTF-8. */
const BROKEN_MARK = Buffer.from('\u00ef\u00bb\u00bf');
const MARK_BYTES = 3;

/**
 * Checks that a body is text.
 *
 * @returns false if it is of another format, so that no other check makes sense
 */
export function checkFormat(body: Uint8Array, { document, findings }: CheckContext): boolean {
  const format = unsupportedBody(body);
  if (format !== undefined) {
    findings.add('another-format', WHOLE_FILE, () => ({
      message: `The file is ${format.name}: a crawler finds no rules in it, and may fetch everything.`,
      fix: 'Serve the robots.txt as plain text in UTF-8.',
    }));
    return false;
  }
  if (isBinary(body)) {
    findings.add('another-format', WHOLE_FILE, () => ({
      message: 'The file is binary data: a crawler finds no rules in it, and may fetch everything.',
      fix: 'Serve the robots.txt as plain text in UTF-8.',
    }));
    return false;
  }
  const { bytes, start, end } = document;
  let at = start;
  while (at < end && (bytes[at] as number) <= SPACE) at++;
  if (isJson(bytes, at, end)) {
    findings.add('another-format', WHOLE_FILE, () => ({
      message:
        'The file begins like JSON, as error messages do: a crawler finds no rules in it, and may fetch everything.',
      fix: 'Serve the robots.txt at /robots.txt, or answer with status 404 if there is none.',
    }));
    return false;
  }
  const next = bytes[at + 1] ?? 0;
  const isMarkup = isLetter(next) || next === EXCLAMATION_MARK || next === QUESTION_MARK;
  const beginsAsPage = at + 1 < end && bytes[at] === LESS_THAN && isMarkup;
  if (!beginsAsPage && !isPage(document)) return true;
  findings.add('html', WHOLE_FILE, () => ({
    message: `The file ${beginsAsPage ? 'begins like' : 'is a part of'} a web page: a crawler finds no rules in it, and may fetch everything.`,
    fix: 'Serve the robots.txt at /robots.txt, or answer with status 404 if there is none.',
  }));
  return false;
}

/** Whether a file has tags, and nothing that a crawler reads. */
function isPage({ bytes, lines, groups, stray }: RobotsDocument): boolean {
  if (groups.length > 0 || stray.length > 0) return false;
  if (lines.some(({ key }) => key === 'sitemap')) return false;
  return lines.some(({ start, end }) => {
    let at = start;
    while (at < end && (bytes[at] as number) <= SPACE) at++;
    const next = bytes[at + 1] ?? 0;
    return at + 1 < end && bytes[at] === LESS_THAN && (isLetter(next) || next === SLASH);
  });
}

/** Whether a text begins with an object or an array of JSON. */
function isJson(bytes: Uint8Array, start: number, end: number): boolean {
  const first = bytes[start];
  if (first !== OPEN_BRACE && first !== OPEN_BRACKET) return false;
  let at = start + 1;
  while (at < end && (bytes[at] as number) <= SPACE) at++;
  const next = bytes[at];
  return next === QUOTE || next === OPEN_BRACE || next === CLOSE_BRACE || next === CLOSE_BRACKET;
}

/** Whether a file begins with a byte order mark that was encoded twice. */
export function hasBrokenMark({ bytes, start, utf16 }: RobotsDocument): boolean {
  return !utf16 && bytes.subarray(start, start + BROKEN_MARK.length).equals(BROKEN_MARK);
}

/** Checks byte order marks, size, characters and the length of lines. */
export function checkEncoding(body: Uint8Array, { document, findings }: CheckContext): void {
  const { bytes, start, utf16, ignoredBytes, lines } = document;
  if (utf16) {
    findings.add('utf-16', WHOLE_FILE, () => ({
      message: 'The file is UTF-16: crawlers that expect UTF-8 find no rules in it.',
      fix: 'Save the file as UTF-8.',
    }));
  } else if (start === MARK_BYTES) {
    findings.add('byte-order-mark', { line: 1, start: 0, end: start }, () => ({
      message:
        'The file begins with a byte order mark. Some crawlers take it for a part of the first line.',
      fix: 'Save the file as UTF-8 without a byte order mark.',
      edits: hidesFormat(body.subarray(start)) ? [] : [{ start: 0, end: start, text: '' }],
    }));
  }
  if (hasBrokenMark(document)) {
    const end = start + BROKEN_MARK.length;
    findings.add('broken-byte-order-mark', { line: 1, start, end }, () => ({
      message:
        'The byte order mark was read as Latin-1 and encoded again: it is now a part of the first line, whose key no crawler knows.',
      fix: 'Delete the first three characters, "ï»¿".',
    }));
  }
  if (ignoredBytes > 0) {
    findings.add('too-large', WHOLE_FILE, () => ({
      message: `The file is longer than ${LEAST_PARSING_LIMIT} bytes (500 KiB). Crawlers may ignore the rest (RFC 9309 section 2.5), and the line at the limit.`,
      fix: 'Merge rules with * and shorter prefixes.',
    }));
  }
  const notUtf8: Span[] = [];
  const wholeIsUtf8 = utf16 || isUtf8(body.subarray(0, document.end));
  for (const line of lines) {
    if (line.holdsNul) {
      const at = bytes.indexOf(NUL, line.start);
      findings.add('nul', { line: line.line, start: at, end: at + 1 }, () => ({
        message:
          'The line holds a NUL. The RFC forbids it, and the line is ignored; Google reads the line up to the NUL.',
        fix: 'Delete the NUL.',
      }));
    }
    if (!wholeIsUtf8 && line.key !== undefined && !isUtf8(bytes.subarray(line.start, line.end))) {
      notUtf8.push(contentSpan(document, line));
    }
    const { lineBytes } = GRAMMARS.google;
    if (line.end - line.start > lineBytes) {
      findings.add('long-line', { ...line, start: line.start + lineBytes }, () => ({
        message: `The line is longer than ${lineBytes} bytes, after which google/robotstxt ignores it.`,
        fix: 'Split the line.',
      }));
    }
  }
  const [first] = notUtf8;
  if (first === undefined) return;
  findings.add('not-utf-8', first, () => ({
    message: `${notUtf8.length === 1 ? 'The record is' : `The record, and ${listedLines(notUtf8.slice(1))}, are`} not UTF-8 (RFC 9309 section 2.2), so crawlers read ${notUtf8.length === 1 ? 'it' : 'them'} differently.`,
    fix: 'Save the file as UTF-8, or percent-encode the path.',
  }));
}

/** Whether a file would be another one without its byte order mark: a decoder would see another. */
function hidesFormat(rest: Uint8Array): boolean {
  const [first = SPACE] = rest;
  return first > DELETE || unsupportedBody(rest) !== undefined || isBinary(rest);
}
