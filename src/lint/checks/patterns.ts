import { ASTERISK, DOLLAR, PERCENT, SLASH, SPACE, TAB } from '../../ascii.js';
import { isDigit, isUnreserved } from '../../protocol/byte.js';
import { type RuleLine, valueSpan } from '../document.js';
import type { Span } from '../finding.js';
import { type CheckContext, quoted } from './check.js';
import { visible } from './invisible.js';
import { secondRecord } from './second-record.js';

/** Checks each pattern by itself. */
export function checkPatterns(context: CheckContext): void {
  for (const { rules } of context.document.groups) {
    const hasPattern = rules.some(({ pattern }) => pattern.length > 0);
    for (const rule of rules) {
      if (rule.pattern.length === 0) {
        checkEmpty(rule, hasPattern, context);
        continue;
      }
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
  const afterHash = bytes[line.end + 1] ?? SPACE;
  if (document.hasComment(line) && valueEnd === line.end && afterHash > SPACE) {
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
  let isPercentReported = false;
  for (let offset = 0; offset < pattern.length; offset++) {
    const byte = pattern[offset] as number;
    if (byte === DOLLAR && offset < pattern.length - 1) {
      const next = pattern[offset + 1] as number;
      // A placeholder such as ${path} is reported as such.
      if (next === 0x7b) continue;
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
        message: 'The "%" is not followed by two hexadecimal digits.',
        fix: 'Write "%25" for a "%" of the path.',
      }));
    } else if (byte === PERCENT && isUnreservedEscape(pattern, offset)) {
      const character = String.fromCharCode(codeAt(pattern, offset));
      findings.add('profile-difference', at(offset, 3), () => ({
        message: `RFC 9309 decodes ${quoted(document.text(valueStart + offset, valueStart + offset + 3))} to ${quoted(character)}; google/robotstxt compares it as it stands.`,
        fix: `Write "${character}".`,
        // A "%" before it could make another encoded byte of the character.
        edit: isPercentReported
          ? undefined
          : { start: valueStart + offset, end: valueStart + offset + 3, text: character },
      }));
    }
  }
  if (space >= 0) reportSpace(rule, space, context);
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
  const isList = pattern[end] === SLASH;
  const start = line.valueStart + space;
  findings.add('space-in-pattern', { line: line.line, start, end: line.valueStart + end }, () => ({
    message: isList
      ? 'White space does not separate patterns: all of it is one pattern.'
      : 'White space within a pattern is a part of it. RFC 9309 encodes it as "%20"; google/robotstxt compares it as it stands, and no URL has it.',
    fix: isList
      ? 'Write a rule for each path.'
      : `Write ${quoted(visible(document.valueText(line)).replaceAll(' ', '%20').replaceAll('\t', '%09'))}.`,
  }));
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

/** Whether a `%XX` stands for an unreserved character (RFC 3986 section 2.3). */
function isUnreservedEscape(pattern: Uint8Array, percent: number): boolean {
  return isUnreserved(codeAt(pattern, percent));
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
