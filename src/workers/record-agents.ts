/** Adds the agents that records name to the registers of a thread: kernel/layout.ts, REGISTER_…. */

import { Buffer } from 'node:buffer';
import { SPACE } from '../base/ascii.js';
import {
  AGENT_BYTES,
  AGENT_CHAIN,
  AGENT_CHAIN_COUNT,
  AGENT_DISREGARDS_ANY,
  AGENT_NAME,
  CACHE_LINE,
  CHAIN_BYTES,
  CHAIN_TEXT,
  CHAIN_TOKEN,
  NAME_BYTES,
  NAME_LENGTH,
  NAME_NONE,
  NAME_OTHERS,
  NAME_TEXT,
  QUERY_AGENTS,
  QUERY_BYTES,
  QUERY_FLAGS,
  QUERY_GOOGLE,
  QUERY_NAME,
  QUERY_REGISTER,
  QUERY_TABLE,
  REGISTER_HASH,
  REGISTER_KEY,
  REGISTER_MOST_NAMES,
  REGISTER_MOST_VALUES,
  REGISTER_NAMES,
  REGISTER_NAMES_USED,
  REGISTER_QUERY,
  REGISTER_ROOM,
  REGISTER_ROOM_BYTES,
  REGISTER_SLOT_COUNT,
  REGISTER_SLOTS,
  REGISTER_VALUE,
  REGISTER_VALUE_END,
  VALUE_ASKED,
  VALUE_HASH,
  VALUE_LENGTH,
  VALUE_QUERY,
  VALUE_TEXT,
} from '../kernel/layout.js';
import { tokenOfLink } from '../kernel/query.js';
import type { Agent } from '../protocol/agent.js';
import { HeaderAgents } from '../protocol/header-agents.js';
import { HOST_KEY_BYTES, HOST_KEY_FACTOR } from '../table/format.js';
import { numberOfToken } from '../table/token-list.js';
import type { AgentsTask, ValueNotation } from './messages.js';

/** Opens the register of a query in a worker block, if records name their agents. */
export type RegisterIn = (
  memory: SharedArrayBuffer,
  query: number,
  worker: number,
) => AgentRegister | undefined;

/** The agent for which a record is judged that names no crawler. */
const NO_CRAWLER: Agent = { name: '*', chain: ['*'] };

const ALIGNMENT = 8;

/** The register of a worker in one memory. */
export class AgentRegister {
  readonly #task: AgentsTask;
  readonly #agents: HeaderAgents;
  readonly #bytes: Buffer;
  readonly #view: DataView;
  /** Address of the register. */
  readonly #register: number;
  readonly #slots: Uint32Array;
  /** The first free address of the room, and its end. */
  #free = 0;
  readonly #end: number;
  #values = 0;
  /** Queries by the query that they are copies of, and the name of their agent. */
  readonly #queries = new Map<string, number>();
  /** The indices of the names that have counters. */
  readonly #names = new Map<string, number>();

  /**
   * @param query address of the query
   * @param worker address of the worker block
   */
  constructor(memory: SharedArrayBuffer, query: number, worker: number, task: AgentsTask) {
    this.#task = task;
    this.#agents = new HeaderAgents(task.known);
    this.#bytes = Buffer.from(memory);
    this.#view = new DataView(memory);
    this.#register = worker + this.#word(query + QUERY_REGISTER);
    this.#slots = new Uint32Array(memory, this.#register + REGISTER_SLOTS, REGISTER_SLOT_COUNT);
    this.#end = this.#register + REGISTER_ROOM + REGISTER_ROOM_BYTES;
    const key = crypto.getRandomValues(new Uint8Array(HOST_KEY_BYTES));
    // An even factor would lose a bit of each sum.
    key[HOST_KEY_FACTOR] = (key[HOST_KEY_FACTOR] as number) | 1;
    this.#bytes.set(key, this.#register + REGISTER_KEY);
    this.#empty();
    // The counters of earlier inputs go on.
    const used = this.#word(this.#register + REGISTER_NAMES_USED);
    for (let index = 0; index < used; index++) {
      const at = this.#nameAt(index);
      const text = at + NAME_TEXT;
      const end = text + this.#word(at + NAME_LENGTH);
      this.#names.set(this.#bytes.toString('latin1', text, end), index);
    }
    if (used > 0) return;
    this.#addName(NO_CRAWLER.name);
    this.#addName('');
  }

  /** Adds the agent that the kernel has not found: after RUN_NEEDS_AGENT. */
  add(): void {
    const register = this.#register;
    const value = this.#word(register + REGISTER_VALUE);
    const bytes = this.#word(register + REGISTER_VALUE_END) - value;
    const hash = this.#word(register + REGISTER_HASH);
    const asked = this.#word(register + REGISTER_QUERY);
    const text = textOf(this.#bytes.subarray(value, value + bytes), this.#task.notation);
    const agent = this.#agents.agentOf(text) ?? NO_CRAWLER;
    const needed = this.#queryBytes(agent) + VALUE_TEXT + bytes + 2 * ALIGNMENT;
    if (this.#values === REGISTER_MOST_VALUES || needed > this.#end - this.#free) this.#empty();
    const query = this.#queryFor(agent, asked);
    const kept = this.#take(VALUE_TEXT + bytes);
    this.#set(kept + VALUE_HASH, hash);
    this.#set(kept + VALUE_ASKED, asked);
    this.#set(kept + VALUE_QUERY, query);
    this.#set(kept + VALUE_LENGTH, bytes);
    this.#bytes.copyWithin(kept + VALUE_TEXT, value, value + bytes);
    let slot = hash % REGISTER_SLOT_COUNT;
    while (this.#slots[slot] !== 0) slot = (slot + 1) % REGISTER_SLOT_COUNT;
    this.#slots[slot] = kept;
    this.#values++;
  }

  /** Forgets all values. No line is in flight whose query lies in the room. */
  #empty(): void {
    this.#slots.fill(0);
    this.#queries.clear();
    this.#values = 0;
    this.#free = Math.ceil((this.#register + REGISTER_ROOM) / CACHE_LINE) * CACHE_LINE;
  }

  /** The query for an agent: a copy of the one that asks the same table, with another agent. */
  #queryFor(agent: Agent, asked: number): number {
    const key = `${asked} ${agent.name}`;
    const found = this.#queries.get(key);
    if (found !== undefined) return found;
    const [link = ''] = agent.chain;
    const query = this.#take(QUERY_BYTES);
    this.#bytes.copyWithin(query, asked, asked + QUERY_BYTES);
    const own = this.#take(AGENT_BYTES);
    const agents = this.#word(asked + QUERY_AGENTS);
    this.#bytes.copyWithin(own, agents, agents + AGENT_BYTES);
    const chain = this.#take(CHAIN_BYTES);
    this.#set(query + QUERY_AGENTS, own);
    this.#set(query + QUERY_NAME, this.#nameAt(this.#nameOf(agent)));
    this.#set(own + AGENT_CHAIN, chain);
    this.#set(own + AGENT_CHAIN_COUNT, 1);
    this.#set(own + AGENT_DISREGARDS_ANY, agent.disregardsAny === true ? 1 : 0);
    this.#put(own + AGENT_NAME, agent.name);
    this.#put(chain + CHAIN_TEXT, link);
    const google = (this.#word(asked + QUERY_FLAGS) & QUERY_GOOGLE) !== 0;
    const token = tokenOfLink(link, google);
    const table = this.#word(asked + QUERY_TABLE);
    const number = token === undefined ? -1 : this.#tokenNumber(table, token);
    this.#set(chain + CHAIN_TOKEN, number);
    this.#queries.set(key, query);
    return query;
  }

  /** An upper bound of the bytes that `#queryFor` takes. */
  #queryBytes({ name, chain: [link = ''] }: Agent): number {
    return QUERY_BYTES + AGENT_BYTES + CHAIN_BYTES + name.length + link.length + 5 * ALIGNMENT;
  }

  /** The number of a token in a table. */
  #tokenNumber(table: number, token: string): number {
    return numberOfToken(
      {
        u32: (at) => this.#word(table + at),
        copy: (at, length) => this.#bytes.subarray(table + at, table + at + length),
      },
      token,
    );
  }

  // ---- Names

  /** The index of the counters for an agent. */
  #nameOf({ name }: Agent): number {
    if (name === NO_CRAWLER.name) return NAME_NONE;
    // Cut short, two names that begin alike would be counted as one.
    if (name.length > NAME_BYTES - NAME_TEXT) return NAME_OTHERS;
    return this.#names.get(name) ?? this.#addName(name);
  }

  #addName(name: string): number {
    const used = this.#word(this.#register + REGISTER_NAMES_USED);
    if (used === REGISTER_MOST_NAMES) return NAME_OTHERS;
    const at = this.#nameAt(used);
    this.#set(at + NAME_LENGTH, name.length);
    this.#bytes.write(name, at + NAME_TEXT, 'latin1');
    this.#set(this.#register + REGISTER_NAMES_USED, used + 1);
    this.#names.set(name, used);
    return used;
  }

  #nameAt(index: number): number {
    return this.#register + REGISTER_NAMES + index * NAME_BYTES;
  }

  // ---- Memory

  #take(bytes: number): number {
    const place = this.#free;
    this.#free += Math.ceil(bytes / ALIGNMENT) * ALIGNMENT;
    return place;
  }

  /** Writes a text to the room, and its address and length at `pair`. */
  #put(pair: number, text: string): void {
    const place = this.#take(text.length);
    this.#bytes.write(text, place, 'latin1');
    this.#set(pair, place);
    this.#set(pair + 4, text.length);
  }

  #word(address: number): number {
    return this.#view.getUint32(address, true);
  }

  #set(address: number, value: number): void {
    this.#view.setInt32(address, value, true);
  }
}

/** The text of a value as it stands in a line. The value may be cut off anywhere. */
function textOf(value: Buffer, notation: ValueNotation): string {
  // The decoder takes no shared memory.
  const bytes = Buffer.from(value);
  if (notation === 'log') return withoutEscapes(bytes.toString());
  // Without --strict, the kernel accepts control characters in strings, and JSON has none.
  for (let at = 0; notation === 'json' && at < bytes.length; at++) {
    if ((bytes[at] as number) < SPACE) bytes[at] = SPACE;
  }
  const text = bytes.toString();
  // In rows two quotes stand for one. No name has any.
  if (notation !== 'json' || !text.includes('\\')) return text;
  return unescaped(text) ?? unescaped(text.slice(0, text.lastIndexOf('\\'))) ?? text;
}

/** What a character after a backslash stands for in a log. */
const ESCAPED: ReadonlyMap<string, string> = new Map([
  ['b', '\b'],
  ['f', '\f'],
  ['n', '\n'],
  ['r', '\r'],
  ['t', '\t'],
  ['v', '\v'],
  ['"', '"'],
  ['\\', '\\'],
]);

/** The text of a value in a log without its escapes, with a character for each byte as `\xhh`. */
function withoutEscapes(text: string): string {
  let plain = '';
  let copied = 0;
  for (let at = text.indexOf('\\'); at >= 0; at = text.indexOf('\\', copied)) {
    plain += text.slice(copied, at);
    const digits = text.slice(at + 2, at + 4);
    const code = text[at + 1] === 'x' && digits.length === 2 ? Number(`0x${digits}`) : Number.NaN;
    const meant = ESCAPED.get(text[at + 1] ?? '');
    plain += Number.isNaN(code) ? (meant ?? '\\') : String.fromCharCode(code);
    copied = at + (Number.isNaN(code) ? (meant === undefined ? 1 : 2) : 4);
  }
  return plain + text.slice(copied);
}

/** The text of the inside of a JSON string; `undefined` if it has an escape that JSON has not. */
function unescaped(inside: string): string | undefined {
  try {
    return JSON.parse(`"${inside}"`) as string;
  } catch {
    return undefined;
  }
}
