/** The package's second entry, `robots-filter/robots-parser`: the interface of robots-parser 3. */

import { isBytes } from '../base/arguments.js';
import { Robots } from '../judge/robots.js';
import { isProductToken, tokenPrefix } from '../protocol/agent.js';
import { withoutFinalDot } from '../protocol/authority.js';

/**
 * Relative URLs are resolved against this, as in robots-parser: only relative URLs have its host.
 */
const RELATIVE_BASE = 'http://robots-relative.samclarke.com/';
/** Schemes whose URLs `Robots` reads; of all others the path is judged. */
const SCHEMES = ['http:', 'https:', 'ftp:'];
const ANY_AGENT = '*';
/** Maximum number of remembered user agents. One more forgets all others. */
const MAX_AGENTS = 256;

/** The interface of robots-parser 3, answered as RFC 9309 says. See docs/api.md. */
export interface RobotsParser {
  /** Whether the agent may fetch the URL; `undefined` for a URL of another site, or none at all. */
  isAllowed(url: string, ua?: string): boolean | undefined;
  /** The opposite of `isAllowed`: true also for `undefined`, as in robots-parser. */
  isDisallowed(url: string, ua?: string): boolean | undefined;
  /** Whether a group that names the agent itself disallows the URL: `*` does not count. */
  isExplicitlyDisallowed(url: string, ua?: string): boolean | undefined;
  /** Line number of the rule that decides, from 1; -1 if none does. */
  getMatchingLineNumber(url: string, ua?: string): number;
  /** The crawl delay in seconds, `undefined` if there is none. */
  getCrawlDelay(ua?: string): number | undefined;
  /** The URLs of the sitemap lines. */
  getSitemaps(): string[];
  /** The last `Host`, in lower case; null if there is none. */
  getPreferredHost(): string | null;
}

/** The product tokens of user agents that were asked about. */
const tokens = new Map<string, string>();

/** The product token of a user agent: `Bot/1.0` is `bot`, and a text without a token is `*`. */
function tokenOf(ua: unknown): string {
  const text = ua ? String(ua) : ANY_AGENT;
  let token = tokens.get(text);
  if (token === undefined) {
    const name = (text.split('/', 1)[0] ?? '').trim();
    token = isProductToken(name) ? name : tokenPrefix(name) || ANY_AGENT;
    if (tokens.size === MAX_AGENTS) tokens.clear();
    tokens.set(text, token);
  }
  return token;
}

/** The end of the path, or without a path of the authority: the first `?` or `#`. */
function pathEnd(url: string): number {
  const ends = [url.indexOf('?'), url.indexOf('#')].filter((at) => at >= 0);
  return Math.min(url.length, ...ends);
}

/** A URL in two forms, because `URL` encodes each `'` of a query, and `Robots` must not. */
interface ReadUrl {
  readonly parsed: URL;
  /** The query and the fragment, as written. */
  readonly tail: string;
}

function readUrl(url: unknown): ReadUrl | undefined {
  try {
    const text = String(url);
    const parsed = new URL(text, RELATIVE_BASE);
    return { parsed, tail: text.slice(pathEnd(text)) };
  } catch {
    return undefined;
  }
}

class ParsedRobots implements RobotsParser {
  readonly #robots: Robots;
  readonly #site: URL | undefined;
  /** What most URLs of the site begin with; they need not be parsed here. */
  readonly #start: string | undefined;

  constructor(url: unknown, contents: unknown) {
    this.#site = readUrl(url)?.parsed;
    const isKnown = this.#site !== undefined && SCHEMES.includes(this.#site.protocol);
    this.#start = isKnown ? `${this.#site?.protocol}//${this.#site?.host}/` : undefined;
    this.#robots = Robots.parse(isBytes(contents) ? contents : String(contents || ''));
  }

  isAllowed(url: string, ua?: string): boolean | undefined {
    const own = this.#own(url);
    return own === undefined ? undefined : this.#robots.isAllowed(own, tokenOf(ua));
  }

  isDisallowed(url: string, ua?: string): boolean | undefined {
    return !this.isAllowed(url, ua);
  }

  isExplicitlyDisallowed(url: string, ua?: string): boolean | undefined {
    const own = this.#own(url);
    if (own === undefined) return undefined;
    const token = tokenOf(ua);
    const { verdict, rule } = this.#robots.verdict(own, token);
    return verdict === 'deny' && (token === ANY_AGENT || rule?.agent !== ANY_AGENT);
  }

  getMatchingLineNumber(url: string, ua?: string): number {
    const own = this.#own(url);
    return own === undefined ? -1 : (this.#robots.verdict(own, tokenOf(ua)).rule?.line ?? -1);
  }

  getCrawlDelay(ua?: string): number | undefined {
    return this.#robots.crawlDelay(tokenOf(ua));
  }

  getSitemaps(): string[] {
    return this.#robots.sitemaps;
  }

  getPreferredHost(): string | null {
    const hosts = this.#robots.records.filter(({ key, value }) => key === 'host' && value !== '');
    return hosts.at(-1)?.value.toLowerCase() ?? null;
  }

  /** The URL as `Robots` judges it; `undefined` unless it is of the site of this robots.txt. */
  #own(url: unknown): string | undefined {
    if (typeof url === 'string' && this.#start !== undefined && url.startsWith(this.#start)) {
      return url;
    }
    const read = readUrl(url);
    if (read === undefined || this.#site === undefined) return undefined;
    const { parsed, tail } = read;
    if (!isSameSite(parsed, this.#site)) return undefined;
    // For `Robots`, its file is the robots.txt of any authority.
    return `http://any.invalid${parsed.pathname.startsWith('/') ? '' : '/'}${parsed.pathname}${tail}`;
  }
}

function isSameSite(one: URL, other: URL): boolean {
  return (
    one.protocol === other.protocol &&
    withoutFinalDot(one.hostname) === withoutFinalDot(other.hostname) &&
    portOf(one) === portOf(other)
  );
}

/** The port; robots-parser takes 80 for the default of any scheme but https. */
function portOf({ port, protocol }: URL): string {
  return port === '' ? (protocol === 'https:' ? '443' : '80') : port;
}

/**
 * Parses a robots.txt, with the interface of the package robots-parser. Nothing throws on content.
 *
 * @param url the URL of the robots.txt; the object answers for URLs of the same site only
 * @param contents the robots.txt; empty, null and undefined allow everything
 */
export default function robotsParser(
  url: string,
  contents: string | Uint8Array | null | undefined,
): RobotsParser {
  return new ParsedRobots(url, contents);
}
