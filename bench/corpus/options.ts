/** The options of a corpus. The same options give the same bytes on every machine. */
export interface CorpusOptions {
  /** The seed: any integer, of which the low 32 bits count. */
  readonly seed: number;
  /** Number of hosts that have a robots.txt, at least 1. */
  readonly hosts: number;
  /** Number of lines in the list of URLs. */
  readonly urls: number;
  /** Maximum number of rules of a file; default 5,000. Real files have up to 47,064. */
  readonly maxRules?: number;
  /** How robots.txt files are written: as `robots/HOST` (default) or in `robots.ndjson`. */
  readonly robots?: 'files' | 'ndjson' | 'both';
  /** Gives every file one group of this shape; by default files follow the distribution. */
  readonly oneGroup?: OneGroup;
  /** Minimum length of the URLs of known hosts in bytes; by default they average 55. */
  readonly urlBytes?: number;
}

/** A robots.txt file with one group, for all crawlers. */
export interface OneGroup {
  readonly rules: number;
  /** Share of the rules that hold a `*`, 0 to 1. */
  readonly wildcardShare: number;
}

/** The contents of a corpus; stored in its directory as `corpus.json`. */
export interface CorpusSummary {
  readonly options: CorpusOptions;
  readonly hosts: number;
  /** Different robots.txt bodies among the hosts. */
  readonly bodies: number;
  /** Allow and Disallow lines over all hosts. */
  readonly rules: number;
  /** Bytes of robots.txt over all hosts. */
  readonly robotsBytes: number;
  readonly urls: number;
  /** URLs whose host has no robots.txt in the corpus. */
  readonly unknown: number;
  /** Lines that are not an http, https or ftp URL. */
  readonly invalid: number;
  readonly textBytes: number;
}
