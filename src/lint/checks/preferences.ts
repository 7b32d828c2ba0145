import { parseDictionary } from '../../protocol/structured-dictionary.js';
import { valueSpan } from '../document.js';
import { type CheckContext, quoted } from './check.js';

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
    const values = VALUES.get(key);
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
