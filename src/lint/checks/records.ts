/** Checks of single lines: unknown keys, values, order, and preferences about content. */

import { Buffer, isUtf8 } from 'node:buffer';
import { DELETE, SPACE, TAB } from '../../base/ascii.js';
import { addTo } from '../../base/maps.js';
import { nearest } from '../../base/nearest.js';
import { crawlDelaySeconds, isOfGroup, kindOfKey } from '../../protocol/fields.js';
import type { Key } from '../../protocol/lines.js';
import { parseDictionary } from '../../protocol/preferences.js';
import {
  type CheckContext,
  encodeInvisible,
  invisibleIn,
  listedLines,
  quoted,
  secondRecord,
  visible,
} from '../check.js';
import {
  contentSpan,
  type DocumentLine,
  keySpan,
  type RobotsDocument,
  valueSpan,
} from '../document.js';
import { hasBrokenMark } from './encoding.js';
import { pathOfUrl } from './patterns.js';

/** Keys that some crawler reads, in lower case. */
const KNOWN_KEYS: ReadonlySet<string> = new Set([
  'user-agent',
  'allow',
  'disallow',
  'sitemap',
  'crawl-delay',
  'request-rate',
  'visit-time',
  'host',
  'clean-param',
  'content-signal',
  'content-usage',
  'license',
  'indexpage',
]);

const CANDIDATES = [...KNOWN_KEYS];

/** Keys that mean another key and are further away than misspelt ones. */
const SYNONYMS: ReadonlyMap<string, string> = new Map([
  ['useragent', 'user-agent'],
  ['user agent', 'user-agent'],
  ['agent', 'user-agent'],
  ['site-map', 'sitemap'],
  ['sitemaps', 'sitemap'],
  ['sitemap-index', 'sitemap'],
  ['sitemap index', 'sitemap'],
  ['sitemap_index', 'sitemap'],
  ['deny', 'disallow'],
  ['block', 'disallow'],
  ['disallowed', 'disallow'],
  ['allowed', 'allow'],
  ['delay', 'crawl-delay'],
  ['crawl delay', 'crawl-delay'],
  ['crawldelay', 'crawl-delay'],
]);

const ABOUT_INDEXES =
  'Send the header "X-Robots-Tag: noindex", or a meta element "robots", and do not deny the page: a crawler must fetch it to see them.';

const ABOUT_TRAINING =
  'Deny the crawlers that collect training data by their names (robots-filter agents lists them), or write Content-Usage.';

/** Keys that authors rely on and that no crawler reads, in lower case, with what serves instead. */
const UNSUPPORTED: ReadonlyMap<string, string> = new Map([
  ['noindex', ABOUT_INDEXES],
  ['no-index', ABOUT_INDEXES],
  ['nofollow', ABOUT_INDEXES],
  ['noarchive', ABOUT_INDEXES],
  ['nosnippet', ABOUT_INDEXES],
  ['noimageindex', ABOUT_INDEXES],
  ['notranslate', ABOUT_INDEXES],
  ['x-robots-tag', ABOUT_INDEXES],
  ['noai', ABOUT_TRAINING],
  ['noimageai', ABOUT_TRAINING],
  ['disallowaitraining', ABOUT_TRAINING],
]);

/** The keys of the Automated Content Access Protocol begin so. No search engine took it up. */
const ACAP = 'acap-';

/** What serves instead of a key that no crawler reads. */
function insteadOf(key: string): string | undefined {
  return key.startsWith(ACAP) ? 'Write Allow and Disallow lines.' : UNSUPPORTED.get(key);
}

/** Maximum number of distinct unknown keys of a file that are compared with known ones. */
const MOST_COMPARED = 200;

/** The canonical spelling of a key. */
function spelt(key: string): string {
  return key
    .split('-')
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join('-')
    .replace('User-Agent', 'User-agent')
    .replace('Crawl-Delay', 'Crawl-delay');
}

/** Finds out what unknown keys mean. */
class KeyMeanings {
  /** The first line that was meant to be a user-agent line. */
  lostAgent: DocumentLine | undefined;
  readonly #known = new Map<string, string | undefined>();

  /** The known key that a key likely misspells. */
  meaning(key: string): string | undefined {
    if (this.#known.has(key)) return this.#known.get(key);
    if (this.#known.size === MOST_COMPARED) return undefined;
    const meant = SYNONYMS.get(key) ?? nearest(key, CANDIDATES);
    this.#known.set(key, meant);
    return meant;
  }
}

/**
 * Finds invisible characters in values. Such a line looks right, and its pattern matches nothing or
 * its name is another one.
 */
export function checkInvisible({ document, findings, explained }: CheckContext): void {
  if (!findings.wants('invisible-character')) return;
  /** Lines that were encoded twice: all have one cause. */
  const twice: DocumentLine[] = [];
  for (const line of document.lines) {
    if (line.form !== 'record' || line.holdsNul || !mayHide(line, document)) continue;
    const key = document.keyText(line).toLowerCase();
    if (line.key === 'other' && !KNOWN_KEYS.has(key)) continue;
    const text = document.valueText(line);
    const hidden = invisibleIn(text);
    if (hidden === undefined) continue;
    const shown = visible(text);
    const isRule = line.key === 'allow' || line.key === 'disallow';
    // A pattern that would match nothing without the character has another fault, too.
    if (!isRule || '/*'.includes(shown.charAt(0))) explained.add(line);
    if (decodedTwice(text) !== undefined) {
      twice.push(line);
      continue;
    }
    const start = line.valueStart + Buffer.byteLength(text.slice(0, hidden.at));
    const end = start + Buffer.byteLength(String.fromCodePoint(text.codePointAt(hidden.at) ?? 0));
    findings.add('invisible-character', { line: line.line, start, end }, () => ({
      message: `The value holds an invisible character (${hidden.name})${consequence(line.key, text)}.`,
      fix:
        shown === '' ? 'Write the line anew.' : `Write ${quoted(shown)} anew, with the keyboard.`,
    }));
  }
  const [first] = twice;
  if (first === undefined) return;
  findings.add('invisible-character', valueSpan(first), () => ({
    message: `The value was UTF-8, was read as Latin-1 and encoded again${furtherLines(twice)}. It holds invisible characters and matches none of the paths that it did.`,
    fix: `Write ${quoted(decodedTwice(document.valueText(first)) ?? '')}, or undo the second encoding of the file.`,
  }));
}

/** Whether a value has a byte that may belong to an invisible character. */
function mayHide({ valueStart, valueEnd }: DocumentLine, { bytes }: RobotsDocument): boolean {
  for (let at = valueStart; at < valueEnd; at++) {
    const byte = bytes[at] as number;
    if (byte >= DELETE || (byte < SPACE && byte !== TAB)) return true;
  }
  return false;
}

/** What an invisible character does to a record. */
function consequence(key: Key | undefined, text: string): string {
  if (key === 'user-agent') return ', which ends the name or is no part of one';
  if (key !== 'allow' && key !== 'disallow') return ', which is a part of it';
  if (!'/*'.includes(visible(text).charAt(0))) return ', which is a part of the pattern';
  return '/*'.includes(text.charAt(0))
    ? `: the pattern is ${quoted(encodeInvisible(text))}, and matches no other paths`
    : ': the pattern begins with neither "/" nor "*", and matches nothing';
}

/** What UTF-8 was before it was read as Latin-1 and encoded again; `undefined` if it was not. */
function decodedTwice(text: string): string | undefined {
  let isAscii = true;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit > 0xff) return undefined;
    if (unit > 0x7f) isAscii = false;
  }
  const bytes = Buffer.from(text, 'latin1');
  return !isAscii && isUtf8(bytes) ? bytes.toString('utf8') : undefined;
}

/** Lines of one kind that are reported once. */
type Repeats = Map<string, DocumentLine[]>;

/** `; so are lines 4 and 7`, or nothing. */
function furtherLines(lines: readonly DocumentLine[]): string {
  if (lines.length < 2) return '';
  return `; so ${lines.length === 2 ? 'is' : 'are'} ${listedLines(lines.slice(1))}`;
}

/** Checks keys, colons, and records that stand on one line. */
export function checkKeys(context: CheckContext): void {
  const { document, explained } = context;
  const meanings = new KeyMeanings();
  const unknown: Repeats = new Map();
  const unsupported: Repeats = new Map();
  /** Lines of text that follow one another. */
  let prose: DocumentLine[] = [];
  // The broken mark is reported itself.
  const brokenLine = hasBrokenMark(document) ? 1 : 0;
  for (const line of document.lines) {
    if (line.line === brokenLine && document.keyText(line).toLowerCase().endsWith('user-agent')) {
      meanings.lostAgent ??= line;
    }
    if (line.holdsNul || line.line === brokenLine) continue;
    switch (line.form) {
      case 'blank':
        continue;
      case 'no-separator':
        if (checkColon(line, context, meanings)) break;
        prose.push(line);
        continue;
      case 'no-key':
        prose.push(line);
        continue;
      case 'record':
        if (line.key === 'other' && !explained.has(line)) {
          const key = document.keyText(line).toLowerCase();
          if (insteadOf(key) !== undefined) addTo(unsupported, key, line);
          else if (checkKey(line, context, meanings)) addTo(unknown, key, line);
        }
        checkSecondRecord(line, context);
        if (line.key === 'crawl-delay' && !explained.has(line)) checkCrawlDelay(line, context);
    }
    reportProse(prose, context);
    prose = [];
  }
  reportProse(prose, context);
  reportUnknown(unknown, context);
  reportUnsupported(unsupported, context);
  checkOutside(context, meanings.lostAgent);
  checkDetached(context);
}

function reportProse(lines: readonly DocumentLine[], { document, findings }: CheckContext): void {
  const [first] = lines;
  if (first === undefined) return;
  const span = contentSpan(document, first);
  findings.add('not-a-record', span, () => ({
    message: `${quoted(document.text(span.start, span.end))} is neither a record nor a comment, and is ignored${furtherLines(lines)}.`,
    fix: `Delete the ${lines.length === 1 ? 'line' : 'lines'}, or make ${lines.length === 1 ? 'it a comment' : 'them comments'} with "#".`,
  }));
}

function reportUnknown(unknown: Repeats, { document, findings }: CheckContext): void {
  for (const lines of unknown.values()) {
    const [line] = lines as [DocumentLine];
    findings.add('unknown-record', keySpan(line), () => ({
      message: `No crawler is known to read the key ${quoted(document.keyText(line))}; the line is ignored${googleReading(line.googleKey)}${furtherLines(lines)}.`,
      fix: 'Delete the line, or make it a comment with "#".',
    }));
  }
}

function reportUnsupported(unsupported: Repeats, { document, findings }: CheckContext): void {
  for (const [key, lines] of unsupported) {
    const [line] = lines as [DocumentLine];
    const since = key === 'noindex' ? ' (Google stopped in September 2019)' : '';
    findings.add('unsupported-record', keySpan(line), () => ({
      message: `No crawler is known to obey ${quoted(document.keyText(line))}${since}: the line is ignored${furtherLines(lines)}.`,
      fix: insteadOf(key) ?? '',
    }));
  }
}

/**
 * Finds records of a group, such as a crawl-delay, that stand alone after a blank line: they belong
 * to the group before, which need not be that of `*`.
 */
function checkDetached({ document, findings }: CheckContext): void {
  let agents: DocumentLine[] = [];
  let hasRule = false;
  let isForAll = false;
  /** Records after a blank line, until a rule follows. */
  let detached: DocumentLine[] = [];
  let isAfterBlank = false;
  /** Whether blank lines stand between the lines of the group anyway. */
  let isSpaced = false;
  const report = (): void => {
    const [first] = detached;
    const [agent] = agents;
    if (first !== undefined && agent !== undefined && !isSpaced) {
      findings.add('detached-record', contentSpan(document, first), () => ({
        message: `A blank line ends no group: the line${detached.length === 1 ? ' belongs' : `, and ${listedLines(detached.slice(1))}, belong`} to the group of ${quoted(document.valueText(agent))} in line ${agent.line} alone.`,
        fix: `Put "User-agent: *" before it, if all crawlers are meant; otherwise delete the blank line.`,
      }));
    }
    detached = [];
  };
  for (const line of document.lines) {
    if (line.form === 'blank' && !document.hasComment(line)) isAfterBlank = true;
    if (line.key === undefined || line.holdsNul) continue;
    if (line.key === 'user-agent') {
      if (hasRule || agents.length === 0) {
        report();
        agents = [];
        hasRule = isForAll = isSpaced = false;
      } else isSpaced ||= isAfterBlank;
      agents.push(line);
      isForAll ||= document.valueText(line).startsWith('*');
    } else if (line.key === 'allow' || line.key === 'disallow') {
      hasRule = true;
      isSpaced ||= isAfterBlank;
      detached = [];
    } else if (hasRule && !isForAll && isLineOfGroup(line, document)) {
      if (isAfterBlank || detached.length > 0) detached.push(line);
    }
    isAfterBlank = false;
  }
  report();
}

/**
 * Finds rules and other lines of groups before the first group. They have one cause.
 *
 * @param lostAgent a line that was meant to begin a group, and is reported itself
 */
function checkOutside(
  { document, findings }: CheckContext,
  lostAgent: DocumentLine | undefined,
): void {
  const begin = document.groups[0]?.agents[0]?.line;
  const outside: DocumentLine[] = [];
  for (const line of document.lines) {
    if (line === begin || line === lostAgent) break;
    if (!line.holdsNul && isLineOfGroup(line, document)) outside.push(line);
  }
  const [first] = outside;
  if (first === undefined) return;
  const further = outside.slice(1);
  const hasSignal = outside.some(
    (line) => kindOfKey(document.keyText(line).toLowerCase()) === 'content-signal',
  );
  const signals = hasSignal
    ? '. What a Content-Signal refuses there may count for every crawler, and what it grants for none'
    : '';
  findings.add('rule-outside-group', contentSpan(document, first), () => ({
    message: `${further.length === 0 ? 'The line comes' : `The line, and ${listedLines(further)}, come`} before any user-agent line, and ${further.length === 0 ? 'belongs' : 'belong'} to no group: ${document.stray.length > 0 ? 'crawlers ignore rules there (RFC 9309 section 2.2.1)' : 'crawlers may ignore it'}${signals}.`,
    fix: 'Put "User-agent: *" before it.',
  }));
}

/** Whether a line belongs to the group in which it stands. */
function isLineOfGroup(line: DocumentLine, document: RobotsDocument): boolean {
  if (line.form !== 'record') return false;
  if (line.key === 'allow' || line.key === 'disallow') return true;
  const key = document.keyText(line).toLowerCase();
  const kind = kindOfKey(key);
  // A record that no crawler reads is reported itself.
  return kind !== undefined && isOfGroup(kind) && insteadOf(key) === undefined;
}

/** Checks a line without a colon; false if it is no record. */
function checkColon(
  line: DocumentLine,
  { document, findings }: CheckContext,
  meanings: KeyMeanings,
): boolean {
  const span = contentSpan(document, line);
  const text = visible(document.text(span.start, span.end));
  // A line that looks blank is blank to everybody.
  if (text === '') return true;
  const word = firstWord(text);
  const key = word.toLowerCase();
  const meant = KNOWN_KEYS.has(key) ? key : meanings.meaning(key);
  // A sentence is not a record, whatever its first word.
  const rest = text.slice(word.length).trim();
  const isWords = rest.includes(' ') && !'/*'.includes(rest.charAt(0)) && !key.includes('-');
  const isRecord =
    meant !== undefined && !(isWords || (!KNOWN_KEYS.has(key) && rest.includes(' ')));
  if (!isRecord) return false;
  if (meant === 'user-agent') meanings.lostAgent ??= line;
  findings.add('missing-colon', span, () => ({
    message: `The record has no colon, and is ignored${googleReading(line.googleKey)}.`,
    fix: `Write "${spelt(meant)}:${rest === '' ? '' : ` ${rest}`}".`,
  }));
  return true;
}

function firstWord(text: string): string {
  let end = 0;
  while (end < text.length && text[end] !== ' ' && text[end] !== '\t') end++;
  return text.slice(0, end);
}

function googleReading(key: Key | undefined): string {
  if (key === undefined || key === 'other') return '';
  return `; only google/robotstxt takes it for ${key}`;
}

/** Checks a key that the parser does not know; true if nobody does. */
function checkKey(
  line: DocumentLine,
  { document, findings }: CheckContext,
  meanings: KeyMeanings,
): boolean {
  const text = document.keyText(line);
  const key = text.toLowerCase();
  if (KNOWN_KEYS.has(key)) return false;
  if ((key === 'https' || key === 'http') && document.valueText(line).startsWith('//')) {
    findings.add('not-a-record', contentSpan(document, line), () => ({
      message: 'The line is a URL without a key, and is ignored.',
      fix: `Write "Sitemap: ${document.text(line.keyStart, line.valueEnd)}", if it is a sitemap.`,
    }));
    return false;
  }
  const unseparated = valueWithoutColon(line, document);
  if (unseparated !== undefined) {
    findings.add('missing-colon', contentSpan(document, line), () => ({
      message: `The colon after the key is missing: the key is ${quoted(text)}, and the line is ignored${googleReading(line.googleKey)}.`,
      fix: `Write "${spelt(firstWord(key))}: ${unseparated}".`,
    }));
    return false;
  }
  const hidden = invisibleIn(text);
  if (hidden !== undefined && KNOWN_KEYS.has(visible(key))) {
    if (visible(key) === 'user-agent') meanings.lostAgent ??= line;
    findings.add('misspelt-record', keySpan(line), () => ({
      message: `The key holds an invisible character (${hidden.name}), so the line is ignored.`,
      fix: `Write "${spelt(visible(key))}:" anew.`,
    }));
    return false;
  }
  const meant = meanings.meaning(key);
  if (meant === undefined) return true;
  if (meant === 'user-agent') meanings.lostAgent ??= line;
  const effect =
    kindOfKey(key) === undefined
      ? `the line is ignored${googleReading(line.googleKey)}`
      : 'robots-filter reads the line, and other programs may ignore it';
  findings.add('misspelt-record', keySpan(line), () => ({
    message: `${quoted(text)} is likely ${spelt(meant)}. As it stands ${effect}.`,
    fix: `Write "${spelt(meant)}:".`,
  }));
  return false;
}

/**
 * What follows the key of `Disallow https://a.example/x` or `Disallow /a:b`, whose only colon is in
 * the value; the path of a URL where patterns are paths.
 */
function valueWithoutColon(line: DocumentLine, document: RobotsDocument): string | undefined {
  const text = document.text(line.keyStart, line.valueEnd);
  const key = firstWord(text);
  const rest = text.slice(key.length).trim();
  if (key.length >= line.keyEnd - line.keyStart || !KNOWN_KEYS.has(key.toLowerCase())) return;
  const path = pathOfUrl(rest);
  if (path === undefined) return '/*'.includes(rest.charAt(0)) ? rest : undefined;
  return key.toLowerCase().endsWith('allow') ? path : rest;
}

/** Finds `User-agent: 008 Disallow: /`. */
function checkSecondRecord(line: DocumentLine, { document, findings }: CheckContext): void {
  const second = secondRecord(line, document);
  if (second === undefined) return;
  findings.add('two-records-on-a-line', second, () => ({
    message: `The line holds a second record, ${quoted(document.text(second.start, second.end))}, which belongs to the value of the first.`,
    fix: 'Begin a new line before it.',
  }));
}

function checkCrawlDelay(line: DocumentLine, { document, findings }: CheckContext): void {
  const value = document.valueText(line);
  if (crawlDelaySeconds(value) !== undefined) return;
  findings.add('invalid-crawl-delay', valueSpan(line), () => ({
    message: `The crawl-delay ${quoted(value)} is not a number of seconds.`,
    fix: 'Write digits, such as "Crawl-delay: 10".',
  }));
}

/** Values that mean something in each vocabulary. */
const VALUES: ReadonlyMap<string, readonly string[]> = new Map([
  ['content-signal', ['yes', 'no']],
  ['content-usage', ['y', 'n']],
]);

/**
 * Checks the records about the use of content: `Content-Usage` (draft-ietf-aipref-attach) and
 * `Content-Signal` (contentsignals.org). Both hold `NAME=VALUE`, separated by commas.
 */
export function checkPreferences({ document, findings, explained }: CheckContext): void {
  for (const line of document.lines) {
    if (line.key !== 'other' || line.holdsNul || explained.has(line)) continue;
    const key = document.keyText(line).toLowerCase();
    const values = VALUES.get(kindOfKey(key) ?? key);
    if (values === undefined) continue;
    const text = document.valueText(line);
    const fault =
      key === 'content-usage'
        ? faultOfDictionary(withoutPath(text), values)
        : faultOf(text, values);
    if (fault === undefined) continue;
    findings.add('invalid-preference', valueSpan(line), () => ({
      message: `${fault}, so the preference is unknown.`,
      fix: `Write NAME=${values[0]} or NAME=${values[1]}, separated by commas.`,
    }));
  }
}

/** A value of Content-Usage may begin with a path. */
function withoutPath(text: string): string {
  if (!text.startsWith('/')) return text;
  let end = 0;
  while (end < text.length && text[end] !== ' ' && text[end] !== '\t') end++;
  return text.slice(end).trim();
}

/** What is wrong with a dictionary of preferences (RFC 9651 section 3.2). */
function faultOfDictionary(text: string, values: readonly string[]): string | undefined {
  if (text === '') return 'The record is empty';
  const members = parseDictionary(text);
  if (members === undefined) return `${quoted(text)} is not a dictionary of RFC 9651`;
  for (const [name, value] of members) {
    if (!isPurpose(name) || (typeof value === 'string' && values.includes(value))) continue;
    return `The value of ${quoted(name)} is neither ${values.join(' nor ')}`;
  }
  return undefined;
}

/** What is wrong with a list of preferences. */
function faultOf(text: string, values: readonly string[]): string | undefined {
  if (text === '') return 'The record is empty';
  for (const member of text.split(',')) {
    const [name = '', value, ...rest] = member.split('=').map((part) => part.trim());
    if (name === '' || value === undefined || rest.length > 0) {
      return `${quoted(member.trim())} is not NAME=VALUE`;
    }
    // Other members may have other values.
    if (!isPurpose(name)) continue;
    if (!values.includes(value)) return `${quoted(value)} is neither ${values.join(' nor ')}`;
  }
  return undefined;
}

/** Names whose values are known; others, such as `use`, have their own. */
function isPurpose(name: string): boolean {
  return name === 'search' || name === 'ai-input' || name === 'ai-train' || name === 'train-ai';
}
