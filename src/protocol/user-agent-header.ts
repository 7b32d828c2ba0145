import { isDigit, isLetter } from './byte.js';
import { endOfTokenText } from './token-text.js';

/** Maximum number of products that are proposed. */
const MOST_CANDIDATES = 5;

/**
 * Products that headers hold for the sake of old servers, and words of their comments, in lower
 * case: they name a browser or a system, not a crawler.
 */
const BROWSER_WORDS: ReadonlySet<string> = new Set([
  'mozilla',
  'applewebkit',
  'chrome',
  'headlesschrome',
  'chromium',
  'safari',
  'mobile',
  'gecko',
  'khtml',
  'firefox',
  'version',
  'edg',
  'edge',
  'opr',
  'opera',
  'presto',
  'trident',
  'msie',
  'rv',
  'build',
]);

/**
 * Whether a text is a whole User-Agent header: it has a comment, or several words with a version.
 */
export function isUserAgentHeader(text: string): boolean {
  const words = text.trim();
  return words.includes('(') || (words.includes('/') && words.includes(' '));
}

/**
 * The words of a User-Agent header (RFC 9110 section 10.1.5): its products and what its comments
 * hold, without addresses of pages and mail.
 */
export function headerWords(header: string): string[] {
  const words: string[] = [];
  let word = '';
  for (const character of `${header} `) {
    if (!' \t;,()'.includes(character)) {
      word += character;
      continue;
    }
    if (word !== '' && !isAddress(word)) words.push(word);
    word = '';
  }
  return words;
}

function isAddress(word: string): boolean {
  const text = word.startsWith('+') ? word.slice(1) : word;
  return text.includes('://') || text.includes('@') || text.startsWith('www.');
}

/** Whether a product token is that of a browser or a system, which no crawler obeys. */
export function isBrowserWord(token: string): boolean {
  return BROWSER_WORDS.has(token.toLowerCase());
}

/** The product tokens in a User-Agent header that may be those of its crawler: `name/version`. */
export function headerCandidates(header: string): string[] {
  const candidates = new Set<string>();
  for (const word of headerWords(header)) {
    const slash = word.indexOf('/');
    if (slash <= 0) continue;
    const token = word.slice(0, endOfTokenText(word));
    if (token === '' || isBrowserWord(token)) continue;
    candidates.add(token);
    if (candidates.size === MOST_CANDIDATES) break;
  }
  return [...candidates];
}

/**
 * Whether a name stands in a header as whole words, in any case: not as a part of a longer name,
 * and not in the address of a page.
 */
export function namesProduct(header: string, name: string): boolean {
  const text = headerWords(header).join(' ').toLowerCase();
  const sought = name.toLowerCase();
  for (let at = text.indexOf(sought); at >= 0; at = text.indexOf(sought, at + 1)) {
    if (!isNameCharacter(text, at - 1) && !isNameCharacter(text, at + sought.length)) return true;
  }
  return false;
}

function isNameCharacter(text: string, at: number): boolean {
  const unit = text.charCodeAt(at); // NaN outside the text
  return isLetter(unit) || isDigit(unit) || '-_.'.includes(text[at] ?? ' ');
}
