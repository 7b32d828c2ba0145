/** Files of agents: lists of `KnownAgent`, and the robots.json of ai.robots.txt. */

import { RobotsFilterError } from '../base/errors.js';
import { readWhole } from '../files/openings.js';
import { describeSystemError } from '../files/system-error.js';
import { isProductToken, tokenPrefix } from './agent.js';
import { ALL_KNOWN, type KnownAgent, OBEYS } from './known-agent.js';

/** Maximum length of a file of agents, in bytes. */
const MAX_FILE_BYTES = 16 * 1024 ** 2;

const EXAMPLE = 'Start from the built-in lists: robots-filter agents --json > agents.json';

/** The members that may be left out, and must be strings. */
const OPTIONAL_MEMBERS = ['published', 'operator', 'description', 'source', 'date'] as const;

/** The agents of a file. */
export interface AgentsFile {
  readonly agents: readonly KnownAgent[];
  /** What of the file was left out, for a note; `undefined` if nothing was. */
  readonly leftOut: string | undefined;
}

/**
 * Reads agents that replace the built-in lists: a JSON array of objects with the members of
 * `KnownAgent`, of which `token` and `purpose` are required; or an object of agents by name, as the
 * robots.json of ai.robots.txt.
 *
 * @throws RobotsFilterError `input`, with the entry and what is wrong with it
 */
export async function readAgentsFile(path: string): Promise<AgentsFile> {
  let value: unknown;
  const text = await textOf(path);
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw refusal(path, `not JSON (${cause instanceof Error ? cause.message : String(cause)})`);
  }
  if (isObject(value) && Object.keys(value).length > 0) return agentsByName(path, value);
  if (!Array.isArray(value) || value.length === 0) {
    throw refusal(path, 'neither a JSON array of agents nor a JSON object of agents by name');
  }
  const tokens = new Set<string>();
  const agents = value.map((entry: unknown, index) => {
    const agent = agentOf(path, entry, index + 1);
    const token = agent.token.toLowerCase();
    if (tokens.has(token)) throw refusal(path, `entry ${index + 1} repeats ${agent.token}`);
    tokens.add(token);
    return agent;
  });
  return { agents, leftOut: undefined };
}

async function textOf(path: string): Promise<string> {
  let bytes: Buffer | undefined;
  try {
    bytes = await readWhole(path, MAX_FILE_BYTES);
  } catch (cause) {
    const reason = `cannot be read: ${describeSystemError(cause)}`;
    throw new RobotsFilterError('input', `${path}: ${reason}. ${EXAMPLE}`, { cause });
  }
  if (bytes === undefined) throw refusal(path, `longer than ${MAX_FILE_BYTES} bytes`);
  // Unlike Buffer.toString, a decoder drops a byte order mark.
  return new TextDecoder().decode(bytes);
}

function refusal(path: string, what: string): RobotsFilterError {
  return new RobotsFilterError('input', `${path}: ${what}. ${EXAMPLE}`);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** @param number position of the entry in the file, from 1 */
function agentOf(path: string, entry: unknown, number: number): KnownAgent {
  if (!isObject(entry)) throw refusal(path, `entry ${number} is not an object`);
  const { token, purpose, obeys: said = 'unknown', fallback = true } = entry;
  if (typeof token !== 'string' || token === '*' || !isProductToken(token)) {
    throw refusal(
      path,
      `entry ${number} has no "token" of letters, "-" and "_" (RFC 9309 section 2.2.1)`,
    );
  }
  if (typeof purpose !== 'string' || !isListName(purpose)) {
    throw refusal(
      path,
      `entry ${number} (${token}) has no "purpose", the name of its list, such as "ai-training"`,
    );
  }
  const place = `entry ${number} (${token})`;
  const rest = stringsOf(path, place, entry, OPTIONAL_MEMBERS);
  const obeys = OBEYS.find((each) => each === said);
  if (obeys === undefined) {
    const choices = OBEYS.map((each) => `"${each}"`).join(', ');
    throw refusal(path, `${place} has an "obeys" that is none of ${choices}`);
  }
  if (typeof fallback !== 'boolean') {
    throw refusal(path, `${place} has a "fallback" that is neither true nor false`);
  }
  const disregards = fallback ? {} : { fallback };
  const none = { operator: '', description: '', source: '', date: '' };
  return { ...none, ...rest, token, purpose, obeys, ...disregards };
}

/**
 * The members with these names, of those that are there.
 *
 * @param place the entry, for messages
 */
function stringsOf<Name extends string>(
  path: string,
  place: string,
  entry: Record<string, unknown>,
  names: readonly Name[],
): Partial<Record<Name, string>> {
  const strings: Partial<Record<Name, string>> = {};
  for (const name of names) {
    const member = entry[name];
    if (member === undefined) continue;
    if (typeof member !== 'string') {
      throw refusal(path, `${place} has a "${name}" that is not a string`);
    }
    strings[name] = member;
  }
  return strings;
}

/** Whether a text can follow `@`: a product token other than `*` and the name of all lists. */
function isListName(text: string): boolean {
  return text !== '*' && text !== ALL_KNOWN && isProductToken(text);
}

// ---- The robots.json of ai.robots.txt: agents by name

const MEMBERS_BY_NAME = ['operator', 'respect', 'function', 'frequency', 'description'] as const;

/** The lists of the kinds that ai.robots.txt names in `function`. */
const LISTS_BY_KIND: ReadonlyMap<string, string> = new Map([
  ['ai data scrapers', 'ai-training'],
  ['ai search crawlers', 'ai-search'],
  ['ai assistants', 'ai-assistant'],
  ['ai agents', 'ai-assistant'],
  ['ai coding agents', 'ai-assistant'],
]);

/** The list of all other agents. */
const OTHER_LIST = 'ai';

/**
 * The agents of an object whose keys are names. A name gives the token that a user-agent line with
 * it yields. Of the names that give the same token the first stays.
 */
function agentsByName(path: string, value: Record<string, unknown>): AgentsFile {
  const agents: KnownAgent[] = [];
  const tokens = new Set<string>();
  let withoutToken = 0;
  let repeated = 0;
  for (const [name, entry] of Object.entries(value)) {
    const place = `the entry ${JSON.stringify(name)}`;
    if (!isObject(entry)) throw refusal(path, `${place} is not an object`);
    const strings = stringsOf(path, place, entry, MEMBERS_BY_NAME);
    const token = tokenPrefix(name);
    const key = token.toLowerCase();
    if (token === '') withoutToken++;
    else if (tokens.has(key)) repeated++;
    else agents.push(agentByName(name, token, strings));
    tokens.add(key);
  }
  if (agents.length === 0) throw refusal(path, 'no name in it begins as a product token does');
  const parts: string[] = [];
  if (withoutToken > 0) parts.push(`without a product token (${withoutToken})`);
  if (repeated > 0) parts.push(`with the token of an earlier one (${repeated})`);
  const leftOut =
    parts.length === 0 ? undefined : `${path}: names were left out: ${parts.join(', ')}`;
  return { agents, leftOut };
}

function agentByName(
  name: string,
  token: string,
  members: Partial<Record<(typeof MEMBERS_BY_NAME)[number], string>>,
): KnownAgent {
  const { operator = '', respect = '', description = '' } = members;
  const [operatorName, home = ''] = linkOf(operator);
  const [respects, page = home] = linkOf(respect);
  const answer = respects.toLowerCase();
  return {
    token,
    ...(token === name ? {} : { published: name }),
    operator: operatorName,
    purpose: listOf(members.function ?? ''),
    description,
    obeys: answer === 'yes' || answer === 'no' ? answer : 'unknown',
    source: page,
    date: '',
  };
}

/** The text and the address of a link in Markdown, `[text](address)`; other texts as they are. */
function linkOf(text: string): readonly [text: string, address?: string] {
  const middle = text.indexOf('](');
  if (!text.startsWith('[') || !text.endsWith(')') || middle < 0) return [text];
  return [text.slice(1, middle), text.slice(middle + 2, -1)];
}

/** The name of the list for what an agent does, in the words of ai.robots.txt. */
function listOf(purpose: string): string {
  const lower = purpose.toLowerCase();
  const list = LISTS_BY_KIND.get(lower);
  return list ?? (lower.includes('train') ? 'ai-training' : OTHER_LIST);
}
