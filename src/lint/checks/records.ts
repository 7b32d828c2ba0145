import { nearest } from '../../nearest.js';
import { crawlDelaySeconds } from '../../protocol/crawl-delay.js';
import type { Key } from '../../protocol/grammar.js';
import {
  contentSpan,
  type DocumentLine,
  keySpan,
  type RobotsDocument,
  valueSpan,
} from '../document.js';
import { type CheckContext, quoted } from './check.js';
import { hasBrokenMark } from './encoding.js';
import { invisibleIn, visible } from './invisible.js';
import { pathOfUrl } from './patterns.js';
import { secondRecord } from './second-record.js';

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
  'noindex',
  'content-signal',
  'content-usage',
  'license',
  'disallowaitraining',
  'indexpage',
  'nofollow',
  'noarchive',
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

/** Checks keys, colons, and records that stand on one line. */
export function checkRecords(context: CheckContext): void {
  const { document, findings } = context;
  const meanings = new KeyMeanings();
  // The broken mark is reported itself.
  const brokenLine = hasBrokenMark(document) ? 1 : 0;
  for (const line of document.lines) {
    if (line.holdsNul || line.line === brokenLine) continue;
    switch (line.form) {
      case 'blank':
        break;
      case 'no-separator':
        checkColon(line, context, meanings);
        break;
      case 'no-key':
        findings.add('not-a-record', contentSpan(document, line), () => ({
          message: 'The line has no key before its colon, and is ignored.',
          fix: 'Delete the line, or make it a comment with "#".',
        }));
        break;
      case 'record':
        if (line.key === 'other') checkKey(line, context, meanings);
        checkSecondRecord(line, context);
        if (line.key === 'crawl-delay') checkCrawlDelay(line, context);
    }
  }
  for (const line of document.stray) {
    findings.add('rule-outside-group', contentSpan(document, line), () => ({
      message:
        'The rule comes before any user-agent line, and is ignored (RFC 9309 section 2.2.1).',
      fix: 'Put "User-agent: *" before it.',
    }));
  }
}

function checkColon(
  line: DocumentLine,
  { document, findings }: CheckContext,
  meanings: KeyMeanings,
): void {
  const span = contentSpan(document, line);
  const text = document.text(span.start, span.end);
  const word = firstWord(text);
  const key = word.toLowerCase();
  const meant = KNOWN_KEYS.has(key) ? key : meanings.meaning(key);
  // A sentence is not a record, whatever its first word.
  const rest = text.slice(word.length).trim();
  const isWords = rest.includes(' ') && !'/*'.includes(rest.charAt(0)) && !key.includes('-');
  const isRecord =
    meant !== undefined && !(isWords || (!KNOWN_KEYS.has(key) && rest.includes(' ')));
  if (!isRecord) {
    findings.add('not-a-record', span, () => ({
      message: `${quoted(text)} is neither a record nor a comment, and is ignored.`,
      fix: 'Delete the line, or make it a comment with "#".',
    }));
    return;
  }
  findings.add('missing-colon', span, () => ({
    message: `The record has no colon, and is ignored${googleReading(line.googleKey)}.`,
    fix: `Write "${spelt(meant)}:${rest === '' ? '' : ` ${rest}`}".`,
  }));
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

function checkKey(
  line: DocumentLine,
  { document, findings }: CheckContext,
  meanings: KeyMeanings,
): void {
  const text = document.keyText(line);
  const key = text.toLowerCase();
  if (KNOWN_KEYS.has(key)) return;
  if ((key === 'https' || key === 'http') && document.valueText(line).startsWith('//')) {
    findings.add('not-a-record', contentSpan(document, line), () => ({
      message: 'The line is a URL without a key, and is ignored.',
      fix: `Write "Sitemap: ${document.text(line.keyStart, line.valueEnd)}", if it is a sitemap.`,
    }));
    return;
  }
  const unseparated = valueWithoutColon(line, document);
  if (unseparated !== undefined) {
    findings.add('missing-colon', contentSpan(document, line), () => ({
      message: `The colon after the key is missing: the key is ${quoted(text)}, and the line is ignored${googleReading(line.googleKey)}.`,
      fix: `Write "${spelt(firstWord(key))}: ${unseparated}".`,
    }));
    return;
  }
  const hidden = invisibleIn(text);
  if (hidden !== undefined && KNOWN_KEYS.has(visible(key))) {
    findings.add('misspelt-record', keySpan(line), () => ({
      message: `The key holds an invisible character (${hidden}), so the line is ignored.`,
      fix: `Write "${spelt(visible(key))}:" anew.`,
    }));
    return;
  }
  const meant = meanings.meaning(key);
  if (meant === undefined) {
    findings.add('unknown-record', keySpan(line), () => ({
      message: `No crawler is known to read the key ${quoted(text)}; the line is ignored${googleReading(line.googleKey)}.`,
      fix: 'Delete the line, or make it a comment with "#".',
    }));
    return;
  }
  findings.add('misspelt-record', keySpan(line), () => ({
    message: `${quoted(text)} is likely ${spelt(meant)}. As it stands the line is ignored${googleReading(line.googleKey)}.`,
    fix: `Write "${spelt(meant)}:".`,
  }));
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
