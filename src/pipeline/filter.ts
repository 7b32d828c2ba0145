import type { Writable } from 'node:stream';
import { BUCKET_SLOTS } from '../compile/format.js';
import type { Arena, Region } from '../kernel/arena.js';
import { kernelModule } from '../kernel/module.js';
import { encodeQuery, type OutputMode, type Query, queryOctets } from '../kernel/query.js';
import type { Agent } from '../protocol/agent.js';
import type { Verdict } from '../protocol/verdict.js';
import { type Table, tableMemory } from '../table.js';
import type { Executor } from '../workers/executor.js';
import { type BadRecord, type RecordUnit, recordUnit } from './bad-record.js';
import { Flow } from './flow.js';
import type { InputFormat } from './input/format.js';
import type { RunEnd, RunInput } from './run.js';
import { SeenHosts } from './seen-hosts.js';
import type { Tally } from './tally.js';

/** What a filter asks of each record, and what becomes of it. */
export interface FilterSettings {
  readonly agents: readonly Agent[];
  readonly output: OutputMode;
  /** The verdict on URLs for whose authority the table has no robots.txt. */
  readonly unknown: Exclude<Verdict, 'invalid'>;
  readonly explain: boolean;
  readonly strict: boolean;
  /** The member that holds the URL: a key for each level. */
  readonly urlField: readonly string[];
  /**
   * Name of the member that is added; `undefined` for `verdict`, or `verdicts` with several agents.
   */
  readonly verdictField: string | undefined;
  /** Octets; a longer line is an invalid record. */
  readonly maxLineOctets: number;
  /** Whether `hostsSeen` is wanted: with a million hosts it took up to 6 % of the time. */
  readonly countHosts: boolean;
}

export interface FilterOptions {
  readonly table: Table;
  /** A pool of threads, or the thread that calls. */
  readonly pool: Executor;
  readonly settings: FilterSettings;
  /**
   * Called for the first ten bad records, in their order, with what they are numbered by. The
   * others are only counted.
   */
  readonly onBadRecord?: ((record: BadRecord, unit: RecordUnit) => void) | undefined;
}

/** Bad records that are named. */
const NAMED_RECORDS = 10;

/**
 * What a filter asks of inputs of one format: the query in memory, and the flow that carries it
 * out.
 */
interface Stage {
  readonly query: Query;
  readonly region: Region;
  readonly flow: Flow;
}

/** Takes inputs through a table, one after another, and counts what became of their records. */
export class Filter {
  readonly #table: Table;
  readonly #arena: Arena;
  readonly #pool: Executor;
  readonly #settings: FilterSettings;
  readonly #onBadRecord: FilterOptions['onBadRecord'];
  readonly #stages = new Map<InputFormat, Stage>();
  #named = 0;
  #cancelled = false;

  /** @throws RobotsFilterError `usage` for an agent that a reduced table cannot answer for */
  constructor({ table, pool, settings, onBadRecord }: FilterOptions) {
    const { arena, view } = tableMemory(table);
    for (const agent of settings.agents) view.checkAgent(agent);
    this.#table = table;
    this.#arena = arena;
    this.#pool = pool;
    this.#settings = settings;
    this.#onBadRecord = onBadRecord;
  }

  /**
   * Filters one input, behind those before it.
   *
   * @param output a descriptor or a stream; neither is closed
   * @param outputName the output as messages name it
   * @throws RobotsFilterError `input` or `output` if they cannot be read or written, `input` at the
   *   first bad record if the settings are strict, `limit` if the batches do not fit beside the
   *   table, `worker` if a thread dies
   */
  async run(
    input: RunInput & { readonly format: InputFormat },
    output: number | Writable,
    outputName?: string,
  ): Promise<RunEnd> {
    if (this.#cancelled) return 'cancelled';
    return this.#stage(input.format).flow.run(input, output, outputName);
  }

  /**
   * Sets memory aside for inputs of a format, which their first run would do otherwise.
   *
   * @throws RobotsFilterError `limit` if the batches do not fit beside the table
   */
  prepare(format: InputFormat): void {
    this.#stage(format);
  }

  /** Octets of input read and records judged; cheap enough to be asked for often. */
  progress(): { octets: number; records: number } {
    let octets = 0;
    let records = 0;
    for (const { flow } of this.#stages.values()) {
      const progress = flow.progress();
      octets += progress.octets;
      records += progress.records;
    }
    return { octets, records };
  }

  /** What has been counted over all inputs so far. */
  tally(): Tally {
    const sum = {
      records: 0,
      passed: 0,
      bad: 0,
      outcomes: this.#settings.agents.map((): number[] => []),
    };
    for (const { flow } of this.#stages.values()) {
      const tally = flow.tally();
      sum.records += tally.records;
      sum.passed += tally.passed;
      sum.bad += tally.bad;
      sum.outcomes.forEach((outcomes, agent) => {
        tally.outcomes[agent]?.forEach((count, outcome) => {
          outcomes[outcome] = (outcomes[outcome] ?? 0) + count;
        });
      });
    }
    return sum;
  }

  /** Hosts of the table that URLs were of; 0 unless the settings ask for them. */
  hostsSeen(): number {
    const seen = new SeenHosts(tableMemory(this.#table).header.buckets * BUCKET_SLOTS);
    for (const { flow, query } of this.#stages.values()) {
      seen.add(this.#arena.memory, query.address, flow.workerBlocks);
    }
    return seen.count;
  }

  /** Ends the run at the next batch ends, and further ones before they begin. */
  cancel(): void {
    this.#cancelled = true;
    for (const { flow } of this.#stages.values()) flow.cancel();
  }

  /**
   * Cancels what runs, waits for its end, and gives its memory back. The counters are gone then;
   * the pool stays.
   */
  async close(): Promise<void> {
    this.cancel();
    for (const { flow, region } of this.#stages.values()) {
      await flow.close();
      this.#arena.give(region);
    }
    this.#stages.clear();
  }

  #stage(format: InputFormat): Stage {
    const known = this.#stages.get(format);
    if (known !== undefined) return known;
    const { table, header, view } = tableMemory(this.#table);
    const { countHosts, ...asked } = this.#settings;
    const settings = {
      ...asked,
      format,
      google: header.profile === 'google',
      anyHost: 0,
      seenSlots: countHosts ? header.buckets * BUCKET_SLOTS : 0,
    };
    const region = this.#arena.take(queryOctets(settings));
    const { query, bytes } = encodeQuery(settings, region.address, table, (token) =>
      view.tokenNumber(token),
    );
    new Uint8Array(this.#arena.memory.buffer).set(bytes, region.address);
    const unit = recordUnit(format);
    const flow = new Flow({
      pool: this.#pool,
      arena: this.#arena,
      module: kernelModule(),
      query,
      unit,
      onBadRecord: (record) => this.#name(record, unit),
    });
    const stage = { query, region, flow };
    this.#stages.set(format, stage);
    return stage;
  }

  /** Each flow names ten, but formats have flows of their own. */
  #name(record: BadRecord, unit: RecordUnit): void {
    if (this.#named === NAMED_RECORDS) return;
    this.#named++;
    this.#onBadRecord?.(record, unit);
  }
}
