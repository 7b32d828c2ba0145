import { CHAIN_SEPARATOR, isPublishedName } from './agent.js';

/**
 * What an operator says about robots.txt: that the crawler obeys it; that it does not; that it
 * fetches because a user asked, so that robots.txt may not count; or nothing that is known here.
 */
export const OBEYS = ['yes', 'no', 'user-triggered', 'unknown'] as const;

/** A crawler that its operator, or a list with an open licence, has published. */
export interface KnownAgent {
  /**
   * The product token (RFC 9309 section 2.2.1) that a user-agent line with the published name
   * yields: `GPTBot`, or `MJ` for `MJ12bot`.
   */
  readonly token: string;
  /** The name as published, if it holds characters that no product token has: `MJ12bot`. */
  readonly published?: string;
  readonly operator: string;
  /** The name of the list that holds the agent, without `@`. */
  readonly purpose: string;
  /** What the crawler does with what it fetches, in one sentence. */
  readonly description: string;
  /** What the operator says about robots.txt, in its documentation at `source`. */
  readonly obeys: (typeof OBEYS)[number];
  /** `false` if the crawler disregards the groups of `*`: ask for it as `TOKEN:`. */
  readonly fallback?: false;
  /** The address of the operator's documentation, or of the list that names the token. */
  readonly source: string;
  /** The day when this entry was last edited, as `YYYY-MM-DD`. */
  readonly date: string;
}

/**
 * The built-in agents that disregard `*`, in lower case: a run for other agents need not load the
 * lists to know that none of its agents does. A test compares them with the lists.
 */
export const DISREGARDING: ReadonlySet<string> = new Set([
  'adsbot-google',
  'adsbot-google-mobile',
  'apis-google',
  'mediapartners-google',
]);

/** The name of the list that holds all agents. */
export const ALL_KNOWN = 'all-known';

/** The names of the lists among these agents, in their order, and `all-known`. */
export function listNames(agents: readonly KnownAgent[]): string[] {
  return [...new Set(agents.map(({ purpose }) => purpose)), ALL_KNOWN];
}

/** The agents of a list; `undefined` if there is no such list. */
export function agentsOf(
  agents: readonly KnownAgent[],
  list: string,
): readonly KnownAgent[] | undefined {
  if (list === ALL_KNOWN) return agents;
  const found = agents.filter(({ purpose }) => purpose === list);
  return found.length === 0 ? undefined : found;
}

/**
 * The agents that have a name, however it is spelt: `Google Extended`, `gpt-bot`, `ClaudeBot/1.0`.
 * Published names come first, because a token may be a part of one: `MJ` of `MJ12bot`.
 */
export function agentsNamed(name: string, agents: readonly KnownAgent[]): readonly KnownAgent[] {
  const sought = bareName(name);
  if (sought === '') return [];
  const published = agents.filter((each) => bareName(each.published ?? each.token) === sought);
  if (published.length > 0) return published;
  return agents.filter(({ token }) => bareName(token) === sought);
}

/** The agents of an operator, by its name however it is spelt. */
export function agentsOfOperator(
  name: string,
  agents: readonly KnownAgent[],
): readonly KnownAgent[] {
  const sought = bareName(name);
  return sought === '' ? [] : agents.filter(({ operator }) => bareName(operator) === sought);
}

/** The name that `--agent` takes: the published one, `MJ12bot`, or the token if it has spaces. */
export function agentName({ token, published = token }: KnownAgent): string {
  return isPublishedName(published) ? published : token;
}

/** How `--agent` asks for a crawler: `GPTBot`, or `AdsBot-Google:`, which disregards `*`. */
export function askedAs(agent: KnownAgent): string {
  const name = agentName(agent);
  return agent.fallback === false ? `${name}${CHAIN_SEPARATOR}` : name;
}

/** The letters and digits of a name, in lower case and without accents or a version. */
export function bareName(name: string): string {
  const end = name.indexOf('/');
  const withoutVersion = end < 0 ? name : name.slice(0, end);
  let bare = '';
  for (const character of withoutVersion.normalize('NFD').toLowerCase()) {
    const isLetter = character >= 'a' && character <= 'z';
    if (isLetter || (character >= '0' && character <= '9')) bare += character;
  }
  return bare;
}
