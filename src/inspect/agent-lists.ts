import type { Agent } from '../protocol/agent.js';
import { lowerCaseAscii } from '../protocol/product-token.js';
import { TOKEN_ANY } from '../table/format.js';
import type { GroupLists } from './group-lists.js';
import type { TableView } from './table-view.js';

/** A product token of an agent: its text, and its number in the table, -1 if no file names it. */
export interface Link {
  readonly token: string;
  readonly number: number;
}

/** The lists of the groups that decide for an agent, and the product tokens that they name. */
export interface AgentLists {
  /** In lower case: one of the agent's chain, or `*`; in the google profile all that are named. */
  readonly tokens: readonly string[];
  readonly lists: readonly number[];
}

/** The tokens of an agent that obeys the groups of `*`: most agents share them. */
export const ANY: readonly string[] = ['*'];
const NONE: AgentLists = { tokens: [], lists: [] };

/** The product tokens of an agent, preferred first. */
export function linksOf(view: TableView, { chain }: Agent): Link[] {
  return chain.map((link) => {
    const token = lowerCaseAscii(link);
    return { token, number: view.tokenNumber(token) };
  });
}

/**
 * The lists that decide for an agent in the robots record at `robots` (RFC 9309 section 2.2.1):
 * those of its own tokens, else that of `*`. Empty if no group is for the agent.
 *
 * @param isGoogle whether the groups of all tokens count, as in the google profile
 */
export function agentLists(
  groupLists: GroupLists,
  robots: number,
  links: readonly Link[],
  isGoogle: boolean,
): AgentLists {
  const tokens: string[] = [];
  const lists: number[] = [];
  for (const { token, number } of links) {
    const list = number < 0 ? 0 : groupLists.find(robots, number);
    if (list === 0) continue;
    if (!tokens.includes(token)) tokens.push(token);
    if (!lists.includes(list)) lists.push(list);
    if (!isGoogle) break;
  }
  if (lists.length > 0) return { tokens, lists };
  const any = groupLists.find(robots, TOKEN_ANY);
  return any === 0 ? NONE : { tokens: ANY, lists: [any] };
}
