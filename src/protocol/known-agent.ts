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
  /** The address of the operator's documentation, or of the list that names the token. */
  readonly source: string;
  /** The day when this entry was last edited, as `YYYY-MM-DD`. */
  readonly date: string;
}

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

/** The letters and digits of a name, in lower case, without a version. */
export function bareName(name: string): string {
  const end = name.indexOf('/');
  let bare = '';
  for (const character of (end < 0 ? name : name.slice(0, end)).toLowerCase()) {
    const isLetter = character >= 'a' && character <= 'z';
    if (isLetter || (character >= '0' && character <= '9')) bare += character;
  }
  return bare;
}
