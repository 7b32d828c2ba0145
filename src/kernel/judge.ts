import { SOURCE_LIMIT, TEXT_LIMIT } from '../compile/format.js';
import type { Agent } from '../protocol/agent.js';
import { REASONS, type Reason, VERDICTS, type Verdict } from '../protocol/verdict.js';
import type { Arena, Region } from './arena.js';
import { instantiateKernel, type Kernel } from './kernel.js';
import {
  MARGIN,
  RESULT_LINE,
  RESULT_LINK,
  RESULT_RANK,
  RESULT_SOURCE,
  WORKER_RESULTS,
} from './layout.js';
import { kernelModule } from './module.js';
import { DEFAULT_SETTINGS, encodeQuery, type Query, queryOctets } from './query.js';
import { scratchOctets } from './scratch.js';

/** The rule that decided. */
export interface DecidingRule {
  /** Number of its line in robots.txt, from 1. */
  readonly line: number;
  /** `Disallow: /private/`: the pattern as written, cut to 1,000 octets. */
  readonly text: string;
  /** The product token of its group: that of the agent which the group names, or `*`. */
  readonly agent: string;
  /** Where the robots.txt came from; only from a table. */
  readonly source?: string;
}

/** A verdict and why it is so. */
export interface Judgement {
  readonly verdict: Verdict;
  readonly reason: Reason;
  /** Present where a rule decided. */
  readonly rule?: DecidingRule;
}

/** Octets of URL for which room is kept from the start. */
const USUAL_URL_OCTETS = 4096;
/** A rule's text, each octet of which may be escaped as six, or a source. */
const TEXT_OCTETS = Math.max(6 * TEXT_LIMIT, SOURCE_LIMIT + 255) + 4 * MARGIN;
/** Queries kept; one more, and all are forgotten. */
const MAX_QUERIES = 64;

/**
 * Octets for a URL, a margin before and after it, scratch memory, and a margin that is read only.
 */
const roomFor = (urlOctets: number): number => urlOctets + scratchOctets(urlOctets, 1) + 3 * MARGIN;

/**
 * Asks the kernel about single URLs, on the thread that calls. The table lies in the arena's
 * memory.
 */
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
    this.#text = arena.take(TEXT_OCTETS);
    this.#room = arena.take(roomFor(USUAL_URL_OCTETS));
  }

  /** Forgets all queries: the table has changed. */
  forget(): void {
    for (const { region, worker } of this.#queries.values()) {
      this.#arena.give(region);
      this.#arena.give(worker);
    }
    this.#queries.clear();
  }

  /**
   * Judges one URL for one agent by the table at `table`.
   *
   * @throws TypeError for a URL that is neither text nor octets: as an object without length it
   *   would be the root of any host
   */
  judge(
    url: string | Uint8Array,
    agent: Agent,
    target: {
      table: number;
      google: boolean;
      anyHost: number;
      tokenNumber: (token: string) => number;
    },
  ): Judgement {
    if (typeof url !== 'string' && !(url instanceof Uint8Array)) {
      throw new TypeError('a URL is to be a string or a Uint8Array; of a URL object its href');
    }
    const { query, worker } = this.#query(agent, target);
    const octets = typeof url === 'string' ? this.#encoder.encode(url) : url;
    if (roomFor(octets.length) > this.#room.octets) {
      this.#arena.give(this.#room);
      this.#room = this.#arena.take(roomFor(octets.length));
    }
    const start = this.#room.address + MARGIN;
    const end = start + octets.length;
    const memory = new Uint8Array(this.#arena.memory.buffer);
    memory.set(octets, start);
    const outcome = this.#kernel.judgeUrl(
      query.address,
      worker.address,
      start,
      end,
      end + MARGIN,
      end + MARGIN + scratchOctets(octets.length, 1),
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

  #query(
    agent: Agent,
    target: {
      table: number;
      google: boolean;
      anyHost: number;
      tokenNumber: (token: string) => number;
    },
  ): { query: Query; worker: Region } {
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
    const region = this.#arena.take(queryOctets(settings));
    const { query, bytes } = encodeQuery(
      settings,
      region.address,
      target.table,
      target.tokenNumber,
    );
    const worker = this.#arena.take(query.workerOctets);
    new Uint8Array(this.#arena.memory.buffer).set(bytes, region.address);
    const entry = { query, region, worker };
    this.#queries.set(key, entry);
    return entry;
  }

  #rule(query: Query, result: number, words: DataView, agent: Agent): DecidingRule {
    const rank = words.getUint32(RESULT_RANK, true);
    const link = words.getInt32(RESULT_LINK, true);
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

  /** The text that the inside of a JSON string in memory says. */
  #string(start: number, end: number): string {
    const octets = new Uint8Array(this.#arena.memory.buffer).slice(start, end);
    return JSON.parse(`"${this.#decoder.decode(octets)}"`) as string;
  }
}
