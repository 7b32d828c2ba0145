import type { Agent } from '../protocol/agent.js';
import { REASONS, type Reason, VERDICTS, type Verdict } from '../protocol/verdict.js';
import { SOURCE_LIMIT, TEXT_LIMIT } from '../table/format.js';
import type { Arena, Region } from './arena.js';
import { instantiateKernel, type Kernel } from './kernel.js';
import {
  GROUPS_LINK,
  MARGIN,
  RESULT_GROUPS,
  RESULT_LINE,
  RESULT_RANK,
  RESULT_SOURCE,
  WORKER_RESULTS,
} from './layout.js';
import { kernelModule } from './module.js';
import { encodeQuery, type Query, queryBytes } from './query.js';
import { DEFAULT_SETTINGS } from './query-settings.js';
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

/** A verdict and its reason. */
export interface Judgement {
  readonly verdict: Verdict;
  readonly reason: Reason;
  /** Present if a rule decided. */
  readonly rule?: DecidingRule;
}

/** The table by which a URL is judged. */
export interface JudgeTarget {
  /** Address of the table. */
  readonly table: number;
  readonly google: boolean;
  /** Offset of the robots record that applies to every host, 0 to look hosts up. */
  readonly anyHost: number;
  /** Number of a lower-case product token in the table, -1 if no robots.txt names it. */
  readonly tokenNumber: (token: string) => number;
}

/** Initial room for a URL, in bytes. */
const USUAL_URL_BYTES = 4096;
/** Room for a rule's text, whose bytes may each be escaped as six, or for a source. */
const TEXT_BYTES = Math.max(6 * TEXT_LIMIT, SOURCE_LIMIT + 255) + 4 * MARGIN;
/** Maximum number of cached queries. One more query clears the cache. */
const MAX_QUERIES = 64;

/**
 * Bytes for a URL, a margin before and after the URL, scratch memory, and a margin that is only
 * read.
 */
const roomFor = (urlBytes: number): number => urlBytes + scratchBytes(urlBytes, 1) + 3 * MARGIN;

/** Judges single URLs on the calling thread. The table lies in the arena's memory. */
export class Judge {
  readonly #arena: Arena;
  readonly #kernel: Kernel;
  readonly #decoder = new TextDecoder();
  readonly #encoder = new TextEncoder();
  readonly #queries = new Map<string, { query: Query; region: Region; worker: Region }>();
  readonly #text: Region;
  #room: Region;

  constructor(arena: Arena) {
    this.#arena = arena;
    this.#kernel = instantiateKernel(kernelModule(), arena.memory);
    this.#text = arena.take(TEXT_BYTES);
    this.#room = arena.take(roomFor(USUAL_URL_BYTES));
  }

  /** Clears the cached queries. Call it when the table has changed. */
  forget(): void {
    for (const { region, worker } of this.#queries.values()) {
      this.#arena.give(region);
      this.#arena.give(worker);
    }
    this.#queries.clear();
  }

  /**
   * Judges one URL for one agent by a table.
   *
   * @throws TypeError for a URL that is neither a string nor a Uint8Array: an object without a
   *   length would read as the root of any host
   * @throws RobotsFilterError `limit` if the URL does not fit into the memory
   */
  judge(url: string | Uint8Array, agent: Agent, target: JudgeTarget): Judgement {
    if (typeof url !== 'string' && !(url instanceof Uint8Array)) {
      throw new TypeError('A URL must be a string or a Uint8Array; pass the href of a URL object');
    }
    const { query, worker } = this.#query(agent, target);
    const bytes = typeof url === 'string' ? this.#encoder.encode(url) : url;
    if (roomFor(bytes.length) > this.#room.bytes) {
      this.#arena.give(this.#room);
      this.#room = this.#arena.take(roomFor(bytes.length));
    }
    const start = this.#room.address + MARGIN;
    const end = start + bytes.length;
    const memory = new Uint8Array(this.#arena.memory.buffer);
    memory.set(bytes, start);
    const outcome = this.#kernel.decideUrl(
      query.address,
      worker.address,
      start,
      end,
      end + MARGIN,
      end + MARGIN + scratchBytes(bytes.length, 1),
    );
    const verdict = VERDICTS[outcome >> 4];
    const reason = REASONS[outcome & 15];
    if (verdict === undefined || reason === undefined)
      throw new Error(`outcome ${outcome} of the kernel`);
    const result = worker.address + WORKER_RESULTS;
    const words = new DataView(this.#arena.memory.buffer, result);
    if (words.getUint32(RESULT_RANK, true) === 0) return { verdict, reason };
    return { verdict, reason, rule: this.#rule(query, result, words, agent) };
  }

  #query(agent: Agent, target: JudgeTarget): { query: Query; worker: Region } {
    const key = JSON.stringify(agent.chain);
    const known = this.#queries.get(key);
    if (known !== undefined) return known;
    if (this.#queries.size >= MAX_QUERIES) this.forget();
    const settings = {
      ...DEFAULT_SETTINGS,
      google: target.google,
      agents: [agent],
      format: 'text',
      anyHost: target.anyHost,
    } as const;
    const region = this.#arena.take(queryBytes(settings));
    const { query, bytes } = encodeQuery(
      settings,
      region.address,
      target.table,
      target.tokenNumber,
    );
    const worker = this.#arena.take(query.workerBytes);
    new Uint8Array(this.#arena.memory.buffer).set(bytes, region.address);
    const entry = { query, region, worker };
    this.#queries.set(key, entry);
    return entry;
  }

  #rule(query: Query, result: number, words: DataView, agent: Agent): DecidingRule {
    const rank = words.getUint32(RESULT_RANK, true);
    const link = words.getInt32(RESULT_GROUPS + GROUPS_LINK, true);
    const text = this.#text.address;
    const pattern = this.#string(text, this.#kernel.patternText(result, text));
    return {
      line: words.getUint32(RESULT_LINE, true),
      text: `${(rank & 1) === 1 ? 'Allow' : 'Disallow'}: ${pattern}`,
      agent: agent.chain[link] ?? '*',
      ...(words.getUint32(RESULT_SOURCE, true) === 0
        ? {}
        : { source: this.#string(text, this.#kernel.sourceText(query.address, result, text)) }),
    };
  }

  /** Decodes the inside of a JSON string in memory. */
  #string(start: number, end: number): string {
    const bytes = new Uint8Array(this.#arena.memory.buffer).slice(start, end);
    return JSON.parse(`"${this.#decoder.decode(bytes)}"`) as string;
  }
}
