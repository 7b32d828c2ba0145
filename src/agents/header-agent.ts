import { namesProduct } from '../protocol/user-agent-header.js';
import type { KnownAgent } from './known-agent.js';

/** The known agents that a whole User-Agent header names. */
export function agentsInHeader(
  header: string,
  agents: readonly KnownAgent[],
): readonly KnownAgent[] {
  return agents.filter(({ token, published }) => namesProduct(header, published ?? token));
}
