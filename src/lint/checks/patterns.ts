/** Checks of the patterns of rules: wildcards, anchors, encodings, what they can match. */

import { ASTERISK, DOLLAR, DOT, HASH, PERCENT, SLASH, SPACE, TAB } from '../../base/ascii.js';
import { isDigit, isLetter } from '../../base/characters.js';
import { isUnreserved } from '../../protocol/agent.js';
import { type CheckContext, listed, quoted, secondRecord } from '../check.js';
import { type DocumentLine, type RobotsDocument, type RuleLine, valueSpan } from '../document.js';
import type { Edit, Span } from '../finding.js';

/** Checks each pattern by itself. */
export function checkPatterns(context: CheckContext): void {
  for (const { rules } of context.document.groups) {
    const hasPattern = rules.some(({ pattern }) => pattern.length > 0);
    for (const rule of rules) {
      if (rule.pattern.length === 0) {
        checkEmpty(rule, hasPattern, context);
        continue;
      }
      if (context.explained.has(rule.line)) continue;
      if (checkBeginning(rule, context)) checkInside(rule, context);
    }
  }
}

function checkEmpty(
  { allow, line }: RuleLine,
  hasPattern: boolean,
  { findings }: CheckContext,
): void {
  if (!hasPattern && !allow) return;
  findings.add('empty-rule', valueSpan(line), () => ({
    message: allow
      ? 'An empty Allow has no effect: it matches no path.'
      : 'An empty Disallow has no effect beside other rules: it matches no path, and does not cancel them.',
    fix: allow ? 'Write "Allow: /", or delete the line.' : 'Delete the line.',
  }));
}

/** Checks how a pattern begins; false if it matches nothing. */
function checkBeginning(
  { pattern, line }: RuleLine,
  { document, findings }: CheckContext,
): boolean {
  const [first] = pattern;
  if (first === SLASH || first === ASTERISK) return true;
  const text = document.valueText(line);
  const path = pathOfUrl(text);
  if (path !== undefined) {
    findings.add('url-as-pattern', valueSpan(line), () => ({
      message: 'The pattern is a whole URL, and matches nothing: patterns are paths of this host.',
      fix: `Write "${path}", if the URL is of this host; otherwise delete the line.`,
    }));
    return false;
  }
  findings.add('pattern-without-slash', valueSpan(line), () => ({
    message: `The pattern ${quoted(text)} begins with neither "/" nor "*", and matches nothing (RFC 9309 section 2.2.2).`,
    fix: beginsWithKey(text)
      ? 'Write the key once.'
      : `Write ${quoted(`/${text}`)}, or ${quoted(`*${text}`)} for any place in the path.`,
  }));
  return false;
}

/** Whether the value of a rule begins with the key of a rule. */
function beginsWithKey(text: string): boolean {
  const lower = text.toLowerCase();
  return lower.startsWith('allow:') || lower.startsWith('disallow:');
}

/** The path of an http or https URL, maybe without its scheme's colon. */
export function pathOfUrl(text: string): string | undefined {
  const lower = text.toLowerCase();
  const scheme = ['https://', 'http://'].find((each) => lower.startsWith(each));
  if (scheme === undefined) return undefined;
  const slash = text.indexOf('/', scheme.length);
  return slash < 0 ? '/' : text.slice(slash);
}

/** Whether a "#" within a path ends a value. */
export function isCutAtHash(line: DocumentLine, document: RobotsDocument): boolean {
  const after = document.bytes[line.end + 1] ?? SPACE;
  return document.hasComment(line) && line.valueEnd === line.end && after > SPACE;
}

/** Checks the bytes of a pattern that matches something. */
function checkInside(rule: RuleLine, context: CheckContext): void {
  const { document, findings } = context;
  const { pattern, line } = rule;
  const { bytes } = document;
  const { valueStart, valueEnd } = line;
  const at = (offset: number, length = 1): Span => ({
    line: line.line,
    start: valueStart + offset,
    end: valueStart + offset + length,
  });
  if (isCutAtHash(line, document)) {
    findings.add(
      'hash-in-pattern',
      { line: line.line, start: line.end, end: line.end + 1 },
      () => ({
        message: `The "#" begins a comment: the pattern ends before it, and is ${quoted(document.valueText(line))}.`,
        fix: 'Write "%23" for a "#" of the path, or a space before a comment.',
      }),
    );
  }
  let space = -1;
  let isDollarReported = false;
  let isPercentReported = false;
  for (let offset = 0; offset < pattern.length; offset++) {
    const byte = pattern[offset] as number;
    if (byte === DOLLAR && offset < pattern.length - 1) {
      const next = pattern[offset + 1] as number;
      // A placeholder such as ${path} is reported as such.
      if (next === 0x7b || isDollarReported) continue;
      isDollarReported = true;
      findings.add('inner-dollar', at(offset), () => ({
        message:
          'A "$" ends a pattern only as its last character. Here it is an ordinary character of the path.',
        fix: 'Write "%24" if the path has a "$"; otherwise delete what follows it.',
      }));
    } else if ((byte === SPACE || byte === TAB) && space < 0) {
      space = offset;
    } else if (byte === PERCENT && !isEncoded(pattern, offset) && !isPercentReported) {
      isPercentReported = true;
      findings.add('invalid-percent-encoding', at(offset), () => ({
        message: 'The "%" is not followed by two hexadecimal digits, and is compared as it stands.',
        fix: 'Write "%25", if that is how the URLs of this host have it: URLs with the bare "%" are then no longer matched.',
      }));
    }
  }
  checkEscapes(rule, context);
  const isList = checkSeveral(rule, context);
  if (space >= 0 && !isList) reportSpace(rule, space, context);
  const text = bytes.toString('latin1', valueStart, valueEnd);
  checkIndexPage(rule, text, context);
  const regex = regexIn(text);
  if (regex !== undefined) {
    findings.add('looks-like-regex', at(regex.at, regex.length), () => ({
      message: `${quoted(text.slice(regex.at, regex.at + regex.length))} looks like a regular expression. Patterns know only "*" and a final "$"; all else is compared as it stands.`,
      fix: fixOfRegex(text),
    }));
  }
}

function reportSpace(
  { line, pattern }: RuleLine,
  space: number,
  { document, findings }: CheckContext,
): void {
  // The other record is reported itself.
  if (secondRecord(line, document) !== undefined) return;
  let end = space;
  while (pattern[end] === SPACE || pattern[end] === TAB) end++;
  const start = line.valueStart + space;
  findings.add('space-in-pattern', { line: line.line, start, end: line.valueStart + end }, () => ({
    message:
      'White space within a pattern is a part of it. RFC 9309 encodes it as "%20"; google/robotstxt compares it as it stands, and no URL has it.',
    fix: `Write ${quoted(document.valueText(line).replaceAll(' ', '%20').replaceAll('\t', '%09'))}.`,
  }));
}

/** What separates paths in a list, apart from white space. */
const SEPARATORS = ',;|';

/** Words that separate paths in a list, between white space. */
const SEPARATING_WORDS: ReadonlySet<string> = new Set(['', 'and', 'or', '&']);

/** Finds several paths on one line; false if there are none. */
function checkSeveral({ allow, line }: RuleLine, { document, findings }: CheckContext): boolean {
  if (!findings.wants('several-patterns') || secondRecord(line, document) !== undefined) {
    return false;
  }
  const text = document.valueText(line);
  const paths = severalPaths(text);
  if (paths.length < 2) return false;
  const key = allow ? 'Allow' : 'Disallow';
  findings.add('several-patterns', valueSpan(line), () => ({
    message: `A rule has one path. The whole of ${quoted(text)} is one pattern, which no ordinary URL matches.`,
    fix: `Write a rule for each path: ${listed(paths.map((path) => quoted(`${key}: ${path}`)))}.`,
  }));
  return true;
}

/** The paths of a list; one path if it is none. */
function severalPaths(text: string): readonly string[] {
  const paths: string[] = [];
  let from = 0;
  for (let at = 1; at < text.length; at++) {
    if (!beginsPath(text, at)) continue;
    const end = endBefore(text, at, from);
    if (end === undefined) continue;
    paths.push(text.slice(from, end));
    from = at;
  }
  paths.push(text.slice(from));
  return paths;
}

/** Whether a path may begin at an offset: `/x`, or `*x`. */
function beginsPath(text: string, at: number): boolean {
  const first = text[at];
  const next = text.charCodeAt(at + 1);
  if (first === '/')
    return isLetter(next) || isDigit(next) || '_.*~-%'.includes(text.charAt(at + 1) || ' ');
  // "/a,*" and "/* *" are one pattern.
  return first === '*' && (next === DOT || next === SLASH);
}

/** Where the path before a separator ends; `undefined` if none stands before the next path. */
function endBefore(text: string, next: number, from: number): number | undefined {
  let at = next;
  while (at > from && isBlank(text[at - 1])) at--;
  const hasSpace = at < next;
  const before = text.charAt(at - 1);
  if (SEPARATORS.includes(before)) {
    // A semicolon may end "&amp;", and a comma stands before "*" in one pattern.
    if (before === ';' && endsEntity(text, at - 1)) return undefined;
    if (text[next] === '*' && !hasSpace) return undefined;
    let end = at;
    while (end > from && (SEPARATORS.includes(text.charAt(end - 1)) || isBlank(text[end - 1])))
      end--;
    return end > from ? end : undefined;
  }
  // "Disallow: /aDisallow: /b" lost a line end.
  if (!hasSpace || text[next] === '*' || before === ':') return undefined;
  let word = at;
  while (word > from && !isBlank(text[word - 1])) word--;
  if (word === from || !SEPARATING_WORDS.has(text.slice(word, at).toLowerCase())) {
    return at > from + 1 ? at : undefined;
  }
  while (word > from && isBlank(text[word - 1])) word--;
  return word;
}

function isBlank(character: string | undefined): boolean {
  return character === ' ' || character === '\t';
}

/** Whether a semicolon ends a character reference of HTML: `&amp;`, `&#47;`. */
function endsEntity(text: string, semicolon: number): boolean {
  let at = semicolon;
  while (at > 0 && semicolon - at < LONGEST_ENTITY && isOfEntity(text.charCodeAt(at - 1))) at--;
  return at < semicolon && text[at - 1] === '&';
}

const LONGEST_ENTITY = 10;

function isOfEntity(code: number): boolean {
  return isLetter(code) || isDigit(code) || code === HASH;
}

/** Finds the `%XX` of a pattern that RFC 9309 decodes. */
function checkEscapes({ pattern, line }: RuleLine, { document, findings }: CheckContext): void {
  if (!findings.wants('profile-difference')) return;
  const edits: Edit[] = [];
  /** Whether a "%" before one of them would make another escape of what it stands for. */
  let isBound = false;
  /** Hexadecimal digits after a "%" that begins no escape; 2 if there is no such "%" before. */
  let digits = 2;
  for (let offset = 0; offset < pattern.length; offset++) {
    let code = pattern[offset] as number;
    if (code === PERCENT && !isEncoded(pattern, offset)) {
      digits = 0;
      continue;
    }
    if (code === PERCENT) {
      code = codeAt(pattern, offset);
      const start = line.valueStart + offset;
      offset += 2;
      if (!isUnreserved(code)) {
        digits = 2;
        continue;
      }
      edits.push({ start, end: start + 3, text: String.fromCharCode(code) });
      if (digits < 2 && isHexDigit(code)) isBound = true;
    }
    digits = isHexDigit(code) ? digits + 1 : 2;
  }
  const [first] = edits;
  const last = edits.at(-1);
  if (first === undefined || last === undefined) return;
  findings.add('profile-difference', { line: line.line, start: first.start, end: last.end }, () => {
    const escapes = listed(edits.map(({ start, end }) => quoted(document.text(start, end))));
    const letters = listed(edits.map(({ text }) => quoted(text)));
    return {
      message: `RFC 9309 decodes ${escapes} to ${letters}; google/robotstxt compares the bytes as they stand.`,
      fix: isBound
        ? 'Leave the rule as it is: after the "%" before it, the decoded letter would make another encoded byte.'
        : `Write ${letters}.`,
      edits: isBound ? [] : edits,
    };
  });
}

function codeAt(pattern: Uint8Array, percent: number): number {
  return Number.parseInt(
    String.fromCharCode(pattern[percent + 1] as number, pattern[percent + 2] as number),
    16,
  );
}

function isEncoded(pattern: Uint8Array, percent: number): boolean {
  return isHexDigit(pattern[percent + 1]) && isHexDigit(pattern[percent + 2]);
}

function isHexDigit(byte: number | undefined): boolean {
  if (byte === undefined) return false;
  const lower = byte | 0x20;
  return isDigit(byte) || (lower >= 0x61 && lower <= 0x66);
}

/** Finds an allow rule that google/robotstxt also applies to a directory. */
function checkIndexPage({ allow, line }: RuleLine, text: string, { findings }: CheckContext): void {
  const slash = text.lastIndexOf('/');
  if (!allow || slash < 0 || !text.startsWith('/index.htm', slash)) return;
  findings.add('profile-difference', valueSpan(line), () => ({
    message: `google/robotstxt takes the rule for "${text.slice(0, slash + 1)}$" as well; RFC 9309 does not.`,
    fix: `Add "Allow: ${text.slice(0, slash + 1)}$", if the directory is meant too.`,
  }));
}

/** The pattern that an expression without alternatives means, or advice. */
function fixOfRegex(text: string): string {
  let pattern = text.replaceAll('.*', '*').replaceAll('(.+)', '*').replaceAll('.+$', '*');
  for (const mark of ['.', '?', '/']) pattern = pattern.replaceAll(`\\${mark}`, mark);
  return regexIn(pattern) === undefined
    ? `Write ${quoted(pattern)}.`
    : 'Write "*" for any characters, and a rule for each alternative.';
}

/** What only a regular expression holds; shorter marks come last. */
const REGEX_MARKS = [
  '.*',
  '(.+)',
  '\\d',
  '\\.',
  '\\?',
  '\\/',
  '[^',
  '[0-9',
  '[a-z',
  '(?',
  ')$',
  '.+$',
];

/** The first mark of a regular expression in a pattern. */
function regexIn(text: string): { at: number; length: number } | undefined {
  for (const mark of REGEX_MARKS) {
    for (let at = text.indexOf(mark); at >= 0; at = text.indexOf(mark, at + 1)) {
      // "/*.*" and "/a.*" are at home in robots.txt: the file ends in anything.
      if (mark === '.*' && !isRegexDot(text, at)) continue;
      return { at, length: mark.length };
    }
  }
  return undefined;
}

/** Whether a `.*` follows `/` or `(`, and so stands for any characters. */
function isRegexDot(text: string, at: number): boolean {
  return text[at - 1] === '(' || text.startsWith('/.*', at - 1);
}
