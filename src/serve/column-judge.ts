/** Judges a column of URLs for `serve`. */

import { Buffer } from 'node:buffer';
import { RobotsFilterError } from '../base/errors.js';
import { isObject } from '../base/maps.js';
import { Arena } from '../kernel/kernel.js';
import { REASON_BITS, REASON_MASK } from '../kernel/layout.js';
import { checkQuestions } from '../kernel/query-settings.js';
import { type Asked, type JudgeTarget, Session } from '../kernel/session.js';
import { type Agent, parseAgent, refuseSameAgents } from '../protocol/agent.js';
import { knownAgents } from '../protocol/known-agents.js';
import { describeMisspeltAgents } from '../protocol/unnamed-agents.js';
import { parseUses, type Use } from '../protocol/uses.js';
import type { Profile } from '../protocol/verdict.js';
import { ShardView } from '../view/shard-view.js';
import { TableView } from '../view/table-view.js';
import {
  ANSWER_BYTES,
  ANSWER_KIND,
  ANSWER_LENGTH,
  columnBytes,
  KIND_REFUSAL,
  KIND_VERDICTS,
  KIND_WARNING,
  MAX_VERDICTS,
  type Request,
} from './protocol.js';

/** A table in shared memory, as a thread needs it. */
export interface ServedTable {
  readonly memory: WebAssembly.Memory;
  /** The addresses of the table or its shards, and their lengths in bytes. */
  readonly tables: readonly { readonly table: number; readonly bytes: number }[];
  /** Number of shards, if the answers are the shards of hosts and not verdicts. */
  readonly addedShards: number | undefined;
  /** Whether all shards are in memory. */
  readonly isWhole: boolean;
  readonly histories: boolean;
  /** The time for which the table answers, in seconds since 1970; the newest if undefined. */
  readonly time: number | undefined;
  readonly profile: Profile;
  /** The agents of a request that names none. */
  readonly agents: readonly string[];
}

/** Bytes of a request for which there is memory from the beginning; it grows, and is kept. */
const USUAL_BYTES = 400 * 1024;

/**
 * Judges columns of URLs on one thread. The bytes of a request are read into the memory of the
 * kernel, which reads them there.
 */
export class ColumnJudge {
  readonly #served: ServedTable;
  readonly #session: Session;
  readonly #target: JudgeTarget;
  readonly #view: TableView;
  /** The frames of warnings about queries; undefined where there is no reason. */
  readonly #warnings = new WeakMap<Asked, Buffer | undefined>();

  constructor(served: ServedTable) {
    const { memory } = served;
    const tables = served.tables.map(({ table, bytes }) => {
      const view = new ShardView(new Uint8Array(memory.buffer, table, bytes));
      return { table, view, tokenNumber: (token: string) => view.tokenNumber(token) };
    });
    const [first] = tables;
    if (first === undefined) throw new Error('no table is served');
    this.#served = served;
    this.#session = new Session(new Arena(memory), USUAL_BYTES);
    this.#view = new TableView(tables.map(({ view }) => view));
    this.#target = {
      profile: served.profile,
      table: first.table,
      anyHost: 0,
      tokenNumber: first.tokenNumber,
      shards: tables,
      addedShards: served.addedShards,
      at: served.time,
      checkAgent: (agent) => this.#view.checkAgent(agent),
    };
  }

  /** The memory for the times, if URLs have them, then the offsets, and the URLs after them. */
  columnMemory(count: number, urlBytes: number, timed: boolean): Uint8Array {
    const bytes = columnBytes(count, urlBytes, timed);
    return this.#session.input(bytes).subarray(0, bytes);
  }

  /**
   * Judges the URLs that lie in the last `columnMemory`.
   *
   * @returns the frame of the answer
   * @throws RobotsFilterError `usage` if the agents or uses are none, or too many for so many URLs,
   *   or the table has no histories, or one time, and the URLs have times; if there is no time from
   *   which an age is counted; or if the table has no signals, and uses are asked about
   */
  judge({ agents: names, uses, explain, warn, timed, maxAge, count }: Request): Buffer {
    if (timed) this.#checkTimes();
    if (maxAge !== undefined) this.#checkAge(timed);
    const asks = (): AgentsAndUses => {
      const asked = {
        agents: this.#parseAgents(names),
        uses: uses === undefined ? [] : this.#parseUses(uses),
      };
      // Before there is an object for each agent and use: a short request names 10,000 of both.
      checkQuestions(asked);
      return asked;
    };
    const how = { explain, timed, maxAge };
    // Texts that are no JSON must not have the key of others, either.
    const key = uses === undefined ? `agents ${names}` : `${names.length} ${names}${uses}`;
    const asked = this.#session.askColumn(key, asks, how, this.#target);
    const { outcomes } = asked.query;
    if (count * outcomes > MAX_VERDICTS) {
      const each =
        uses === undefined ? `for ${outcomes} agents` : `with ${outcomes} answers for each`;
      throw new RobotsFilterError(
        'usage',
        `${count} URLs ${each} are more than ${MAX_VERDICTS} verdicts. Send fewer URLs at a time`,
      );
    }
    const answer = frame(KIND_VERDICTS, this.#columns(asked, count, explain));
    const warned = warn ? this.#warning(asked, uses) : undefined;
    return warned === undefined ? answer : Buffer.concat([warned, answer]);
  }

  /** @throws RobotsFilterError `usage` if the table does not answer for the times of URLs */
  #checkTimes(): void {
    const { time, addedShards, histories } = this.#served;
    if (histories && time === undefined && addedShards === undefined) return;
    const remedy = histories
      ? 'it was opened for one time. Open it without that'
      : 'it has no histories. Compile it with --history';
    throw new RobotsFilterError('usage', `the URLs have times, and the table has not: ${remedy}`);
  }

  /** @throws RobotsFilterError `usage` if there is no time from which an age is counted */
  #checkAge(timed: boolean): void {
    if (timed || this.#served.time !== undefined) return;
    throw new RobotsFilterError(
      'usage',
      'the age of robots.txt files needs a time from which it is counted. Send the time of each URL, or open the table for one time',
    );
  }

  /** The columns of the answer; or the shards of hosts, a word for each URL. */
  #columns(asked: Asked, count: number, explain: boolean): readonly Uint8Array[] {
    if (this.#served.addedShards !== undefined) {
      const shards: Buffer[] = [];
      this.#session.judgeColumn(asked, count, (some) => shards.push(Buffer.from(some)));
      return shards;
    }
    const answer = new Answer(count, asked.query.outcomes, explain);
    this.#session.judgeColumn(asked, count, (outcomes) => answer.add(outcomes));
    return answer.columns();
  }

  /**
   * The frames of warnings: that one of the agents likely misspells another, and that no robots.txt
   * speaks of a use.
   */
  #warning(asked: Asked, uses: string | undefined): Buffer | undefined {
    if (this.#served.addedShards !== undefined) return undefined;
    if (!this.#warnings.has(asked)) {
      const view = this.#view;
      const texts = [
        view.isReduced
          ? undefined
          : describeMisspeltAgents(asked.agents, view, knownAgents(), 'the table'),
        uses === undefined || !this.#served.isWhole
          ? []
          : view.describeUnstated(this.#parseUses(uses), 'the table'),
      ]
        .flat()
        .filter((text) => text !== undefined);
      const frames = texts.map((text) => frame(KIND_WARNING, [Buffer.from(text)]));
      this.#warnings.set(asked, frames.length === 0 ? undefined : Buffer.concat(frames));
    }
    return this.#warnings.get(asked);
  }

  /** @throws RobotsFilterError `usage` */
  #parseAgents(json: string): Agent[] {
    const list = parseList(json);
    const names = list.length === 0 ? this.#served.agents : list;
    const agents = names.map((name) => {
      const agent = parseAgent(name as string, this.#served.profile);
      this.#view.checkAgent(agent);
      return agent;
    });
    refuseSameAgents(agents);
    return agents;
  }

  /** @throws RobotsFilterError `usage` */
  #parseUses(json: string): Use[] {
    if (this.#served.addedShards !== undefined) {
      throw new RobotsFilterError('usage', `shards have no uses. Leave the flag for uses out`);
    }
    const { uses: names, policyTokens } = parseNamedUses(json);
    const uses = parseUses(names, policyTokens, USE_OPTIONS);
    this.#view.checkUses(uses);
    return uses;
  }
}

type AgentsAndUses = { readonly agents: readonly Agent[]; readonly uses: readonly Use[] };

/** How messages name a use and a policy token of a request. */
const USE_OPTIONS = { use: 'the use', policyToken: 'the policy token of' };

/** The JSON object of a request with uses. */
interface NamedUses {
  readonly uses: readonly string[];
  readonly policyTokens: Readonly<Record<string, string>>;
}

/** @throws RobotsFilterError `usage` unless the JSON is such an object, with one use at least */
function parseNamedUses(json: string): NamedUses {
  const wrong = (what: string): RobotsFilterError =>
    new RobotsFilterError(
      'usage',
      `${what}. Send an object such as {"uses":["train"],"policyTokens":{"train":"TOKEN"}}; policyTokens may be left out`,
    );
  const named = parsed(json);
  if (!isObject(named)) throw wrong('the uses of a request are no JSON object');
  const { uses, policyTokens = {}, ...others } = named;
  const [other] = Object.keys(others);
  if (other !== undefined) {
    throw wrong(`the uses of a request have the unknown member ${JSON.stringify(other)}`);
  }
  if (!Array.isArray(uses) || uses.length === 0 || !uses.every(isText)) {
    throw wrong('"uses" of a request is no array of one text at least');
  }
  if (!isObject(policyTokens) || !Object.values(policyTokens).every(isText)) {
    throw wrong('"policyTokens" of a request is no object of texts');
  }
  return { uses, policyTokens: policyTokens as NamedUses['policyTokens'] };
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

/** The value of a JSON text; `undefined` for a text that is no JSON. */
function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return undefined;
  }
}

/** @throws RobotsFilterError `usage` unless the JSON is an array */
function parseList(json: string): readonly unknown[] {
  const list = parsed(json);
  if (Array.isArray(list)) return list;
  throw new RobotsFilterError(
    'usage',
    'the agents of a request are no JSON array. Send an array of product tokens, such as ["GPTBot"]',
  );
}

const WORD = 4;
/** A rule's line, and the length of its text: see CONVERT_PARQUET in kernel/layout.ts. */
const LINE_BYTES = 4;
const LENGTH_BYTES = 2;
/** The place of the text of no rule. */
const NO_RULE = -1;

/** A frame that refuses a request. */
export function refusal(message: string): Buffer {
  return frame(KIND_REFUSAL, [Buffer.from(message)]);
}

function frame(kind: number, parts: readonly Uint8Array[]): Buffer {
  const bytes = parts.reduce((sum, { length }) => sum + length, 0);
  const header = Buffer.alloc(ANSWER_BYTES);
  header.writeUInt32LE(kind, ANSWER_KIND);
  header.writeUInt32LE(bytes, ANSWER_LENGTH);
  return Buffer.concat([header, ...parts], ANSWER_BYTES + bytes);
}

/**
 * The answer to one request. It takes the outcomes that the kernel wrote (CONVERT_OUTCOMES), URL by
 * URL, and puts them into columns: one for the verdicts of each agent, then one for each answer
 * about a use.
 */
class Answer {
  readonly #count: number;
  /** Outcomes of each URL. */
  readonly #outcomes: number;
  readonly #verdicts: Uint8Array;
  readonly #explanation: Explanation | undefined;
  #url = 0;

  constructor(count: number, outcomes: number, explain: boolean) {
    this.#count = count;
    this.#outcomes = outcomes;
    this.#verdicts = new Uint8Array(count * outcomes);
    this.#explanation = explain ? new Explanation(count * outcomes) : undefined;
  }

  /** Adds what the kernel wrote: the outcomes of whole URLs. */
  add(outcomes: Buffer): void {
    if (this.#explanation === undefined) this.#addVerdicts(outcomes);
    else this.#addExplained(outcomes, this.#explanation);
  }

  /** The columns, once all URLs have been added. */
  columns(): readonly Uint8Array[] {
    if (this.#url !== this.#count) throw new Error(`${this.#url} of ${this.#count} URLs judged`);
    return [this.#verdicts, ...(this.#explanation?.columns() ?? [])];
  }

  #addVerdicts(outcomes: Buffer): void {
    const verdicts = this.#verdicts;
    const ofUrl = this.#outcomes;
    const count = this.#count;
    let url = this.#url;
    for (let at = 0; at < outcomes.length; url++) {
      for (let column = 0; column < ofUrl; column++) {
        verdicts[column * count + url] = (outcomes[at++] as number) >> REASON_BITS;
      }
    }
    this.#url = url;
  }

  #addExplained(outcomes: Buffer, explanation: Explanation): void {
    for (let at = 0; at < outcomes.length; this.#url++) {
      for (let column = 0; column < this.#outcomes; column++) {
        const place = column * this.#count + this.#url;
        this.#verdicts[place] = (outcomes[at] as number) >> REASON_BITS;
        at = explanation.add(place, outcomes, at);
      }
    }
  }
}

/** Reasons and rules. */
class Explanation {
  readonly #reasons: Uint8Array;
  readonly #lines: Uint32Array;
  readonly #rules: Int32Array;
  /** The place of each text among `#texts`, by its bytes as the kernel wrote them. */
  readonly #places = new Map<string, number>();
  readonly #texts: Buffer[] = [];

  constructor(verdicts: number) {
    this.#reasons = new Uint8Array(verdicts);
    this.#lines = new Uint32Array(verdicts);
    this.#rules = new Int32Array(verdicts).fill(NO_RULE);
  }

  /** Takes the outcome at `at`; returns where it ends. */
  add(place: number, outcomes: Buffer, at: number): number {
    this.#reasons[place] = (outcomes[at] as number) & REASON_MASK;
    const line = outcomes.readUInt32LE(at + 1);
    const start = at + 1 + LINE_BYTES + LENGTH_BYTES;
    const end = start + outcomes.readUInt16LE(at + 1 + LINE_BYTES);
    if (end > start) {
      this.#lines[place] = line;
      this.#rules[place] = this.#placeOf(outcomes.toString('latin1', start, end));
    }
    return end;
  }

  /** The columns after the verdicts, each word at a multiple of its size. */
  columns(): Uint8Array[] {
    const verdicts = this.#reasons.length;
    const padding = new Uint8Array(-(2 * verdicts) & (WORD - 1));
    const ends = new Uint32Array(2 + this.#texts.length);
    ends[0] = this.#texts.length;
    let end = 0;
    this.#texts.forEach((text, index) => {
      end += text.length;
      ends[2 + index] = end;
    });
    return [
      this.#reasons,
      padding,
      bytesOf(this.#lines),
      bytesOf(this.#rules),
      bytesOf(ends),
      ...this.#texts,
    ];
  }

  /** @param escaped the bytes of the inside of a JSON string, as characters */
  #placeOf(escaped: string): number {
    const known = this.#places.get(escaped);
    if (known !== undefined) return known;
    const text = Buffer.from(escaped, 'latin1').toString();
    const plain = text.includes('\\') ? (JSON.parse(`"${text}"`) as string) : text;
    const place = this.#texts.push(Buffer.from(plain)) - 1;
    this.#places.set(escaped, place);
    return place;
  }
}

function bytesOf(words: Uint32Array | Int32Array): Uint8Array {
  return new Uint8Array(words.buffer, words.byteOffset, words.byteLength);
}
