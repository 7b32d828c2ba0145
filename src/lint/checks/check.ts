import type { KnownAgent } from '../../agents/known-agent.js';
import type { Authority } from '../../protocol/authority.js';
import type { RobotsDocument } from '../document.js';
import type { FindingList } from '../finding.js';

/** What a check reads, and where its findings go. */
export interface CheckContext {
  readonly document: RobotsDocument;
  readonly findings: FindingList;
  /** The host that the file is of, if it is known. */
  readonly authority: Authority | undefined;
  readonly agents: AgentNames;
}

/** The names of known agents, for comparison. */
export interface AgentNames {
  /** Tokens in lower case, with the token as published. */
  readonly tokens: ReadonlyMap<string, string>;
  /** Published names in lower case that are not tokens. */
  readonly published: ReadonlySet<string>;
}

/** The names of agents, for all files. */
export function agentNames(agents: readonly KnownAgent[]): AgentNames {
  return {
    tokens: new Map(agents.map(({ token }) => [token.toLowerCase(), token])),
    published: new Set(
      agents.flatMap(({ published }) => (published === undefined ? [] : [published.toLowerCase()])),
    ),
  };
}

/** Maximum length of a text that a message quotes. */
const QUOTED_CHARACTERS = 60;

/** Quotes a text of the file in a message. */
export function quoted(text: string): string {
  return text.length <= QUOTED_CHARACTERS
    ? JSON.stringify(text)
    : JSON.stringify(`${text.slice(0, QUOTED_CHARACTERS)}…`);
}
