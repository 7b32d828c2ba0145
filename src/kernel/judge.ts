import { Buffer } from 'node:buffer';
import { checkUrl } from '../arguments.js';
import { LOWER_A, UPPER_A } from '../ascii.js';
import { REASONS, type Reason, VERDICTS, type Verdict } from '../protocol/verdict.js';
import { SOURCE_LIMIT, TEXT_LIMIT } from '../table/format.js';
import { AgentQueries, type AgentQuery, type JudgeTarget } from './agent-queries.js';
import type { Arena, Region } from './arena.js';
import { instantiateKernel, type Kernel } from './kernel.js';
import {
  GROUPS_LINK,
  LINE_BYTES,
  LINE_QUERY,
  MARGIN,
  RESULT_BYTES,
  RESULT_GROUPS,
  RESULT_LINE,
  RESULT_RANK,
  RESULT_SOURCE,
  WORKER_LINES,
  WORKER_RESULTS,
} from './layout.js';
import { kernelModule } from './module.js';
import { scratchBytes } from './scratch.js';

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
