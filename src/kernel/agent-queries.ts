import { type Agent, parseAgent } from '../protocol/agent.js';
import type { Profile } from '../protocol/profile.js';
import type { Arena, Region } from './arena.js';
import {
  AGENT_CHAIN,
  CHAIN_BYTES,
  CHAIN_TOKEN,
  QUERY_AGENTS,
  QUERY_ANY_HOST,
  QUERY_TABLE,
} from './layout.js';
import { type Query, tokenOfLink } from './query.js';
import { type Conversion, DEFAULT_SETTINGS } from './query-settings.js';
import { encodeShardQueries, type QueryTable, shardQueryBytes } from './shard-queries.js';

/** The rules by which URLs are judged: those of a table, or of one robots.txt. */
export interface JudgeTarget {
  readonly profile: Profile;
  /** Address of the table. */
  readonly table: number;
  /** Offset of the robots record that applies to every host, 0 to look hosts up. */
  readonly anyHost: number;
  /** Number of a lower-case product token in the table, -1 if no robots.txt names it. */
  tokenNumber(token: string): number;
  /**
   * The shards of the table, undefined for one that is not in memory; none, the default, for a
   * table in one piece.
   */
  readonly shards?: readonly (QueryTable | undefined)[];
  /** @throws RobotsFilterError `usage` if the rules cannot answer for the agent */
  checkAgent(agent: Agent): void;
}

/** The query for one agent, in memory. */
export interface AgentQuery {
  readonly agent: Agent;
  readonly query: Query;
  readonly region: Region;
  /** The words of the query's block. */
  readonly words: Uint32Array;
  /** The product token of each link of the agent's chain: see `tokenOfLink`. */
  readonly tokens: readonly (string | undefined)[];
  /** The target that the block names. */
  target: JudgeTarget;
}

/** Maximum number of queries that are kept. One more query releases all others. */
const MAX_QUERIES = 64;

/**
 * The queries for the agents that were asked about. A query is encoded once; for another target
 * only the words that depend on the target are written.
 */
export class AgentQueries {
  readonly #arena: Arena;
  readonly #conversion: Conversion | undefined;
  /**
   * By agent, apart for agents given as a text or as a list, and for the google profile, in which
   * any text is a product token.
   */
  readonly #queries = Array.from({ length: 4 }, () => new Map<string, AgentQuery>());

  constructor(arena: Arena, conversion?: Conversion) {
    this.#arena = arena;
    this.#conversion = conversion;
  }

  /**
   * The query for an agent and a target.
   *
   * @throws RobotsFilterError `usage` for an agent that is not one, or that the target refuses
   */
  of(agent: string | readonly string[], target: JudgeTarget): AgentQuery {
    const isText = typeof agent === 'string';
    const google = target.profile === 'google';
    const queries = this.#queries[(isText ? 0 : 1) + (google ? 2 : 0)] as Map<string, AgentQuery>;
    const key = isText ? agent : JSON.stringify(parseAgent(agent, target.profile).chain);
    const known = queries.get(key);
    if (known === undefined) return this.#add(queries, key, agent, target);
    if (known.target !== target) pointAt(known, target);
    return known;
  }

  #add(
    queries: Map<string, AgentQuery>,
    key: string,
    name: string | readonly string[],
    target: JudgeTarget,
  ): AgentQuery {
    const agent = parseAgent(name, target.profile);
    target.checkAgent(agent);
    if (queries.size === MAX_QUERIES) {
      for (const { region } of queries.values()) this.#arena.give(region);
      queries.clear();
    }
    const settings = {
      ...DEFAULT_SETTINGS,
      google: target.profile === 'google',
      agents: [agent],
      format: 'text',
      conversion: this.#conversion,
      anyHost: target.anyHost,
      shards: target.shards?.length,
    } as const;
    const tables =
      target.shards === undefined || target.shards.length === 0 ? [target] : target.shards;
    const region = this.#arena.take(shardQueryBytes(settings, tables.length));
    const { query, bytes } = encodeShardQueries(settings, region.address, tables);
    const { buffer } = this.#arena.memory;
    new Uint8Array(buffer).set(bytes, region.address);
    const words = new Uint32Array(buffer, region.address, region.bytes / 4);
    const tokens = agent.chain.map((link) => tokenOfLink(link, settings.google));
    const added = { agent, query, region, words, tokens, target };
    queries.set(key, added);
    return added;
  }
}

/** Writes the words of a query that depend on its target. */
function pointAt(asked: AgentQuery, target: JudgeTarget): void {
  const { words, query, tokens } = asked;
  words[QUERY_TABLE / 4] = target.table;
  words[QUERY_ANY_HOST / 4] = target.anyHost;
  const agentAt = (words[QUERY_AGENTS / 4] as number) - query.address;
  let link = (words[(agentAt + AGENT_CHAIN) / 4] as number) - query.address + CHAIN_TOKEN;
  for (const token of tokens) {
    words[link / 4] = token === undefined ? -1 : target.tokenNumber(token);
    link += CHAIN_BYTES;
  }
  asked.target = target;
}
