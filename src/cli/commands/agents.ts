import { isatty } from 'node:tty';
import { printable, printableJson } from '../../base/control-characters.js';
import { nearest } from '../../base/nearest.js';
import {
  agentsNamed,
  agentsOf,
  agentsOfOperator,
  type KnownAgent,
  listNames,
} from '../../protocol/known-agent.js';
import { agentsInHeader } from '../../protocol/unnamed-agents.js';
import { SUCCESS, usageError, writeOutput } from '../console.js';
import { knownAgentsOf } from '../options/agents.js';
import type { AgentsOptions } from '../options/command-options.js';
import {
  cutToWidth,
  GAP,
  isForPeople,
  rowsText,
  STANDARD_OUTPUT_DESCRIPTOR,
  widthOnTerminal,
  windowOfOutput,
} from '../text.js';

/**
 * `robots-filter agents`: prints the known agents, a line each.
 *
 * @param name a list, with or without `@`; a token or a published name; an operator; or a
 *   User-Agent header
 * @returns the exit code
 * @throws RobotsFilterError `usage` if no agent has the name
 */
export async function agents(name: string | undefined, options: AgentsOptions): Promise<number> {
  const known = await knownAgentsOf(options);
  const chosen = name === undefined ? known : chosenAgents(name, known);
  if (options.json === true) writeOutput(`${printableJson(chosen, 2)}\n`);
  else
    writeOutput(
      rowsText(isForPeople(STANDARD_OUTPUT_DESCRIPTOR) ? rowsFor(chosen) : chosen.map(fieldsOf)),
    );
  return SUCCESS;
}

/** For people: one agent with a line for each field; several with what fits the window. */
function rowsFor(agents: readonly KnownAgent[]): string[][] {
  const [first, ...others] = agents;
  if (first !== undefined && others.length === 0) {
    return fieldsOf(first).map((field, at) => [FIELDS[at] ?? '', field]);
  }
  const shown = ({ purpose, token, operator, description }: KnownAgent, withOperator: boolean) =>
    [`@${purpose}`, token, ...(withOperator ? [operator] : []), description].map(printable);
  const rows = agents.map((agent) => shown(agent, true));
  if (!isatty(STANDARD_OUTPUT_DESCRIPTOR)) return rows;
  const left = roomForLast(rows);
  const fitting = left < ROOM ? agents.map((agent) => shown(agent, false)) : rows;
  const room = Math.max(1, left < ROOM ? roomForLast(fitting) : left);
  return fitting.map((row) => [...row.slice(0, -1), cutToWidth(row.at(-1) ?? '', room)]);
}

/** The columns of the window that other values than the last ones leave. */
function roomForLast(rows: readonly (readonly string[])[]): number {
  let left = windowOfOutput();
  for (let column = 0; column < (rows[0]?.length ?? 1) - 1; column++) {
    left -= Math.max(...rows.map((row) => widthOnTerminal(row[column] ?? ''))) + GAP.length;
  }
  return left;
}

/** Columns of a window without which a description says too little. */
const ROOM = 16;

/** What is told about an agent, in the order of `fieldsOf`. */
const FIELDS = ['list', 'token', 'operator', 'published', 'date', 'source', 'description'];

function fieldsOf(agent: KnownAgent): string[] {
  const { token, published = token, operator, purpose, date, source, description } = agent;
  return [`@${purpose}`, token, operator, published, date, source, description].map(printable);
}

function chosenAgents(name: string, known: readonly KnownAgent[]): readonly KnownAgent[] {
  const lower = name.toLowerCase();
  const list = agentsOf(known, lower.startsWith('@') ? lower.slice(1) : lower);
  if (list !== undefined) return list;
  for (const find of [agentsNamed, agentsOfOperator]) {
    const found = find(name, known);
    if (found.length > 0) return found;
  }
  const inHeader = agentsInHeader(name, known);
  if (inHeader.length > 0) return inHeader;
  const names = [...listNames(known).map((each) => `@${each}`), ...known.map(({ token }) => token)];
  const nearestName = nearest(
    lower,
    names.map((each) => each.toLowerCase()),
  );
  const meant = names.find((each) => each.toLowerCase() === nearestName);
  throw usageError(
    `no known agent and no list is named ${JSON.stringify(name)}. ${meant === undefined ? '' : `Did you mean ${meant}? `}` +
      'robots-filter agents prints all',
  );
}
