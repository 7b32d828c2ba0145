/** The default crawler of the benchmarks; hardly any file names this crawler, so `*` decides. */
export const AGENT = 'ExampleBot';
/** The same crawler, then a crawler that many files name. */
export const TWO_AGENTS = 'ExampleBot,GPTBot';
/** A crawler that files of robots.txt captures name often, and whose archives they are. */
export const CRAWLER = 'CCBot';

/** A list of crawlers: the default one, then crawlers that no file names. */
export function agentsText(count: number): string {
  const others = Array.from({ length: count - 1 }, (_, index) => `OtherBot${letters(index)}`);
  return [AGENT, ...others].join(',');
}

/** A number in letters, since digits are no part of a product token. */
function letters(value: number): string {
  const last = String.fromCharCode(0x61 + (value % 26));
  return value < 26 ? last : `${letters(Math.floor(value / 26) - 1)}${last}`;
}
