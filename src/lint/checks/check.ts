import type { KnownAgent } from '../../agents/known-agent.js';
import type { Authority } from '../../protocol/authority.js';
import type { DocumentLine, RobotsDocument } from '../document.js';
import type { FindingList, Span } from '../finding.js';
import { escapeInvisible } from './invisible.js';

/** What a check reads, and where its findings go. */
export interface CheckContext {
  readonly document: RobotsDocument;
  readonly findings: FindingList;
  /** The host that the file is of, if it is known. */
  readonly authority: Authority | undefined;
  readonly agents: AgentNames;
  /**
   * Lines whose fault is already found and explains others: a placeholder that was not filled in is
   * also a pattern that begins with no "/".
   */
  readonly explained: Set<DocumentLine>;
}

/** The names of known agents, for comparison. */
export interface AgentNames {
  /** Tokens in lower case, with the token as published. */
  readonly tokens: ReadonlyMap<string, string>;
  /** Those of them that are whole names, not only the beginning of a published one. */
  readonly names: ReadonlySet<string>;
  /** Published names in lower case that are not tokens. */
  readonly published: ReadonlySet<string>;
}

/** The names of agents, for all files. */
export function agentNames(agents: readonly KnownAgent[]): AgentNames {
  return {
    tokens: new Map(agents.map(({ token }) => [token.toLowerCase(), token])),
    names: new Set(
      agents.flatMap(({ token, published }) =>
        published === undefined ? [token.toLowerCase()] : [],
      ),
    ),
    published: new Set(
      agents.flatMap(({ published }) => (published === undefined ? [] : [published.toLowerCase()])),
    ),
  };
}

/** Maximum length of a text that a message quotes. */
const QUOTED_CHARACTERS = 60;

/** Quotes a text of the file in a message. Invisible characters are written as `\u00a0`. */
export function quoted(text: string): string {
  const shown = text.length <= QUOTED_CHARACTERS ? text : `${text.slice(0, QUOTED_CHARACTERS)}…`;
  return escapeInvisible(JSON.stringify(shown));
}

/** Number of items that a message lists. */
const LISTED_ITEMS = 3;

/** `a`, `a and b`, `a, b and c`, `a, b, c and 4 more`. */
export function listed(items: readonly string[]): string {
  const shown = items.slice(0, LISTED_ITEMS);
  const further = items.length - shown.length;
  const last = further > 0 ? `${further} more` : shown.pop();
  return shown.length === 0 ? (last ?? '') : `${shown.join(', ')} and ${last}`;
}

/** `line 3`, `lines 3 and 5`. */
export function listedLines(lines: readonly Span[]): string {
  return `${lines.length === 1 ? 'line' : 'lines'} ${listed(lines.map(({ line }) => String(line)))}`;
}
