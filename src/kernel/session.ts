/**
 * One session with the kernel: memory, queries and scratch, and verdicts on one URL, a list, a
 * column.
 */

import { Buffer } from 'node:buffer';
import { checkUrl } from '../base/arguments.js';
import { CR, LOWER_A, UPPER_A } from '../base/ascii.js';
import { RobotsFilterError } from '../base/errors.js';
import { type Agent, parseAgent } from '../protocol/agent.js';
import {
  ALL_REASONS,
  USE_WORDS,
  type Use,
  type UseAnswer,
  type UseReason,
} from '../protocol/uses.js';
import { type Profile, REASONS, type Reason, VERDICTS, type Verdict } from '../protocol/verdict.js';
import { HEADER_BYTES, SOURCE_LIMIT, TEXT_LIMIT } from '../table/format.js';
import {
  Arena,
  createMemory,
  instantiateKernel,
  type Kernel,
  kernelModule,
  PAGE_BYTES,
  type Region,
  scratchBytes,
} from './kernel.js';
import {
  AGENT_BYTES,
  AGENT_CHAIN,
  CHAIN_BYTES,
  CHAIN_TOKEN,
  GROUPS_LINK,
  LATEST,
  LINE_BYTES,
  LINE_OUTCOME,
  LINE_QUERY,
  LINE_URL,
  LINE_URL_END,
  MARGIN,
  OFFSET_BYTES,
  QUERY_AGENTS,
  QUERY_ANY_HOST,
  QUERY_AT,
  QUERY_COLUMN,
  QUERY_ROW_FIELDS,
  QUERY_TABLE,
  QUERY_TIMES,
  REASON_BITS,
  REASON_MASK,
  RESULT_BYTES,
  RESULT_GROUPS,
  RESULT_LINE,
  RESULT_OUTCOME,
  RESULT_RANK,
  RESULT_SOURCE,
  RUN_DONE,
  RUN_OUTPUT_FULL,
  TASK_BYTES,
  TIME_BYTES,
  WORKER_LINES,
  WORKER_RESULTS,
} from './layout.js';
import {
  encodeShardQueries,
  type Query,
  type QueryTable,
  shardQueryBytes,
  tokenOfLink,
} from './query.js';
import { DEFAULT_SETTINGS, type QuerySettings } from './query-settings.js';
import { KernelTask } from './task.js';

/** The rule that decided. */
export interface DecidingRule {
  /** Line number in robots.txt, from 1. */
  readonly line: number;
  /** `Disallow: /private/`: the pattern as written, truncated to 1,000 bytes. */
  readonly text: string;
  /** The product token of the rule's group: the agent's token that the group names, or `*`. */
  readonly agent: string;
  /** The source of the robots.txt; present only for a table. */
  readonly source?: string;
}

/** A rule decided. */
export interface RuleJudgement {
  readonly verdict: 'allow' | 'deny';
  readonly reason: 'rule';
  readonly rule: DecidingRule;
}

/** No rule decided. */
export interface OtherJudgement {
  readonly verdict: Verdict;
  readonly reason: Exclude<Reason, 'rule'>;
  readonly rule?: undefined;
}

/** A verdict and its reason. Only the reason `rule` comes with a rule. */
export type Judgement = RuleJudgement | OtherJudgement;

/** What is said about a use of a URL's content. */
export interface UseJudgement {
  /** `undefined` where the agent may not fetch the URL. */
  readonly answer: UseAnswer | undefined;
  /** `over-budget` refuses; the reasons of URLs that are `invalid` have no answer. */
  readonly reason: UseReason | Reason;
  /**
   * The signal that decided: its line, and what it says about the use, as
   * `Content-Usage: /art train-ai=n`; for a policy token the rule. `undefined` if none did.
   */
  readonly signal?: DecidingRule | undefined;
}

/** The rules by which URLs are judged: those of a table, or of one robots.txt. */
export interface JudgeTarget {
  readonly profile: Profile;
  /** Address of the table. */
  readonly table: number;
  /** Offset of the robots record that applies to every host, 0 to look hosts up. */
  readonly anyHost: number;
  /** Number of a lower-case product token in the table, -1 if no robots.txt names it. */
  tokenNumber(token: string): number;
  /** The table's shards, undefined for one that is not in memory. Default: the target alone. */
  readonly shards?: readonly (QueryTable | undefined)[];
  /** Number of shards, if the outcomes are the shards of hosts and not verdicts. */
  readonly addedShards?: number | undefined;
  /** The time for which the target answers: see QuerySettings. */
  readonly at?: number | undefined;
  /** @throws RobotsFilterError `usage` if the rules cannot answer for the agent */
  checkAgent(agent: Agent): void;
}

/** A query in memory. */
export interface Asked {
  readonly agents: readonly Agent[];
  readonly query: Query;
  readonly region: Region;
  /** The words of the query's block. */
  readonly words: Uint32Array;
  /** The product token of each link of the first agent's chain: see `tokenOfLink`. */
  readonly tokens: readonly (string | undefined)[];
  /** Whether each URL has its own time. */
  readonly timed: boolean;
  /** The target that the block names. */
  target: JudgeTarget;
}

/** Initial room for input, in bytes. */
const USUAL_BYTES = 4096;
/** Bytes of UTF-8 that a UTF-16 code unit may take. */
const BYTES_OF_UNIT = 3;
/** The key of the rule's text. An allow rule has the end of it, with another first letter. */
const DISALLOW = 'Disallow: ';
const ALLOW_START = 'Dis'.length;
/**
 * Room for a rule's text, whose bytes may each be escaped as six, and for a source after it. The
 * key is in the first MARGIN.
 */
const TEXT_BYTES = MARGIN + 6 * TEXT_LIMIT + SOURCE_LIMIT + 255 + 4 * MARGIN;

/** Maximum number of queries that are kept. One more query releases all others. */
const MAX_QUERIES = 64;
/**
 * What a query is for, added to TIMED if each URL has its time, and to GOOGLE for the google
 * profile, in which any text is a token.
 */
const TEXT_AGENT = 0;
const LIST_AGENT = 1;
const COLUMN = 2;
const USE = 3;
const TIMED = 4;
const GOOGLE = 8;

/** Greatest number of URLs of a batch, and of their UTF-16 code units with a newline after each. */
const BATCH_URLS = 512;
const BATCH_UNITS = 1 << 15;
/** Bytes of UTF-8 that a batch may take. */
const BATCH_BYTES = BYTES_OF_UNIT * BATCH_UNITS;
/** Bytes of a column's output that are emptied at a time, beyond what one URL may need. */
const COLUMN_OUTPUT = 256 * 1024;

/** Reasons that only a line can have: its URL is judged alone. */
const REASONS_OF_LINES: readonly Reason[] = ['tab-in-line', 'return-in-line', 'line-too-long'];

/** The verdict of each outcome, `verdict << REASON_BITS | reason`; none for a reason of lines. */
const VERDICT_OF_OUTCOME: readonly (Verdict | undefined)[] = VERDICTS.flatMap((verdict) =>
  Array.from({ length: 1 << REASON_BITS }, (_, reason) =>
    REASONS_OF_LINES.includes(REASONS[reason] as Reason) ? undefined : verdict,
  ),
);

/**
 * One session with the kernel, on the calling thread: its queries, and the memory for input, output
 * and scratch. Judges single URLs, lists and columns by tables that lie in the arena's memory.
 *
 * A view of the memory is made once for each block: a shared memory that grows leaves it valid.
 */
export class Session {
  readonly kernel: Kernel;
  readonly #arena: Arena;
  readonly #encoder = new TextEncoder();
  /** By the purpose of the query, TEXT_AGENT and so on, and then by its agents. */
  readonly #queries = Array.from({ length: 2 * GOOGLE }, () => new Map<string, Asked>());
  /** Where rules' texts are written: the address of the pattern, and the bytes from the key on. */
  readonly #pattern: number;
  readonly #textBytes: Buffer;
  /** Input after a margin, and scratch memory after a margin. */
  readonly #room: Block;
  #input: Uint8Array = new Uint8Array(0);
  #inputAt = 0;
  #scratch = 0;
  #scratchEnd = 0;
  /** The task, and the worker block after it. */
  readonly #blocks: Block;
  #task: KernelTask | undefined;
  #worker = 0;
  /** The words of the worker block's first result, and of its first line entry. */
  #result: Uint32Array = new Uint32Array(0);
  #line: Uint32Array = new Uint32Array(0);
  /** The words of the second result: the answer about a use. */
  #answer: Uint32Array = new Uint32Array(0);
  readonly #output: Block;
  /** The times of the URLs of a batch. */
  readonly #times: Block;

  /** @param inputBytes bytes of input for which there is memory from the beginning */
  constructor(arena: Arena, inputBytes = USUAL_BYTES) {
    this.#arena = arena;
    this.kernel = instantiateKernel(kernelModule(), arena.memory);
    this.#pattern = arena.take(TEXT_BYTES).address + MARGIN;
    const key = this.#pattern - DISALLOW.length;
    this.#textBytes = Buffer.from(arena.memory.buffer, key, TEXT_BYTES - MARGIN);
    this.#textBytes.write(DISALLOW);
    this.#room = new Block(arena);
    this.#blocks = new Block(arena);
    this.#output = new Block(arena);
    this.#times = new Block(arena);
    this.input(inputBytes);
  }

  // ---- One URL

  /**
   * Judges one URL for one agent.
   *
   * @param at a time as QuerySettings has it. Default: that of the target
   * @param maxAge as QuerySettings has it; only with a time
   * @throws RobotsFilterError `usage` for a URL that is neither a string nor bytes, and for an
   *   agent that is not one or that the target cannot answer for; `limit` if the URL does not fit
   *   into the memory
   */
  judge(
    url: string | Uint8Array,
    agent: string | readonly string[],
    target: JudgeTarget,
    at?: number,
    maxAge?: number,
  ): Judgement {
    const asked = this.#askAgent(agent, target, at !== undefined, maxAge);
    const outcome = this.#decide(url, asked, at);
    const verdict = verdictOf(outcome);
    const reason = REASONS[outcome & REASON_MASK] as Reason;
    // The kernel reports a rank exactly with the reason `rule`, whose verdict the rule decides.
    if (this.#result[RESULT_RANK / 4] === 0) return { verdict, reason } as OtherJudgement;
    return { verdict, reason, rule: this.#rule(asked) } as RuleJudgement;
  }

  /** As `judge`; the verdict alone takes less time. */
  verdict(
    url: string | Uint8Array,
    agent: string | readonly string[],
    target: JudgeTarget,
    at?: number,
    maxAge?: number,
  ): Verdict {
    const asked = this.#askAgent(agent, target, at !== undefined, maxAge);
    return verdictOf(this.#decide(url, asked, at));
  }

  /**
   * What is said to one agent about a use of one URL's content.
   *
   * @param at as `judge`
   * @param maxAge as `judge`
   * @throws RobotsFilterError as `judge`
   */
  judgeUse(
    url: string | Uint8Array,
    agent: string | readonly string[],
    use: Use,
    target: JudgeTarget,
    at?: number,
    maxAge?: number,
  ): UseJudgement {
    const asked = this.#askUse(agent, use, target, at !== undefined, maxAge);
    this.#decide(url, asked, at);
    const words = this.#answer;
    const outcome = words[RESULT_OUTCOME / 4] as number;
    const answer = USE_WORDS[outcome >> REASON_BITS] || undefined;
    const reason = ALL_REASONS[outcome & REASON_MASK] as UseReason | Reason;
    if (words[RESULT_RANK / 4] === 0) return { answer, reason };
    return { answer, reason, signal: this.#signal(asked, words, use, reason) };
  }

  /** The signal of the second result. */
  #signal({ agents, words }: Asked, result: Uint32Array, use: Use, reason: string): DecidingRule {
    const { byteOffset } = result;
    const query = this.#line[LINE_QUERY / 4] as number;
    const agent = (words[QUERY_AGENTS / 4] as number) + AGENT_BYTES;
    const start = this.#pattern - DISALLOW.length;
    const textEnd = this.kernel.ruleText(query, agent, byteOffset, this.#pattern) >>> 0;
    const text = this.#string(this.#pattern - start, textEnd - start);
    const link = (result[(RESULT_GROUPS + GROUPS_LINK) / 4] as number) | 0;
    const token = reason === 'policy-token' ? use.policyToken : agents[0]?.chain[link];
    const line = result[RESULT_LINE / 4] as number;
    const signal = { line, text, agent: token ?? '*' };
    if (result[RESULT_SOURCE / 4] === 0) return signal;
    const sourceEnd = this.kernel.sourceText(query, byteOffset, textEnd) >>> 0;
    return { ...signal, source: this.#string(textEnd - start, sourceEnd - start) };
  }

  /** Returns the outcome; the worker block has the result. */
  #decide(url: string | Uint8Array, asked: Asked, at: number | undefined): number {
    checkUrl(url);
    const { query } = asked;
    if (at !== undefined) this.#setTimes(asked, [at]);
    this.#reserveBlocks(query);
    const bytes = this.#write(url);
    const start = this.#inputAt;
    return this.kernel.decideUrl(
      query.address,
      this.#worker,
      start,
      start + bytes,
      this.#scratch,
      this.#scratchEnd,
    );
  }

  /** Writes a URL to the input; returns its length in bytes. */
  #write(url: string | Uint8Array): number {
    if (typeof url !== 'string') {
      this.input(url.length).set(url);
      return url.length;
    }
    if (BYTES_OF_UNIT * url.length > this.#input.length) this.input(Buffer.byteLength(url));
    return this.#encoder.encodeInto(url, this.#input).written;
  }

  #rule({ agents }: Asked): DecidingRule {
    const words = this.#result;
    const result = this.#worker + WORKER_RESULTS;
    const link = (words[(RESULT_GROUPS + GROUPS_LINK) / 4] as number) | 0;
    const line = words[RESULT_LINE / 4] as number;
    const agent = agents[0]?.chain[link] ?? '*';
    const isAllow = ((words[RESULT_RANK / 4] as number) & 1) === 1;
    this.#textBytes[ALLOW_START] = isAllow ? UPPER_A : LOWER_A;
    const start = isAllow ? ALLOW_START : 0;
    // The kernel returns addresses from 2 GiB on as negative numbers.
    const patternEnd = this.kernel.patternText(result, this.#pattern) >>> 0;
    const bytes = DISALLOW.length + patternEnd - this.#pattern;
    if (words[RESULT_SOURCE / 4] === 0) return { line, text: this.#string(start, bytes), agent };
    const query = this.#line[LINE_QUERY / 4] as number;
    const sourceEnd = this.kernel.sourceText(query, result, patternEnd) >>> 0;
    const end = bytes + sourceEnd - patternEnd;
    // One call that makes strings of both takes half the time of two, if both are ASCII.
    const both = this.#textBytes.toString('utf8', 0, end);
    if (both.length === end && !both.includes('\\')) {
      return { line, text: both.slice(start, bytes), agent, source: both.slice(bytes) };
    }
    return { line, text: this.#string(start, bytes), agent, source: this.#string(bytes, end) };
  }

  /** The text that the kernel wrote between two offsets: the inside of a JSON string. */
  #string(start: number, end: number): string {
    const text = this.#textBytes.toString('utf8', start, end);
    return text.includes('\\') ? (JSON.parse(`"${text}"`) as string) : text;
  }

  // ---- A list

  /**
   * The verdicts on URLs, in their order. Many URLs go through the kernel as the lines of a batch,
   * whose output is one outcome for each. A URL that a line cannot hold is judged alone.
   *
   * @param times a time for each URL, as `judge`. Default: all have that of the target
   * @param maxAge as `judge`
   * @throws RobotsFilterError as `judge`
   */
  verdicts(
    urls: readonly string[],
    agent: string | readonly string[],
    target: JudgeTarget,
    times?: Uint32Array,
    maxAge?: number,
  ): Verdict[] {
    const asked = this.#askAgent(agent, target, times !== undefined, maxAge);
    const verdicts: Verdict[] = [];
    const alone = (index: number): Verdict => {
      const url = urls[index];
      if (typeof url === 'string') return this.verdict(url, agent, target, times?.[index], maxAge);
      throw new RobotsFilterError('usage', `urls[${index}] is not a string`);
    };
    for (let start = 0; start < urls.length; ) {
      const end = endOfBatch(urls, start);
      const ofBatch = times?.subarray(start, end);
      const outcomes =
        end > start ? this.#judgeLines(asked, urls.slice(start, end), ofBatch) : undefined;
      if (outcomes === undefined) {
        // A newline within a URL, or a blank URL, moves the lines: each URL is judged alone.
        const last = Math.max(end, start + 1);
        for (let index = start; index < last; index++) verdicts.push(alone(index));
        start = last;
        continue;
      }
      for (let index = start; index < end; index++) {
        verdicts.push(VERDICT_OF_OUTCOME[outcomes[index - start] as number] ?? alone(index));
      }
      start = end;
    }
    return verdicts;
  }

  /** The outcomes of a batch; `undefined` if the URLs and the lines are not one to one. */
  #judgeLines(
    asked: Asked,
    urls: readonly string[],
    times: Uint32Array | undefined,
  ): Uint8Array | undefined {
    const { query } = asked;
    if (times !== undefined) this.#setTimes(asked, times);
    const { written } = this.#encoder.encodeInto(urls.join('\n'), this.input(BATCH_BYTES));
    const task = this.#start(query, written, BATCH_URLS + query.lineFactor * BATCH_BYTES);
    const ended = task.run();
    if (ended !== RUN_DONE)
      throw new Error(`the kernel stopped in a list of URLs (result ${ended})`);
    const outcomes = this.#written(task);
    return task.lines === urls.length && outcomes.length === urls.length ? outcomes : undefined;
  }

  // ---- A column

  /**
   * The query for columns.
   *
   * @param key names the agents and uses, and whatever else `asks` depends on
   * @param asks called if the query is not kept from an earlier call
   * @param timed whether each URL has its own time
   * @param maxAge as QuerySettings has it; only with a time
   * @throws RobotsFilterError `usage` unless there are 1 to 256 agents, and no more answers
   */
  askColumn(
    key: string,
    asks: () => Pick<QuerySettings, 'agents' | 'uses'>,
    how: {
      readonly explain: boolean;
      readonly timed: boolean;
      readonly maxAge: number | undefined;
    },
    target: JudgeTarget,
  ): Asked {
    const { explain, timed, maxAge } = how;
    const queries = this.#queriesFor(COLUMN + (timed ? TIMED : 0), target);
    const own = `${explain} ${maxAge} ${key}`;
    return (
      queries.get(own) ?? this.#add(queries, own, { ...asks(), ...how, format: 'offsets' }, target)
    );
  }

  /** The memory for this many bytes of input, whose content is lost when it grows. */
  input(bytes: number): Uint8Array {
    if (bytes <= this.#input.length) return this.#input;
    // Without memory for more, the next call must not use what was given back.
    this.#input = new Uint8Array(0);
    const { address, bytes: all } = this.#room.reserve(roomFor(bytes));
    // As much input as the scratch memory in the rest of the whole pages suffices for.
    const most = Math.floor((all - roomFor(0)) / (roomFor(1) - roomFor(0)));
    this.#inputAt = address + MARGIN;
    this.#input = new Uint8Array(this.#arena.memory.buffer, this.#inputAt, most);
    this.#scratch = this.#inputAt + most + MARGIN;
    this.#scratchEnd = this.#scratch + scratchBytes(most);
    return this.#input;
  }

  /**
   * Judges the column in the input: the times of its URLs if the query is timed (32 bits each, as
   * QuerySettings has them, or LATEST for none), the offsets of its URLs and of their end, then the
   * URLs.
   *
   * @param onOutcomes gets the outcomes of whole URLs, which the kernel overwrites afterwards
   */
  judgeColumn(
    { query, words, timed }: Asked,
    count: number,
    onOutcomes: (bytes: Buffer) => void,
  ): void {
    const timeBytes = timed ? TIME_BYTES * count : 0;
    words[QUERY_TIMES / 4] = timed ? this.#inputAt : 0;
    const outputBytes = COLUMN_OUTPUT + query.lineFactor * OFFSET_BYTES;
    const task = this.#start(query, OFFSET_BYTES * count, outputBytes, timeBytes);
    for (;;) {
      const ended = task.run();
      onOutcomes(this.#written(task));
      if (ended === RUN_DONE) return;
      if (ended !== RUN_OUTPUT_FULL) {
        throw new Error(`the kernel stopped in a column of URLs (result ${ended})`);
      }
      task.emptyOutput();
    }
  }

  // ---- A record

  /** The query that finds the URLs of records. */
  askRecords(settings: RecordForm): Asked {
    // Only the key of host hashes and the number of slots are read of a table: both are zero.
    const table = this.#arena.take(HEADER_BYTES).address;
    const target: JudgeTarget = {
      profile: 'rfc9309',
      table,
      anyHost: 0,
      tokenNumber: () => -1,
      checkAgent() {},
    };
    return this.#encode({ ...DEFAULT_SETTINGS, ...settings }, target);
  }

  /** Moves the column of a query, as `setColumn` of RecordLocator says. */
  setColumn({ query: { address } }: Asked, column: number, rowFields: number): void {
    const view = new DataView(this.#arena.memory.buffer);
    view.setInt32(address + QUERY_COLUMN, column, true);
    view.setInt32(address + QUERY_ROW_FIELDS, rowFields, true);
  }

  /** The URL of a record as RecordLocator has it. */
  urlOf(line: Uint8Array, { query }: Asked): Uint8Array | undefined {
    this.#reserveBlocks(query);
    this.input(line.length).set(line);
    const start = this.#inputAt;
    const end = start + line.length;
    this.kernel.locateRecord(
      query.address,
      this.#worker,
      start,
      end,
      this.#scratch,
      this.#scratchEnd,
    );
    if (((this.#line[LINE_OUTCOME / 4] as number) | 0) !== PENDING) return undefined;
    const url = this.#line[LINE_URL / 4] as number;
    const urlEnd = this.#line[LINE_URL_END / 4] as number;
    return new Uint8Array(this.#arena.memory.buffer, url, urlEnd - url);
  }

  // ---- Queries

  /** The query for single URLs and lists, which names the target. */
  #askAgent(
    agent: string | readonly string[],
    target: JudgeTarget,
    timed = false,
    maxAge?: number,
  ): Asked {
    const isText = typeof agent === 'string' && maxAge === undefined;
    const purpose = (isText ? TEXT_AGENT : LIST_AGENT) + (timed ? TIMED : 0);
    const queries = this.#queriesFor(purpose, target);
    const key = isText ? agent : keyOfList(parseAgent(agent, target.profile), maxAge);
    const known = queries.get(key);
    if (known !== undefined) {
      if (known.target !== target) pointAt(known, target);
      return known;
    }
    const parsed = parseAgent(agent, target.profile);
    target.checkAgent(parsed);
    return this.#add(queries, key, { agents: [parsed], format: 'text', timed, maxAge }, target);
  }

  /** The query for a use, which names the target. */
  #askUse(
    agent: string | readonly string[],
    use: Use,
    target: JudgeTarget,
    timed: boolean,
    maxAge: number | undefined,
  ): Asked {
    const queries = this.#queriesFor(USE + (timed ? TIMED : 0), target);
    const parsed = parseAgent(agent, target.profile);
    const key = JSON.stringify([keyOfList(parsed, maxAge), use]);
    const known = queries.get(key);
    if (known?.target === target) return known;
    target.checkAgent(parsed);
    if (known !== undefined) {
      // Another robots.txt has other numbers for the names of signals.
      queries.delete(key);
      this.#arena.give(known.region);
    }
    const settings = { agents: [parsed], uses: [use], format: 'text', timed, maxAge } as const;
    return this.#add(queries, key, settings, target);
  }

  #queriesFor(purpose: number, { profile }: JudgeTarget): Map<string, Asked> {
    return this.#queries[purpose + (profile === 'google' ? GOOGLE : 0)] as Map<string, Asked>;
  }

  #add(
    queries: Map<string, Asked>,
    key: string,
    settings: Pick<QuerySettings, 'agents' | 'format'> & Partial<QuerySettings>,
    target: JudgeTarget,
  ): Asked {
    if (this.#queries.reduce((sum, { size }) => sum + size, 0) === MAX_QUERIES) {
      for (const kept of this.#queries) {
        for (const { region } of kept.values()) this.#arena.give(region);
        kept.clear();
      }
    }
    const asked = this.#encode(
      { ...DEFAULT_SETTINGS, ...settings, conversion: 'outcomes' },
      target,
    );
    queries.set(key, asked);
    return asked;
  }

  #encode(asks: QuerySettings, target: JudgeTarget): Asked {
    const { shards = [target], addedShards } = target;
    const settings: QuerySettings = {
      ...asks,
      google: target.profile === 'google',
      anyHost: target.anyHost,
      at: target.at,
      // One shard needs no look-up of the shard of a host.
      shards: addedShards ?? (shards.length > 1 ? shards.length : 0),
      addsShard: addedShards !== undefined,
    };
    const region = this.#arena.take(shardQueryBytes(settings, shards.length));
    try {
      const { query, bytes } = encodeShardQueries(settings, region.address, shards);
      const { buffer } = this.#arena.memory;
      new Uint8Array(buffer).set(bytes, region.address);
      const words = new Uint32Array(buffer, region.address, region.bytes / 4);
      const { agents, google } = settings;
      const tokens = agents[0]?.chain.map((link) => tokenOfLink(link, google)) ?? [];
      return { agents, query, region, words, tokens, target, timed: settings.timed === true };
    } catch (error) {
      this.#arena.give(region);
      throw error;
    }
  }

  // ---- Memory

  /** Begins a task over this many bytes of the input, after its first `from` bytes. */
  #start(query: Query, bytes: number, outputBytes: number, from = 0): KernelTask {
    this.#reserveBlocks(query);
    const output = this.#output.reserve(MARGIN + outputBytes + query.lineOverhead + 3 * MARGIN);
    const task = this.#task as KernelTask;
    task.start({
      query: query.address,
      worker: this.#worker,
      scratch: this.#scratch,
      scratchEnd: this.#scratchEnd,
      input: this.#inputAt + from,
      inputEnd: this.#inputAt + from + bytes,
      output: output.address + MARGIN,
      outputEnd: output.address + output.bytes - MARGIN,
    });
    return task;
  }

  /** Writes the times of the URLs of a batch, at most BATCH_URLS. */
  #setTimes({ words }: Asked, times: ArrayLike<number>): void {
    const { address } = this.#times.reserve(TIME_BYTES * BATCH_URLS);
    new Uint32Array(this.#arena.memory.buffer, address, times.length).set(times);
    words[QUERY_TIMES / 4] = address;
  }

  /** The output of a task since it was emptied, where the kernel wrote it. */
  #written({ output, outputBytes }: KernelTask): Buffer {
    return Buffer.from(this.#arena.memory.buffer, output, outputBytes);
  }

  #reserveBlocks({ workerBytes }: Query): void {
    if (TASK_BYTES + workerBytes <= this.#blocks.bytes) return;
    const { address } = this.#blocks.reserve(TASK_BYTES + workerBytes);
    const { buffer } = this.#arena.memory;
    this.#task = new KernelTask(this.kernel, buffer, address);
    this.#worker = address + TASK_BYTES;
    const results = this.#worker + WORKER_RESULTS;
    this.#result = new Uint32Array(buffer, results, RESULT_BYTES / 4);
    this.#answer = new Uint32Array(buffer, results + RESULT_BYTES, RESULT_BYTES / 4);
    this.#line = new Uint32Array(buffer, this.#worker + WORKER_LINES, LINE_BYTES / 4);
  }
}

/** Bytes for input, scratch memory, and the margins before, between and after them. */
const roomFor = (inputBytes: number): number => inputBytes + scratchBytes(inputBytes) + 3 * MARGIN;

/** A region of an arena, kept and replaced by a longer one on demand. */
class Block {
  address = 0;
  bytes = 0;
  readonly #arena: Arena;

  constructor(arena: Arena) {
    this.#arena = arena;
  }

  /** Makes the block at least so long. Its content is lost if it grows. */
  reserve(bytes: number): Region {
    if (bytes <= this.bytes) return this;
    if (this.bytes > 0) this.#arena.give({ address: this.address, bytes: this.bytes });
    // After an error the next call must not use the region that was given back.
    this.bytes = 0;
    ({ address: this.address, bytes: this.bytes } = this.#arena.take(bytes));
    return this;
  }
}

function verdictOf(outcome: number): Verdict {
  const verdict = VERDICTS[outcome >> REASON_BITS];
  if (verdict === undefined) throw new Error(`outcome ${outcome} of the kernel`);
  return verdict;
}

/** The key of a query in a map of LIST_AGENT: all that its verdicts depend on. */
function keyOfList({ chain, disregardsAny = false }: Agent, maxAge: number | undefined): string {
  return JSON.stringify([maxAge ?? null, disregardsAny, chain]);
}

/** Writes the words of a query for one agent that depend on its target. */
function pointAt(asked: Asked, target: JudgeTarget): void {
  const { words, query } = asked;
  words[QUERY_TABLE / 4] = target.table;
  words[QUERY_ANY_HOST / 4] = target.anyHost;
  words[QUERY_AT / 4] = asked.timed ? 0 : (target.at ?? LATEST);
  const agentAt = (words[QUERY_AGENTS / 4] as number) - query.address;
  let link = (words[(agentAt + AGENT_CHAIN) / 4] as number) - query.address + CHAIN_TOKEN;
  for (const token of asked.tokens) {
    words[link / 4] = token === undefined ? -1 : target.tokenNumber(token);
    link += CHAIN_BYTES;
  }
  asked.target = target;
}

/**
 * The index after the URLs that are judged as one batch from `start` on; `start` if the first of
 * them can only be judged alone. The reader of lines would cut a CR or LF from a URL's end.
 */
function endOfBatch(urls: readonly string[], start: number): number {
  const last = Math.min(urls.length, start + BATCH_URLS);
  let units = 0;
  for (let index = start; index < last; index++) {
    const url = urls[index];
    if (typeof url !== 'string' || url.length === 0) return index;
    units += url.length + 1;
    if (units > BATCH_UNITS || url.charCodeAt(url.length - 1) <= CR) return index;
  }
  return last;
}

/** The outcome of a line whose URL is fine (kernel/assembly/memory.ts). */
const PENDING = -1;

/** What records are, and the path of their URL. */
type RecordForm = Pick<QuerySettings, 'format' | 'urlField' | 'maxLineBytes'>;

/**
 * Finds the URL of single records as a run does, with the same code: whatever a run takes for a
 * record with a URL is one here, and nothing else is.
 */
export class RecordLocator {
  readonly #session = new Session(new Arena(createMemory(PAGE_BYTES)));
  readonly #asked: Asked;

  constructor(settings: RecordForm) {
    this.#asked = this.#session.askRecords(settings);
  }

  /**
   * Says where the URL of each row stands, and how many fields a row has.
   *
   * @param column from 0
   * @param rowFields 0 for any number
   */
  setColumn(column: number, rowFields: number): void {
    this.#session.setColumn(this.#asked, column, rowFields);
  }

  /**
   * The URL of a record, valid until the next call; `undefined` if the record has no valid URL.
   *
   * @param line the record without its line end; not blank
   */
  urlOf(line: Uint8Array): Uint8Array | undefined {
    return this.#session.urlOf(line, this.#asked);
  }
}
