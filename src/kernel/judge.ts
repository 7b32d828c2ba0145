import { Buffer } from 'node:buffer';
import { checkUrl } from '../base/arguments.js';
import { CR, LOWER_A, UPPER_A } from '../base/ascii.js';
import { RobotsFilterError } from '../base/errors.js';
import { type Agent, parseAgent } from '../protocol/agent.js';
import { type Profile, REASONS, type Reason, VERDICTS, type Verdict } from '../protocol/verdict.js';
import { SOURCE_LIMIT, TEXT_LIMIT } from '../table/format.js';
import {
  type Arena,
  instantiateKernel,
  type Kernel,
  kernelModule,
  type Region,
  scratchBytes,
} from './kernel.js';
import {
  AGENT_CHAIN,
  CHAIN_BYTES,
  CHAIN_TOKEN,
  GROUPS_LINK,
  LINE_BYTES,
  LINE_QUERY,
  MARGIN,
  QUERY_AGENTS,
  QUERY_ANY_HOST,
  QUERY_TABLE,
  RESULT_BYTES,
  RESULT_GROUPS,
  RESULT_LINE,
  RESULT_RANK,
  RESULT_SOURCE,
  RUN_DONE,
  TASK_BYTES,
  TASK_LINES,
  TASK_OUTPUT,
  WORKER_LINES,
  WORKER_RESULTS,
} from './layout.js';
import {
  type Conversion,
  DEFAULT_SETTINGS,
  encodeShardQueries,
  type Query,
  type QueryTable,
  shardQueryBytes,
  tokenOfLink,
  writeTask,
} from './query.js';

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

/** Initial room for a URL, in bytes. */
const USUAL_URL_BYTES = 4096;
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

/**
 * Bytes for a URL, a margin before and after the URL, scratch memory, and a margin that is only
 * read.
 */
const roomFor = (urlBytes: number): number => urlBytes + scratchBytes(urlBytes, 1) + 3 * MARGIN;

/**
 * Judges single URLs on the calling thread. The tables lie in the arena's memory.
 *
 * All views of the memory are made once: a shared memory that grows leaves them valid.
 */
export class Judge {
  readonly kernel: Kernel;
  readonly #arena: Arena;
  readonly #encoder = new TextEncoder();
  readonly #queries: AgentQueries;
  /** Where rules' texts are written: the address of the pattern, and the bytes from the key on. */
  readonly #pattern: number;
  readonly #textBytes: Buffer;
  /** The worker block, of queries with one agent: its address, and the words of its result. */
  #worker = 0;
  #result: Uint32Array = new Uint32Array(0);
  /** The words of its first line entry. */
  #line: Uint32Array = new Uint32Array(0);
  #room: Region;
  /** The bytes of the room that URLs are written to. */
  #url: Uint8Array;

  constructor(arena: Arena) {
    this.#arena = arena;
    this.kernel = instantiateKernel(kernelModule(), arena.memory);
    this.#queries = new AgentQueries(arena);
    this.#pattern = arena.take(TEXT_BYTES).address + MARGIN;
    const key = this.#pattern - DISALLOW.length;
    this.#textBytes = Buffer.from(arena.memory.buffer, key, TEXT_BYTES - MARGIN);
    this.#textBytes.write(DISALLOW);
    this.#room = arena.take(roomFor(USUAL_URL_BYTES));
    this.#url = this.#urlBytes();
  }

  /**
   * Judges one URL for one agent.
   *
   * @throws RobotsFilterError `usage` for a URL that is neither a string nor bytes, and for an
   *   agent that is not one or that the target cannot answer for; `limit` if the URL does not fit
   *   into the memory
   */
  judge(
    url: string | Uint8Array,
    agent: string | readonly string[],
    target: JudgeTarget,
  ): Judgement {
    const asked = this.#queries.of(agent, target);
    const outcome = this.#decide(url, asked);
    const verdict = verdictOf(outcome);
    const reason = REASONS[outcome & 15] as Reason;
    // The kernel reports a rank exactly with the reason `rule`, whose verdict the rule decides.
    if (this.#result[RESULT_RANK / 4] === 0) return { verdict, reason } as OtherJudgement;
    return { verdict, reason, rule: this.#rule(asked) } as RuleJudgement;
  }

  /** As `judge`; the verdict alone takes less time. */
  verdict(
    url: string | Uint8Array,
    agent: string | readonly string[],
    target: JudgeTarget,
  ): Verdict {
    return verdictOf(this.#decide(url, this.#queries.of(agent, target)));
  }

  /** Returns the outcome; the worker block has the result. */
  #decide(url: string | Uint8Array, { query }: AgentQuery): number {
    checkUrl(url);
    if (this.#worker === 0) this.#takeWorker(query.workerBytes);
    const bytes = this.#write(url);
    const start = this.#room.address + MARGIN;
    const end = start + bytes;
    const scratch = end + MARGIN;
    const scratchEnd = scratch + scratchBytes(bytes, 1);
    return this.kernel.decideUrl(query.address, this.#worker, start, end, scratch, scratchEnd);
  }

  /** Writes a URL to the room; returns its length in bytes. */
  #write(url: string | Uint8Array): number {
    if (typeof url !== 'string') {
      this.#reserve(url.length);
      this.#url.set(url);
      return url.length;
    }
    if (BYTES_OF_UNIT * url.length > this.#url.length) this.#reserve(Buffer.byteLength(url));
    return this.#encoder.encodeInto(url, this.#url).written;
  }

  #reserve(urlBytes: number): void {
    if (urlBytes <= this.#url.length) return;
    this.#arena.give(this.#room);
    this.#room = this.#arena.take(roomFor(urlBytes));
    this.#url = this.#urlBytes();
  }

  /** The part of the room that the longest URL takes for which the rest of the room suffices. */
  #urlBytes(): Uint8Array {
    const { address, bytes } = this.#room;
    const most = Math.floor((bytes - roomFor(0)) / (roomFor(1) - roomFor(0)));
    return new Uint8Array(this.#arena.memory.buffer, address + MARGIN, most);
  }

  #takeWorker(bytes: number): void {
    this.#worker = this.#arena.take(bytes).address;
    const { buffer } = this.#arena.memory;
    this.#result = new Uint32Array(buffer, this.#worker + WORKER_RESULTS, RESULT_BYTES / 4);
    this.#line = new Uint32Array(buffer, this.#worker + WORKER_LINES, LINE_BYTES / 4);
  }

  #rule(asked: AgentQuery): DecidingRule {
    const words = this.#result;
    const result = this.#worker + WORKER_RESULTS;
    const link = (words[(RESULT_GROUPS + GROUPS_LINK) / 4] as number) | 0;
    const line = words[RESULT_LINE / 4] as number;
    const agent = asked.agent.chain[link] ?? '*';
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
}

function verdictOf(outcome: number): Verdict {
  const verdict = VERDICTS[outcome >> 4];
  if (verdict === undefined) throw new Error(`outcome ${outcome} of the kernel`);
  return verdict;
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
  /**
   * The shards of the table, undefined for one that is not in memory; none, the default, for a
   * table in one piece.
   */
  readonly shards?: readonly (QueryTable | undefined)[];
  /** @throws RobotsFilterError `usage` if the rules cannot answer for the agent */
  checkAgent(agent: Agent): void;
}

/** The query for one agent, in memory. */
interface AgentQuery {
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
class AgentQueries {
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

/** Greatest number of URLs of a batch, and of their UTF-16 code units with a newline after each. */
const BATCH_URLS = 512;
const BATCH_UNITS = 1 << 15;
/** Bytes of UTF-8 that a batch may take. */
const BATCH_BYTES = 3 * BATCH_UNITS;

/** Reasons that only a line can have: its URL is judged alone. */
const REASONS_OF_LINES: readonly Reason[] = ['tab-in-line', 'return-in-line', 'line-too-long'];

/** The verdict of each outcome, `verdict << 4 | reason`; `undefined` for a reason of lines. */
const VERDICT_OF_OUTCOME: readonly (Verdict | undefined)[] = VERDICTS.flatMap((verdict) =>
  Array.from({ length: 16 }, (_, reason) =>
    REASONS_OF_LINES.includes(REASONS[reason] as Reason) ? undefined : verdict,
  ),
);

/** Where the blocks of a batch lie. */
interface Blocks {
  readonly worker: number;
  readonly task: Uint32Array;
  readonly taskAddress: number;
  readonly input: number;
  readonly inputBytes: Uint8Array;
  readonly scratch: number;
  readonly output: number;
  readonly outcomes: Uint8Array;
}

/**
 * Judges lists of URLs on the calling thread. Many URLs go through the kernel as the lines of a
 * batch, whose output is one outcome for each. A URL that a line cannot hold is judged alone.
 */
export class ListJudge {
  readonly #arena: Arena;
  readonly #judge: Judge;
  readonly #queries: AgentQueries;
  readonly #encoder = new TextEncoder();
  #blocks: Blocks | undefined;

  constructor(arena: Arena, judge: Judge) {
    this.#arena = arena;
    this.#judge = judge;
    this.#queries = new AgentQueries(arena, 'outcomes');
  }

  /**
   * The verdicts on URLs, in their order.
   *
   * @throws RobotsFilterError as `Judge.judge`
   */
  judge(
    urls: readonly string[],
    agent: string | readonly string[],
    target: JudgeTarget,
  ): Verdict[] {
    const asked = this.#queries.of(agent, target);
    this.#blocks ??= this.#takeBlocks(asked);
    const blocks = this.#blocks;
    const verdicts: Verdict[] = [];
    const alone = (index: number): Verdict => {
      if (typeof urls[index] === 'string') return this.#judge.verdict(urls[index], agent, target);
      throw new RobotsFilterError('usage', `urls[${index}] is not a string`);
    };
    for (let start = 0; start < urls.length; ) {
      const end = endOfBatch(urls, start);
      const outcomes = end > start ? this.#run(blocks, asked, urls.slice(start, end)) : undefined;
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
  #run(blocks: Blocks, { query }: AgentQuery, urls: readonly string[]): Uint8Array | undefined {
    const { task, taskAddress, input, scratch, output, outcomes } = blocks;
    const { written } = this.#encoder.encodeInto(urls.join('\n'), blocks.inputBytes);
    writeTask(
      task,
      {
        query: query.address,
        worker: blocks.worker,
        scratch,
        scratchEnd: scratch + scratchBytes(BATCH_BYTES),
        input,
        inputEnd: input + written,
        output,
        outputEnd: output + outcomes.length,
      },
      0,
    );
    const ended = this.#judge.kernel.run(taskAddress);
    if (ended !== RUN_DONE)
      throw new Error(`the kernel stopped in a list of URLs (result ${ended})`);
    const count = (task[TASK_OUTPUT / 4] as number) - output;
    return task[TASK_LINES / 4] === urls.length && count === urls.length ? outcomes : undefined;
  }

  #takeBlocks({ query }: AgentQuery): Blocks {
    const { memory } = this.#arena;
    const outputBytes =
      BATCH_URLS + query.lineFactor * BATCH_BYTES + query.lineOverhead + 2 * MARGIN;
    const sizes = [
      query.workerBytes,
      TASK_BYTES,
      BATCH_BYTES,
      scratchBytes(BATCH_BYTES),
      outputBytes,
    ];
    const all = sizes.reduce((sum, bytes) => sum + bytes + 2 * MARGIN, MARGIN);
    let free = this.#arena.take(all).address + MARGIN;
    const [worker = 0, taskAddress = 0, input = 0, scratch = 0, output = 0] = sizes.map((bytes) => {
      const address = free;
      // Each block begins at a cache line, with a margin before and after it.
      free += (bytes + MARGIN + 63) & ~63;
      return address;
    });
    return {
      worker,
      task: new Uint32Array(memory.buffer, taskAddress, TASK_BYTES / 4),
      taskAddress,
      input,
      inputBytes: new Uint8Array(memory.buffer, input, BATCH_BYTES),
      scratch,
      output,
      outcomes: new Uint8Array(memory.buffer, output, outputBytes - MARGIN),
    };
  }
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
