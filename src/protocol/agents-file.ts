import { RobotsFilterError } from '../base/errors.js';
import { readWhole } from '../files/openings.js';
import { describeSystemError } from '../files/system-error.js';
import { isProductToken } from './agent.js';
import { ALL_KNOWN, type KnownAgent } from './known-agent.js';

/** Maximum length of a file of agents, in bytes. */
const MAX_FILE_BYTES = 16 * 1024 ** 2;

const EXAMPLE = 'Start from the built-in lists: robots-filter agents --json > agents.json';

/** The members that may be left out, and must be strings. */
const OPTIONAL_MEMBERS = ['published', 'operator', 'description', 'source', 'date'] as const;

/**
 * Reads agents that replace the built-in lists: a JSON array of objects with the members of
 * `KnownAgent`, of which `token` and `purpose` are required.
 *
 * @throws RobotsFilterError `input`, with the entry and what is wrong with it
 */
export async function readAgentsFile(path: string): Promise<readonly KnownAgent[]> {
  let value: unknown;
  const text = await textOf(path);
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw refusal(path, `not JSON (${cause instanceof Error ? cause.message : String(cause)})`);
  }
  if (!Array.isArray(value) || value.length === 0) {
    throw refusal(path, 'not a JSON array of agents');
  }
  const tokens = new Set<string>();
  return value.map((entry: unknown, index) => {
    const agent = agentOf(path, entry, index + 1);
    const token = agent.token.toLowerCase();
    if (tokens.has(token)) throw refusal(path, `entry ${index + 1} repeats ${agent.token}`);
    tokens.add(token);
    return agent;
  });
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

/** @param number position of the entry in the file, from 1 */
function agentOf(path: string, entry: unknown, number: number): KnownAgent {
  if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) {
    throw refusal(path, `entry ${number} is not an object`);
  }
  const members: Record<string, unknown> = { ...entry };
  const { token, purpose } = members;
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
  const rest: Partial<Record<(typeof OPTIONAL_MEMBERS)[number], string>> = {};
  for (const name of OPTIONAL_MEMBERS) {
    const member = members[name];
    if (member === undefined) continue;
    if (typeof member !== 'string') {
      throw refusal(path, `entry ${number} (${token}) has a "${name}" that is not a string`);
    }
    rest[name] = member;
  }
  return { operator: '', description: '', source: '', date: '', ...rest, token, purpose };
}

/** Whether a text can follow `@`: a product token other than `*` and the name of all lists. */
function isListName(text: string): boolean {
  return text !== '*' && text !== ALL_KNOWN && isProductToken(text);
}
