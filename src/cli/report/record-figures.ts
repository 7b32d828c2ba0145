/** Kinds of other records (RFC 9309 section 2.2.4) that reports count. */
export const RECORD_FIGURES = [
  'sitemap',
  'crawl-delay',
  'content-usage',
  'content-signal',
  'license',
] as const;

export type RecordFigure = (typeof RECORD_FIGURES)[number];
