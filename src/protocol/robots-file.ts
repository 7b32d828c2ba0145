/** An allow or disallow line (RFC 9309 section 2.2.2). */
export interface Rule {
  readonly allow: boolean;
  /**
   * The path pattern as written, without the white space around it and the comment. An empty or
   * malformed pattern matches nothing. See `Table.rulesFor` for the patterns of a table.
   */
  readonly pattern: Uint8Array;
  /** Number of the line in the file, from 1. */
  readonly line: number;
}

/** One or more user-agent lines and the rules that follow them (RFC 9309 section 2.1). */
export interface Group {
  /**
   * Product tokens in lower case, in the order of their lines; `*` stands for all crawlers. Lines
   * without a usable token add none, so the list may be empty. In the google profile a token may be
   * the empty string.
   */
  readonly productTokens: readonly string[];
  readonly rules: readonly Rule[];
  /** Number of the group's first user-agent line, from 1. */
  readonly line: number;
}

/** A `Crawl-delay` record, which is not part of RFC 9309 (section 2.2.4): reported, not obeyed. */
export interface CrawlDelay {
  /**
   * The product tokens that it is for: those of the user-agent lines of its group since the last
   * `Crawl-delay` there, or the same as for that one if there are none. Empty before any group.
   */
  readonly productTokens: readonly string[];
  /** The delay in seconds; `undefined` if the value is not a non-negative decimal number. */
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

/** The reason why a line has no effect, or another effect than its author may expect. */
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
  | 'line-truncated'
  | 'utf-16';

export interface Warning {
  readonly code: WarningCode;
  /** Number of the line, from 1; 0 for a warning about the file. */
  readonly line: number;
  /** One sentence: the finding and its consequence. */
  readonly message: string;
}

/** A parsed robots.txt: all its contents, before any decision. */
export interface RobotsFile {
  readonly groups: readonly Group[];
  readonly sitemaps: readonly OtherRecord[];
  readonly crawlDelays: readonly CrawlDelay[];
  /**
   * All records other than user-agent, allow and disallow lines, in order; sitemaps and
   * crawl-delays are among them.
   */
  readonly records: readonly OtherRecord[];
  /** The warnings, at most 100. If there are more, the last one tells how many. */
  readonly warnings: readonly Warning[];
  /** Bytes of the body beyond the parsing limit (RFC 9309 section 2.5), which were ignored. */
  readonly ignoredBytes: number;
  /**
   * Whether the file has more records and wildcards than its budget allows, about a million. Only
   * the warnings are then filled in, and every URL is denied as if the file were unreachable. Never
   * true for a file of up to 1,032,444 bytes.
   */
  readonly overBudget: boolean;
}
