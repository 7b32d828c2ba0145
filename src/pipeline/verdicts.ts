import type { Judgement } from '../kernel/judge.js';
import type { Table } from '../table.js';

/**
 * Judges URLs one by one, in their order and at the pace at which the verdicts are taken, on the
 * thread that calls. For millions of them `filterStream` is faster.
 *
 * @param agent a product token or a fallback chain of them, as `A>B` or a list (RFC 9309 section
 *   2.2.1)
 * @throws RobotsFilterError `usage` if the agent is no product token, or one that a reduced table
 *   cannot answer for
 */
export async function* verdicts(
  table: Table,
  urls: AsyncIterable<string> | Iterable<string>,
  agent: string | readonly string[],
): AsyncGenerator<Judgement & { readonly url: string }> {
  for await (const url of urls) yield { url, ...table.verdict(url, agent) };
}
