import { Buffer } from 'node:buffer';
import { RobotsFilterError } from '../base/errors.js';
import {
  Arena,
  instantiateKernel,
  type Kernel,
  kernelModule,
  type Region,
  scratchBytes,
} from '../kernel/kernel.js';
import {
  MARGIN,
  OFFSET_BYTES,
  RUN_DONE,
  RUN_OUTPUT_FULL,
  TASK_BYTES,
  TASK_INPUT,
  TASK_OUTPUT,
} from '../kernel/layout.js';
import {
  DEFAULT_SETTINGS,
  encodeShardQueries,
  type Query,
  type QuerySettings,
  type QueryTable,
  shardQueryBytes,
  writeTask,
} from '../kernel/query.js';
import { type Agent, parseAgent, refuseSameAgents } from '../protocol/agent.js';
import { knownAgents } from '../protocol/known-agents.js';
import { describeMisspeltAgents, type NamedTokens } from '../protocol/unnamed-agents.js';
import type { Profile } from '../protocol/verdict.js';
import { TableView } from '../view/table-view.js';
import {
  ANSWER_BYTES,
  ANSWER_KIND,
  ANSWER_LENGTH,
  type ColumnMemory,
  columnBytes,
  KIND_REFUSAL,
  KIND_VERDICTS,
  KIND_WARNING,
  MAX_URL_BYTES,
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
  readonly profile: Profile;
  /** The agents of a request that names none. */
  readonly agents: readonly string[];
}

/** Maximum number of queries that are kept. One more query releases all others. */
const MAX_QUERIES = 64;
/** Bytes of output that are emptied at a time, beyond what one URL may need. */
const OUTPUT_BYTES = 256 * 1024;
/** First memory for a request; it grows with the requests, and is kept. */
const USUAL_BYTES = 2 * 1024 * 1024;

/** The query for the agents of requests, in memory. */
interface AskedQuery {
  readonly query: Query;
  readonly regions: readonly Region[];
  readonly worker: number;
  readonly output: number;
  readonly outputBytes: number;
  /** The frame of a warning about the agents, if there is one. */
  readonly warning: Buffer | undefined;
}

/**
 * Judges columns of URLs on one thread. The bytes of a request are read into the memory of the
 * kernel, which reads them there.
 */
export class ColumnJudge implements ColumnMemory {
  readonly #served: ServedTable;
  readonly #arena: Arena;
  readonly #kernel: Kernel;
  readonly #tables: readonly QueryTable[];
  /** The view of the table, or of its first shard. */
  readonly #view: TableView;
  /** The product tokens of all parts. */
  readonly #named: NamedTokens;
  readonly #queries = new Map<string, AskedQuery>();
  readonly #task: Uint32Array;
  readonly #taskAddress: number;
  #room: Region;

  constructor(served: ServedTable) {
    const { memory } = served;
    const views = served.tables.map(
      ({ table, bytes }) => new TableView(new Uint8Array(memory.buffer, table, bytes)),
    );
    this.#served = served;
    this.#named = {
      hasToken: (token) => views.some((view) => view.hasToken(token)),
      *tokens() {
        for (const view of views) yield* view.tokens();
      },
    };
    this.#arena = new Arena(memory);
    this.#kernel = instantiateKernel(kernelModule(), memory);
    this.#view = views[0] as TableView;
    this.#tables = served.tables.map(({ table }, shard) => ({
      table,
      tokenNumber: (token) => views[shard]?.tokenNumber(token) ?? -1,
    }));
    this.#taskAddress = this.#arena.take(TASK_BYTES).address;
    this.#task = new Uint32Array(memory.buffer, this.#taskAddress, TASK_BYTES / 4);
    this.#room = this.#arena.take(USUAL_BYTES);
  }

  columnMemory(count: number, urlBytes: number): Uint8Array {
    const bytes = columnBytes(count, urlBytes);
    const needed = scratchAt(bytes) + scratchBytes(urlBytes) + MARGIN;
    if (needed > this.#room.bytes) {
      this.#arena.give(this.#room);
      this.#room = this.#arena.take(needed);
    }
    return new Uint8Array(this.#arena.memory.buffer, this.#room.address + MARGIN, bytes);
  }

  /**
   * Judges the URLs that lie in the last `columnMemory`.
   *
   * @returns the frame of the answer
   * @throws RobotsFilterError `usage` if the agents are none, or too many for so many URLs
   */
  judge(request: Request): Buffer {
    const asked = this.#ask(request);
    const { agents } = asked.query;
    if (request.count * agents > MAX_VERDICTS) {
      throw new RobotsFilterError(
        'usage',
        `${request.count} URLs for ${agents} agents are more than ${MAX_VERDICTS} verdicts. Send fewer URLs at a time`,
      );
    }
    const answer =
      this.#served.addedShards === undefined
        ? new Answer(request.count, agents, request.explain)
        : new ShardAnswer();
    if (request.count > 0) this.#run(request, asked, answer);
    const frame = answer.frame();
    return asked.warning === undefined ? frame : Buffer.concat([asked.warning, frame]);
  }

  #run({ count, urlBytes }: Request, asked: AskedQuery, answer: Pick<Answer, 'add'>): void {
    const { query, worker, output, outputBytes } = asked;
    const input = this.#room.address + MARGIN;
    const scratch = this.#room.address + scratchAt(columnBytes(count, urlBytes));
    const task = this.#task;
    writeTask(
      task,
      {
        query: query.address,
        worker,
        scratch,
        scratchEnd: scratch + scratchBytes(urlBytes),
        input,
        inputEnd: input + OFFSET_BYTES * count,
        output,
        outputEnd: output + outputBytes,
      },
      0,
    );
    for (;;) {
      const before = task[TASK_INPUT / 4];
      const ended = this.#kernel.run(this.#taskAddress);
      const end = task[TASK_OUTPUT / 4] as number;
      answer.add(Buffer.from(this.#arena.memory.buffer, output, end - output));
      if (ended === RUN_DONE) return;
      if (ended !== RUN_OUTPUT_FULL || task[TASK_INPUT / 4] === before) {
        throw new Error(`the kernel stopped in a column of URLs (result ${ended})`);
      }
      task[TASK_OUTPUT / 4] = output;
    }
  }

  /** The query for a request's agents; a query is encoded once. */
  #ask({ agents, explain, warn }: Request): AskedQuery {
    const key = `${explain ? 'explain' : 'judge'}${warn ? '!' : ''} ${agents}`;
    const known = this.#queries.get(key);
    if (known !== undefined) return known;
    const { addedShards } = this.#served;
    const settings: QuerySettings = {
      ...DEFAULT_SETTINGS,
      google: this.#served.profile === 'google',
      agents: this.#parseAgents(agents),
      format: 'offsets',
      conversion: 'outcomes',
      explain,
      maxLineBytes: MAX_URL_BYTES,
      shards: addedShards ?? (this.#tables.length > 1 ? this.#tables.length : 0),
      addsShard: addedShards !== undefined,
    };
    if (this.#queries.size === MAX_QUERIES) {
      for (const { regions } of this.#queries.values()) {
        for (const region of regions) this.#arena.give(region);
      }
      this.#queries.clear();
    }
    const warned = warn && addedShards === undefined ? this.#warning(settings.agents) : undefined;
    const asked = this.#encode(settings, warned);
    this.#queries.set(key, asked);
    return asked;
  }

  /** The frame of a warning, if one of the agents likely misspells another. */
  #warning(agents: readonly Agent[]): Buffer | undefined {
    if (this.#view.isReduced) return undefined;
    const text = describeMisspeltAgents(agents, this.#named, knownAgents(), 'the table');
    return text === undefined ? undefined : warning(text);
  }

  #encode(settings: QuerySettings, warned: Buffer | undefined): AskedQuery {
    const { memory } = this.#served;
    const block = this.#arena.take(shardQueryBytes(settings, this.#tables.length));
    const { query, bytes } = encodeShardQueries(settings, block.address, this.#tables);
    new Uint8Array(memory.buffer).set(bytes, block.address);
    const worker = this.#arena.take(query.workerBytes);
    new Uint8Array(memory.buffer, worker.address, query.workerBytes).fill(0);
    const outputBytes = OUTPUT_BYTES + query.lineFactor * OFFSET_BYTES + query.lineOverhead;
    const output = this.#arena.take(outputBytes + 2 * MARGIN);
    return {
      query,
      regions: [block, worker, output],
      worker: worker.address,
      output: output.address + MARGIN,
      outputBytes,
      warning: warned,
    };
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
}

/** Where scratch memory begins after a column of this many bytes, which a margin precedes. */
function scratchAt(bytes: number): number {
  return (MARGIN + bytes + 2 * MARGIN) & -MARGIN;
}

/** @throws RobotsFilterError `usage` unless the JSON is an array */
function parseList(json: string): readonly unknown[] {
  let list: unknown;
  try {
    list = JSON.parse(json);
  } catch {
    list = undefined;
  }
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
  return messageFrame(KIND_REFUSAL, message);
}

/** A frame that precedes the answer to a request. */
function warning(message: string): Buffer {
  return messageFrame(KIND_WARNING, message);
}

function messageFrame(kind: number, message: string): Buffer {
  const text = Buffer.from(message);
  const frame = Buffer.alloc(ANSWER_BYTES + text.length);
  frame.writeUInt32LE(kind, ANSWER_KIND);
  frame.writeUInt32LE(text.length, ANSWER_LENGTH);
  frame.set(text, ANSWER_BYTES);
  return frame;
}

/**
 * The answer to one request. It takes the outcomes that the kernel wrote (CONVERT_OUTCOMES), URL by
 * URL, and puts them into columns, one for each agent.
 */
class Answer {
  readonly #count: number;
  readonly #agents: number;
  /** The frame's header and its verdicts. */
  readonly #beginning: Buffer;
  readonly #verdicts: Buffer;
  readonly #explanation: Explanation | undefined;
  #url = 0;

  constructor(count: number, agents: number, explain: boolean) {
    this.#count = count;
    this.#agents = agents;
    this.#beginning = Buffer.alloc(ANSWER_BYTES + count * agents);
    this.#verdicts = this.#beginning.subarray(ANSWER_BYTES);
    this.#explanation = explain ? new Explanation(count * agents) : undefined;
  }

  /** Adds what the kernel wrote: the outcomes of whole URLs. */
  add(outcomes: Buffer): void {
    if (this.#explanation === undefined) this.#addVerdicts(outcomes);
    else this.#addExplained(outcomes, this.#explanation);
  }

  /** The frame. All URLs have been added. */
  frame(): Buffer {
    if (this.#url !== this.#count) throw new Error(`${this.#url} of ${this.#count} URLs judged`);
    const columns = this.#explanation?.columns() ?? [];
    const bytes = columns.reduce((sum, { length }) => sum + length, this.#verdicts.length);
    this.#beginning.writeUInt32LE(KIND_VERDICTS, ANSWER_KIND);
    this.#beginning.writeUInt32LE(bytes, ANSWER_LENGTH);
    if (columns.length === 0) return this.#beginning;
    return Buffer.concat([this.#beginning, ...columns], ANSWER_BYTES + bytes);
  }

  #addVerdicts(outcomes: Buffer): void {
    const verdicts = this.#verdicts;
    const agents = this.#agents;
    const count = this.#count;
    let url = this.#url;
    for (let at = 0; at < outcomes.length; url++) {
      for (let agent = 0; agent < agents; agent++) {
        verdicts[agent * count + url] = (outcomes[at++] as number) >> 4;
      }
    }
    this.#url = url;
  }

  #addExplained(outcomes: Buffer, explanation: Explanation): void {
    for (let at = 0; at < outcomes.length; this.#url++) {
      for (let agent = 0; agent < this.#agents; agent++) {
        const place = agent * this.#count + this.#url;
        this.#verdicts[place] = (outcomes[at] as number) >> 4;
        at = explanation.add(place, outcomes, at);
      }
    }
  }
}

/** The answer with the shards of hosts: what the kernel wrote, a word for each URL. */
class ShardAnswer {
  readonly #parts: Buffer[] = [];

  /** Adds what the kernel wrote, which it may overwrite afterwards. */
  add(shards: Buffer): void {
    this.#parts.push(Buffer.from(shards));
  }

  frame(): Buffer {
    const bytes = this.#parts.reduce((sum, { length }) => sum + length, 0);
    const header = Buffer.alloc(ANSWER_BYTES);
    header.writeUInt32LE(KIND_VERDICTS, ANSWER_KIND);
    header.writeUInt32LE(bytes, ANSWER_LENGTH);
    return Buffer.concat([header, ...this.#parts], ANSWER_BYTES + bytes);
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
    this.#reasons[place] = (outcomes[at] as number) & 15;
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
