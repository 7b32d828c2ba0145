import { COLON } from '../../ascii.js';
import type { DocumentLine, RobotsDocument } from '../document.js';
import type { Span } from '../finding.js';

/** The place of a known key and a colon, after white space within a value. */
export function secondRecord(line: DocumentLine, { bytes }: RobotsDocument): Span | undefined {
  const { valueStart, valueEnd } = line;
  let at = bytes.indexOf(COLON, valueStart);
  for (; at >= 0 && at < valueEnd; at = bytes.indexOf(COLON, at + 1)) {
    let end = at;
    while (end > valueStart && (bytes[end - 1] as number) <= 0x20) end--;
    let start = end;
    const first = Math.max(valueStart, end - LONGEST_KEY - 1);
    while (start > first && (bytes[start - 1] as number) > 0x20) start--;
    if (start === first || start === end) continue;
    const key = bytes.toString('latin1', start, end).toLowerCase();
    if (!SEPARATED_KEYS.has(key)) continue;
    return { line: line.line, start, end: valueEnd };
  }
  return undefined;
}

/** Keys that make a second record of what follows them. */
const SEPARATED_KEYS: ReadonlySet<string> = new Set([
  'user-agent',
  'allow',
  'disallow',
  'sitemap',
  'crawl-delay',
]);

const LONGEST_KEY = 'crawl-delay'.length;
