import { checkItems } from '../arguments.js';
import type { Judgement } from '../kernel/judge.js';
import { parseAgent } from '../protocol/agent.js';
import { type Table, tableMemory } from '../table.js';

/**
 * Judges URLs one by one, in order, on the calling thread. Each URL is taken when its verdict is
 * requested. For millions of URLs, `filterStream` is faster.
 *
 * @param agent a product token, or a fallback chain as `A>B` or a list (RFC 9309 section 2.2.1)
 * @throws RobotsFilterError `usage` for arguments of other types, at once; and if the agent is not
 *   a product token, or if a reduced table does not hold its groups
 */
export function verdicts(
  table: Table,
  urls: AsyncIterable<string> | Iterable<string>,
  agent: string | readonly string[],
): AsyncGenerator<Judgement & { readonly url: string }> {
  const { header } = tableMemory(table);
  checkItems('verdicts', urls);
  parseAgent(agent, header.profile);
  return judged(table, urls, agent);
}

async function* judged(
  table: Table,
  urls: AsyncIterable<string> | Iterable<string>,
  agent: string | readonly string[],
): AsyncGenerator<Judgement & { readonly url: string }> {
  for await (const url of urls) yield { url, ...table.verdict(url, agent) };
}
