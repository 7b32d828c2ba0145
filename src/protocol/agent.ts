/** Agents: product tokens (section 2.2.1), fallback chains, and User-Agent headers. */

import { shownValue } from '../base/arguments.js';
import { CR, HYPHEN, LF, LOWER_CASE_BIT, UNDERSCORE, UPPER_A, UPPER_Z } from '../base/ascii.js';
import { isDigit, isLetter } from '../base/characters.js';
import { RobotsFilterError } from '../base/errors.js';
import type { Profile } from './verdict.js';

/**
 * A crawler: its product tokens (RFC 9309 section 2.2.1), the preferred one first. The first token
 * that a group names decides; the google profile merges the groups of all tokens.
 */
export interface Agent {
  /** The name as given, such as `Googlebot-Image:Googlebot`. */
  readonly name: string;
  readonly chain: readonly string[];
  /**
   * Whether the crawler disregards the groups of `*`: it may fetch everything if no group names any
   * of its tokens. Default false.
   */
  readonly disregardsAny?: boolean | undefined;
}

/** Between the product tokens of a chain. No shell has another meaning for it. */
export const CHAIN_SEPARATOR = ':';
/** An older separator, which shells take for a redirection unless the agent is quoted. */
const QUOTED_SEPARATOR = '>';

/** The chain of an agent that is given as a text. */
export function chainOf(text: string): Omit<Agent, 'name'> {
  const parts = text.split(CHAIN_SEPARATOR);
  const disregardsAny = parts.length > 1 && parts.at(-1)?.trim() === '';
  const named = disregardsAny ? parts.slice(0, -1) : parts;
  const links = named.flatMap((part) => part.split(QUOTED_SEPARATOR));
  // Other texts with a colon, such as URLs, are no chains.
  const isChain =
    parts.length > 1 &&
    links.some((link) => link.trim() !== '') &&
    links.every((link) => link.trim() === '' || isAgentName(link.trim()));
  if (isChain) return { chain: links.map((link) => link.trim()), disregardsAny };
  return { chain: text.split(QUOTED_SEPARATOR) };
}

/** The leading characters of a text that a product token may hold: letters, `-` and `_`. */
export function tokenPrefix(text: string): string {
  return text.slice(0, endOfTokenText(text));
}

/** Whether a text is a product token, or `*` (RFC 9309 section 2.2). */
export function isProductToken(text: string): boolean {
  return text === '*' || (text !== '' && tokenPrefix(text).length === text.length);
}

/**
 * Whether a text is a name with digits or dots, such as `MJ12bot` or `archive.org_bot`. Its product
 * token is what a user-agent line with it names: `MJ`, `archive`.
 */
export function isPublishedName(text: string): boolean {
  const token = tokenPrefix(text);
  if (token === '' || token.length === text.length || isBrowserWord(token)) return false;
  for (let at = token.length; at < text.length; at++) {
    if (!isNameCharacter(text, at)) return false;
  }
  return true;
}

/** Whether a text is a product token, `*`, or a name with digits or dots. */
export function isAgentName(text: string): boolean {
  return isProductToken(text) || isPublishedName(text);
}

/** The product token that decides for a link of a chain. Other texts stay as they are. */
export function decidingToken(link: string): string {
  const text = link.trim();
  return isPublishedName(text) ? tokenPrefix(text) : text;
}

/**
 * Reads an agent: a product token, or a fallback chain as `A:B` or a list. `A:` is a crawler that
 * does not obey the groups of `*`. A name with digits or dots stands for its product token, and
 * stays the agent's name. In the google profile any text is a token, as in google/robotstxt.
 *
 * @throws RobotsFilterError `usage` if a link of the chain is not a product token
 */
export function parseAgent(agent: string | readonly string[], profile: Profile): Agent {
  const { chain: given, disregardsAny = false }: Omit<Agent, 'name'> =
    typeof agent === 'string' ? chainOf(agent) : { chain: agent };
  if (!Array.isArray(given) || !given.every((link) => typeof link === 'string')) {
    throw new RobotsFilterError(
      'usage',
      `the agent is ${shownValue(agent)}. Pass a product token such as 'MyBot', '*', or a fallback chain: 'A:B' or ['A', 'B']`,
    );
  }
  const links = profile === 'google' ? given : given.map(decidingToken);
  if (links.length === 0) {
    throw new RobotsFilterError('usage', 'an agent needs at least one product token');
  }
  if (profile !== 'google') {
    for (const link of links) {
      if (isProductToken(link)) continue;
      throw new RobotsFilterError(
        'usage',
        `${JSON.stringify(link)} is not a product token (RFC 9309 section 2.2.1): ${remedyFor(link)}`,
      );
    }
  }
  if (disregardsAny && links.includes('*')) {
    throw new RobotsFilterError(
      'usage',
      `${JSON.stringify(agent)} names * and disregards it. Name a crawler alone: "MyBot:"`,
    );
  }
  const name =
    typeof agent === 'string' ? agent : given.map((link) => link.trim()).join(QUOTED_SEPARATOR);
  return { name, chain: links, disregardsAny };
}

/**
 * Refuses an agent that comes twice. Capitals make no difference to a product token (RFC 9309
 * section 2.2.1), and none to SQL, where the columns of such agents would have the same name.
 *
 * @throws RobotsFilterError `usage`
 */
export function refuseSameAgents(agents: readonly Agent[]): void {
  const known = new Map<string, string>();
  for (const { name, chain, disregardsAny = false } of agents) {
    const key = lowerCaseAscii([...chain, String(disregardsAny)].join(QUOTED_SEPARATOR));
    const other = known.get(key);
    known.set(key, name);
    if (other === undefined) continue;
    const first = JSON.stringify(other);
    const reason =
      lowerCaseAscii(other) === lowerCaseAscii(name)
        ? 'capitals make no difference'
        : `both are judged as ${chain.join(CHAIN_SEPARATOR)}`;
    throw new RobotsFilterError(
      'usage',
      other === name
        ? `the agent ${first} is named twice. Name it once`
        : `${first} and ${JSON.stringify(name)} are the same agent: ${reason}. Name it once`,
    );
  }
}

/** What to write in place of a text that is not a product token. */
function remedyFor(link: string): string {
  if (link.includes('://') && !link.includes(' ')) return 'pass the URL first, then the agent';
  if (isUserAgentHeader(link)) {
    const candidates = headerCandidates(link).map((token) => `"${token}"`);
    return candidates.length === 0
      ? 'it is a whole User-Agent header without the name of a crawler. Use the product token that the operator documents'
      : `it is a whole User-Agent header. Use the crawler's product token, such as ${candidates.join(' or ')}`;
  }
  const token = tokenPrefix(link);
  if (isBrowserWord(token)) {
    return 'it begins as the User-Agent headers of browsers do, and names no crawler. Use the product token that the operator documents';
  }
  if (token === '') return 'use letters, "-" and "_", or "*"';
  // The first word may be the token of another crawler: Google of Google Extended.
  return link.includes(' ')
    ? 'it has spaces. Use the product token that the operator documents, which may have "-" in their place'
    : // Without its colon the agent would obey the groups of `*`.
      `use "${token}${link.endsWith(CHAIN_SEPARATOR) ? CHAIN_SEPARATOR : ''}"`;
}

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

/** Whether the character at an offset of a text may be a part of a crawler's name. */
export function isNameCharacter(text: string, at: number): boolean {
  const unit = text.charCodeAt(at); // NaN outside the text
  return isLetter(unit) || isDigit(unit) || '-_.'.includes(text[at] ?? ' ');
}

/** Length of the leading characters of a text that a product token may hold: letters, `-`, `_`. */
function endOfTokenText(text: string): number {
  let end = 0;
  while (end < text.length && isTokenByte(text.charCodeAt(end))) end++;
  return end;
}

function isTokenByte(code: number): boolean {
  return isLetter(code) || code === HYPHEN || code === UNDERSCORE;
}

/**
 * Offset after the product token that starts at `start`: its longest run of `A-Z a-z _ -` (RFC 9309
 * section 2.2.1).
 */
export function endOfProductToken(bytes: Uint8Array, start: number, end: number): number {
  let at = start;
  for (; at < end; at++) {
    const byte = bytes[at] as number;
    if (!isLetter(byte) && byte !== HYPHEN && byte !== UNDERSCORE) break;
  }
  return at;
}

/** Some names in lower case, such as product tokens, found by the bytes of a robots.txt. */
export class Names {
  readonly #names: readonly string[];

  constructor(names: Iterable<string>) {
    this.#names = [...new Set(names)];
  }

  /** The name that the bytes from `start` to `end` spell, in any case; `undefined` for others. */
  find(bytes: Uint8Array, start: number, end: number): string | undefined {
    for (const name of this.#names) {
      if (name.length !== end - start) continue;
      let at = 0;
      while (at < name.length && lowerCase(bytes[start + at] as number) === name.charCodeAt(at)) {
        at++;
      }
      if (at === name.length) return name;
    }
    return undefined;
  }
}

function lowerCase(byte: number): number {
  return byte >= UPPER_A && byte <= UPPER_Z ? byte | LOWER_CASE_BIT : byte;
}

/** The text with only `A–Z` in lower case, so that U+212A KELVIN SIGN stays. Linear. */
export function lowerCaseAscii(text: string): string {
  let lower = '';
  let copied = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (unit < UPPER_A || unit > UPPER_Z) continue;
    lower += text.slice(copied, at) + String.fromCharCode(unit | LOWER_CASE_BIT);
    copied = at + 1;
  }
  return copied === 0 ? text : lower + text.slice(copied);
}

/** Whether a byte is `A–Z a–z 0–9 - . _ ~`: RFC 3986 section 2.3. */
export function isUnreserved(byte: number): boolean {
  return isLetter(byte) || isDigit(byte) || '-._~'.includes(String.fromCharCode(byte));
}

/** Whether a byte ends a line (RFC 9309 section 2.2, EOL). */
export function isLineEnd(byte: number | undefined): boolean {
  return byte === LF || byte === CR;
}
