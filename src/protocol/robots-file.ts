/** A rule as its line says it (RFC 9309 section 2.2.2). */
export interface Rule {
  readonly allow: boolean;
  /**
   * The path pattern's octets as written, without the white space around them and the comment. May
   * be empty or malformed; such a rule matches nothing.
   */
  readonly pattern: Uint8Array;
  /** Number of the line in the file, from 1. */
  readonly line: number;
}

/** One or more user-agent lines and the rules that follow them (RFC 9309 section 2.1). */
export interface Group {
  /**
   * Product tokens in lower case, in the order of their lines; `*` is the token of all crawlers.
   * Lines without a usable token leave none, so the list may be empty: a group that nobody is in.
   * In the google profile a token may be the empty string.
   */
  readonly productTokens: readonly string[];
  readonly rules: readonly Rule[];
  /** Number of the group's first user-agent line, from 1. */
  readonly line: number;
}

/** A `Crawl-delay` record, which RFC 9309 does not know (section 2.2.4): reported, never obeyed. */
export interface CrawlDelay {
  /** The product tokens of the group in which it stands; empty before any group. */
  readonly productTokens: readonly string[];
  /** The delay in seconds, `undefined` where the value is no non-negative decimal number. */
  readonly seconds: number | undefined;
  readonly value: string;
  readonly line: number;
}

/** Any other record (RFC 9309 section 2.2.4): sitemap, host, clean-param and so on. */
export interface OtherRecord {
  /** The key in lower case. */
  readonly key: string;
  readonly value: string;
  readonly line: number;
}

/** What is wrong with a line that had no effect, or not the one that its author may expect. */
export type WarningCode =
  | 'beyond-limit'
  | 'html'
  | 'malformed-pattern'
  | 'missing-colon'
  | 'no-product-token'
  | 'nul'
  | 'not-utf-8'
  | 'over-budget'
  | 'rule-before-group'
  | 'unknown-record'
  | 'line-cut'
  | 'utf-16';

export interface Warning {
  readonly code: WarningCode;
  /** Number of the line, from 1; 0 when it concerns the file. */
  readonly line: number;
  /** One sentence: what was found and what became of it. */
  readonly message: string;
}

/** A parsed robots.txt: everything its bytes say, nothing decided yet. */
export interface RobotsFile {
  readonly groups: readonly Group[];
  readonly sitemaps: readonly OtherRecord[];
  readonly crawlDelays: readonly CrawlDelay[];
  /**
   * All records that are no user-agent, allow or disallow line, sitemaps and crawl-delays included,
   * in order.
   */
  readonly records: readonly OtherRecord[];
  /** At most 100 in full; the last then says how many more there are. */
  readonly warnings: readonly Warning[];
  /** Octets of the body beyond the parsing limit (RFC 9309 section 2.5), which were ignored. */
  readonly ignoredOctets: number;
  /**
   * Whether the file holds more records and wildcards than the budget for a file allows, about a
   * million: then there is nothing here but warnings, and every URL is denied as if the file were
   * unreachable. Never within 1,032,444 octets.
   */
  readonly overBudget: boolean;
}
