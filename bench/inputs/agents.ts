/** The default crawler of the benchmarks; hardly any file names this crawler, so `*` decides. */
export const AGENT = 'ExampleBot';
/** The same crawler, then a crawler that many files name. */
export const TWO_AGENTS = 'ExampleBot,GPTBot';
/** A crawler that files of robots.txt captures name often, and whose archives they are. */
export const CRAWLER = 'CCBot';
