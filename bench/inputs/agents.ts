/** The default crawler of the benchmarks; hardly any file names this crawler, so `*` decides. */
export const AGENT = 'ExampleBot';
/** The same crawler, then a crawler that many files name. */
export const TWO_AGENTS = 'ExampleBot,GPTBot';
/** A crawler that files of robots.txt captures name often, and whose archives they are. */
export const CRAWLER = 'CCBot';

/** The User-Agents of a log, which take turns, and the agent that each one names. */
export const LOG_AGENTS: readonly (readonly [userAgent: string, agent: string])[] = [
  ['CCBot/2.0 (https://commoncrawl.org/faq/)', 'CCBot'],
  [
    'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)',
    'GPTBot',
  ],
  [
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36',
    '*',
  ],
  ['Mozilla/5.0 (compatible; AhrefsBot/7.0; +http://ahrefs.com/robot/)', 'AhrefsBot'],
];

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
