/** Robots.txt files read plainly, without any code of the program. */

import { grouped } from './grouped.js';

export interface PlainRule {
  readonly line: number;
  /** `Disallow: /a`, as written. */
  readonly text: string;
}

/** A group: its product tokens in lower case, each once, and its rules. */
export interface PlainGroup {
  readonly tokens: Set<string>;
  readonly rules: PlainRule[];
}

/** The key and the value of each line that has both; lines count from 1. */
function* pairs(robots: string): Iterable<{ line: number; key: string; value: string }> {
  for (const [index, text] of robots.split('\n').entries()) {
    const colon = text.indexOf(':');
    if (colon < 1 || text.startsWith('#')) continue;
    const key = text.slice(0, colon).trim().toLowerCase();
    yield { line: index + 1, key, value: text.slice(colon + 1).trim() };
  }
}

/** The groups in the order of the file. A user-agent line after a rule begins the next one. */
export function plainGroups(robots: string): PlainGroup[] {
  const groups: PlainGroup[] = [];
  let isOpen = false;
  for (const { line, key, value } of pairs(robots)) {
    if (key === 'user-agent') {
      if (!isOpen) groups.push({ tokens: new Set(), rules: [] });
      isOpen = true;
      const token = value === '*' ? value : (/^[a-z_-]*/.exec(value.toLowerCase())?.[0] ?? '');
      if (token !== '') groups.at(-1)?.tokens.add(token);
    } else if (key === 'allow' || key === 'disallow') {
      isOpen = false;
      const name = key === 'allow' ? 'Allow' : 'Disallow';
      if (value !== '') groups.at(-1)?.rules.push({ line, text: `${name}: ${value}` });
    }
  }
  return groups;
}

/** The tokens that the same groups name, and the rules of these groups. */
export interface PlainMergedGroup {
  readonly tokens: readonly string[];
  readonly rules: readonly PlainRule[];
}

/** The groups as crawlers see them: all groups that name a token are one. */
export function mergedGroups(robots: string): PlainMergedGroup[] {
  const groups = plainGroups(robots);
  const tokens = [...new Set(groups.flatMap((group) => [...group.tokens]))];
  const groupsOf = (token: string) => groups.filter((group) => group.tokens.has(token));
  const placesOf = (token: string) => groupsOf(token).map((group) => groups.indexOf(group));
  const alike = grouped(tokens, (token) => placesOf(token).join());
  return Array.from(alike.values(), (same) => ({
    tokens: same,
    rules: groupsOf(same[0] ?? '').flatMap(({ rules }) => rules),
  }));
}

/** Keys of records that belong to a group. A crawl-delay belongs to the names before it. */
const OF_GROUPS = ['crawl-delay', 'content-usage', 'content-signal'];

/** The keys of a file's lines, without those of groups that name no crawler. */
export function keysOf(robots: string): Set<string> {
  const lines = robots.split('\n');
  const keys = Array.from(pairs(robots), ({ line, key }) => {
    if (!OF_GROUPS.includes(key)) return key;
    const before = plainGroups(lines.slice(0, line).join('\n')).length;
    const [text, count] = key === 'crawl-delay' ? [lines.slice(0, line), before] : [lines, before];
    const group = count === 0 ? undefined : plainGroups(text.join('\n'))[count - 1];
    return group?.tokens.size === 0 ? undefined : key;
  });
  const found = keys.flatMap((key) => key ?? []);
  return new Set(robots.startsWith('<') ? [...found, 'web-page'] : found);
}

/**
 * What tells a file from others in a report: the rules for each product token, each with its place
 * among the lines of its group.
 */
export function contentOf(robots: string): string {
  const groups = plainGroups(robots);
  const tokens = [...new Set(groups.flatMap((group) => [...group.tokens]))].sort();
  const rulesFor = (token: string) =>
    groups
      .filter((group) => group.tokens.has(token))
      .map(({ rules }) => rules.map(({ line, text }) => [line - (rules[0]?.line ?? 0), text]));
  return JSON.stringify(tokens.map((token) => [token, rulesFor(token)]));
}
