import type { Random } from './random.js';

const TOP_LEVELS = ['example', 'example', 'test', 'example.com', 'example.org', 'example.net'];
const FIRST_LABELS = ['www.', 'www.', 'www.', '', '', 'shop.', 'blog.', 'm.', 'news.'];

/** Different host names under the names that RFC 2606 reserves, where nobody has a server. */
export function makeHosts(random: Random, words: readonly string[], count: number): string[] {
  const hosts = new Set<string>();
  while (hosts.size < count) {
    const hyphen = random.chance(0.25) ? '-' : '';
    const label = random.pick(words) + hyphen + random.pick(words);
    const number = random.chance(0.06) ? String(random.between(1, 999)) : '';
    hosts.add(`${random.pick(FIRST_LABELS)}${label}${number}.${random.pick(TOP_LEVELS)}`);
  }
  return [...hosts];
}
