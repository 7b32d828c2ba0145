import { ASTERISK, SLASH } from '../../ascii.js';
import { isDigit, isLetter } from '../../protocol/byte.js';
import { contentSpan, type DocumentLine, type RobotsDocument } from '../document.js';
import type { CheckContext } from './check.js';

/** What begins and ends a placeholder of a template engine or of documentation. */
const PLACEHOLDERS: readonly (readonly [begin: string, end: string])[] = [
  ['{{', '}}'],
  ['{%', '%}'],
  ['<%', '%>'],
  ['<?', '?>'],
  ['${', '}'],
  ['#{', '}'],
  ['@@', '@@'],
  ['[[', ']]'],
  ['<', '>'],
];

/** Words that stand for a name in documentation, in lower case. */
const SAMPLE_WORDS = ['yourdomain', 'your-domain', 'yoursite', 'your-site'];

/** Domains for documentation (RFC 2606). */
const SAMPLE_DOMAINS = ['example', 'example.com', 'example.net', 'example.org'];

/** Keys of records with a path, in lower case. */
const PATH_KEYS = ['disallow', 'allow', 'noindex'];

/** Finds placeholders that no template engine filled in. */
export function checkTemplates({ document, findings, authority, explained }: CheckContext): void {
  for (const line of document.lines) {
    if (line.form !== 'record' || line.holdsNul || isDenied(line, document)) continue;
    const span = contentSpan(document, line);
    const text = document.bytes.toString('latin1', span.start, document.lineEnd(line));
    const place =
      placeholderIn(text) ?? (isSampleHost(authority?.host) ? undefined : sampleIn(line, text));
    if (place === undefined) continue;
    if (findings.wants('template-placeholder')) explained.add(line);
    const start = span.start + place.at;
    const end = start + place.length;
    findings.add('template-placeholder', { line: line.line, start, end }, () => ({
      message: `${JSON.stringify(text.slice(place.at, place.at + place.length))} looks like a placeholder that was not filled in; crawlers take it as it stands.`,
      fix: 'Fill in the value.',
    }));
  }
}

/**
 * Whether a rule has a path. Its author may want to keep crawlers from addresses that templates
 * broke: `Disallow: /*{{`.
 */
function isDenied(line: DocumentLine, document: RobotsDocument): boolean {
  const first = document.bytes[line.valueStart];
  if (first !== SLASH && first !== ASTERISK) return false;
  return PATH_KEYS.includes(document.keyText(line).toLowerCase());
}

interface Place {
  readonly at: number;
  readonly length: number;
}

function placeholderIn(text: string): Place | undefined {
  for (const [begin, end] of PLACEHOLDERS) {
    const at = text.indexOf(begin);
    if (at < 0) continue;
    const stop = text.indexOf(end, at + begin.length);
    if (stop <= at + begin.length) continue;
    if (!isName(text.slice(at + begin.length, stop), begin)) continue;
    return { at, length: stop + end.length - at };
  }
  return undefined;
}

/** Whether a text between the marks is a name, not a part of a path or of a page. */
function isName(text: string, begin: string): boolean {
  const name = text.trim();
  if (name === '' || name.includes('*')) return false;
  if (begin === '<') return Array.from(name).every((each) => isWord(each) || each === ' ');
  return begin !== '[[' || !(name.includes(',') || name.includes('"'));
}

function isWord(character: string): boolean {
  const code = character.charCodeAt(0);
  return isLetter(code) || isDigit(code) || character === '-' || character === '_';
}

function sampleIn(line: DocumentLine, text: string): Place | undefined {
  if (line.key !== 'sitemap') return undefined;
  const lower = text.toLowerCase();
  for (const word of SAMPLE_WORDS) {
    const at = lower.indexOf(word);
    if (at >= 0) return { at, length: word.length };
  }
  const slashes = lower.indexOf('://');
  if (slashes < 0) return undefined;
  const host = hostOf(lower.slice(slashes + 3));
  return isSampleHost(host) ? { at: slashes + 3, length: host.length } : undefined;
}

/** The host at the beginning of a URL without its scheme. */
function hostOf(text: string): string {
  let end = 0;
  while (end < text.length && !'/:?#'.includes(text[end] as string)) end++;
  return text.slice(0, end);
}

/** Whether a host is one of documentation. */
function isSampleHost(host: string | undefined): boolean {
  return SAMPLE_DOMAINS.some((domain) => host === domain || host?.endsWith(`.${domain}`));
}
