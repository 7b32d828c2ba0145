/** What is asked of every input (agents, profile, output), and the inputs one after another. */

import {
  type Bank,
  offsetInTable,
  queryTablesIn,
  TABLE_ADDRESS,
  type TableMemory,
} from '../judge/table-memory.js';
import { type Arena, kernelModule, type Region } from '../kernel/kernel.js';
import {
  MAX_BAD,
  QUERY_AGENT_COLUMN,
  QUERY_COLUMN,
  QUERY_ROW_FIELDS,
  QUERY_TIME_COLUMN,
} from '../kernel/layout.js';
import {
  encodeQuery,
  encodeShardQueries,
  type Query,
  queryBytes,
  rememberedBytes,
  shardQueryBytes,
} from '../kernel/query.js';
import {
  CONVERTED_URL,
  type Conversion,
  isRows,
  JUDGED_AS,
  NOTATIONS,
  type OutputMode,
  outcomesOf,
  type QuerySettings,
  type RecordFormat,
  type Server,
  useField,
} from '../kernel/query-settings.js';
import type { Agent } from '../protocol/agent.js';
import type { KnownAgent } from '../protocol/known-agent.js';
import type { Use } from '../protocol/uses.js';
import type { Verdict } from '../protocol/verdict.js';
import type { TableHeader } from '../table/check.js';
import type { Executor } from '../workers/messages.js';
import { type BadRecord, RECORD_UNITS, type RecordUnit } from './bad-record.js';
import {
  type CountedBlocks,
  type Extents,
  HostCounts,
  type NamedAgents,
  type NamedIndices,
  type RuleCounts,
  SeenHosts,
  sumNamedAgents,
  sumNamedHosts,
  sumRules,
  type Tally,
  type WantedRules,
} from './counts.js';
import { ARCHIVE_TIME } from './input/cdx.js';
import { MOST_FIELDS } from './input/columns.js';
import { type OutputTarget, openOutput, rewritten } from './output/output.js';
import type { RecordSayings, Saying } from './output/record-sayings.js';
import {
  type AskedFormat,
  conversionOf,
  FramedRecords,
  HeaderRow,
  sayingAdder,
  writtenFormat,
} from './output/rows.js';
import { Run, type RunEnd, type RunInput } from './run.js';

/** Entries of the counters of rules for each slot of the table and agent. */
const RULES_PER_SLOT = 8;
/** By how much there are more for records with times: for versions, whose number is not known. */
const USUAL_VERSIONS = 32;

/** The questions of a filter about each record, and its output. */
export interface FilterSettings {
  readonly agents: readonly Agent[];
  /** Uses about which is asked for each agent. Default: none. */
  readonly uses?: readonly Use[] | undefined;
  /** Whether records are chosen as if a use that is not granted were refused. Default false. */
  readonly requireGrant?: boolean | undefined;
  readonly output: OutputMode;
  /** The format of the output; `undefined` for that of each input, as lines. */
  readonly outputFormat?: AskedFormat | undefined;
  /**
   * Whether each input has its own output: then each output has a header, and no column for a
   * partition of its input's path, because the output's path has the partition. Default false.
   */
  readonly mirrors?: boolean;
  /** Whether verdicts alone begin with a line that names the agents. Default false. */
  readonly outputHeader?: boolean;
  /** The verdict on URLs without a robots.txt in the table. */
  readonly unknown: Exclude<Verdict, 'invalid'>;
  readonly explain: boolean;
  readonly strict: boolean;
  /** The member that holds the URL: one key for each level. */
  readonly urlField: readonly string[];
  /**
   * The member with the time of each record, as `urlField`: its robots.txt is the one that was in
   * force then. `undefined`, the default, for the time of the table. Only with histories.
   */
  readonly timeField?: readonly string[] | undefined;
  /**
   * The member that names the agent of each record, as `urlField`: the record is judged for it.
   * `undefined`, the default, if all are judged for `agents`. Otherwise these are one agent, whose
   * name stands for all that records name, and nothing is asked about uses.
   */
  readonly agentField?: readonly string[] | undefined;
  /** For logs, the server to which paths belong. Default: each line begins with it. */
  readonly server?: Server | undefined;
  /** With `agentField`, the crawlers that are found by their names. Default: none. */
  readonly knownAgents?: readonly KnownAgent[] | undefined;
  /** Whether every version of a robots.txt counts. Default false. Only with histories. */
  readonly ever?: boolean;
  /**
   * Seconds after which a robots.txt that was not found again counts for nothing. Only with times.
   * Default: any number.
   */
  readonly maxAge?: number | undefined;
  /** Records of later times are counted as still to come, in seconds since 1970. Default: none. */
  readonly now?: number | undefined;
  /** Whether explanations have the time from which the version was in force. Default false. */
  readonly dated?: boolean;
  /** Name of the added member; `undefined` for `verdict`, or `verdicts` with several agents. */
  readonly verdictField: string | undefined;
  /** In bytes; a longer line is an invalid record. */
  readonly maxLineBytes: number;
  /** Whether `hostsSeen` is wanted, which costs time. */
  readonly countHosts: boolean;
  /** Whether `hostCounts` is wanted, which costs time and 16 bytes a slot for each agent. */
  readonly countByHost?: boolean;
  /** Whether `ruleCounts` is wanted, which costs time and at most 34 MB for each thread. */
  readonly countByRule?: boolean;
  /** Counters of rules: a power of two, 4 for each agent at least. Default: by the table's size. */
  readonly ruleEntries?: number;
  /**
   * Number of shards: the shard of each host comes out in place of its verdict. For one agent.
   */
  readonly addedShards?: number | undefined;
  /** Whether shards come out without the records (kernel/layout.ts, CONVERT_OUTCOMES). */
  readonly shardsAlone?: boolean;
  /** What is said beside verdicts; `undefined` for nothing. Only with `annotate`. */
  readonly sayings?: RecordSayings | undefined;
}

interface FilterOptions {
  readonly table: TableMemory;
  /** A pool of threads, or the calling thread. */
  readonly pool: Executor;
  readonly settings: FilterSettings;
  /** Bytes of a batch. Default: see Run. */
  readonly batchBytes?: number | undefined;
  /**
   * Called for the first ten bad records, in order, with the unit that numbers them. The others are
   * only counted.
   */
  readonly onBadRecord?: ((record: BadRecord, unit: RecordUnit) => void) | undefined;
}

/** A query in a memory. */
interface PlacedQuery {
  readonly arena: Arena;
  readonly region: Region;
  readonly query: Query;
}

/** The queries for inputs of one format, and the run that carries them out. */
interface Stage {
  readonly queries: readonly PlacedQuery[];
  readonly run: Run;
}

/** Where the records of an input have their URL, their time and their agent. */
type Fields = Pick<FilterSettings, 'urlField' | 'timeField' | 'agentField'>;

/** Filters inputs through a table, one after another, and counts their records. */
export class Filter {
  readonly #table: TableMemory;
  readonly #pool: Executor;
  readonly #settings: FilterSettings;
  readonly #batchBytes: number | undefined;
  readonly #onBadRecord: FilterOptions['onBadRecord'];
  /** By the format of their inputs, and the path of the URL in them. */
  readonly #stages = new Map<string, Stage>();
  #headerRow: HeaderRow;
  #named = 0;
  #cancelled = false;

  /** @throws RobotsFilterError `usage` for an agent or a use that the table cannot answer */
  constructor({ table, pool, settings, batchBytes, onBadRecord }: FilterOptions) {
    for (const agent of settings.agents) table.view.checkAgent(agent);
    table.view.checkUses(settings.uses ?? []);
    this.#table = table;
    this.#pool = pool;
    this.#settings = settings;
    this.#batchBytes = batchBytes;
    this.#headerRow = headerRowFor(settings);
    this.#onBadRecord = onBadRecord;
  }

  /**
   * Filters one input.
   *
   * @param output a descriptor or a stream, neither of which is closed; or what opens an output
   * @param outputName the name of the output in messages
   * @throws RobotsFilterError `input` or `output` if they cannot be read or written, `input` at the
   *   first bad record if the settings are strict, `limit` if the batches do not fit beside the
   *   table, `worker` if a thread dies or cannot be started
   */
  async run(
    input: RunInput & { readonly format: RecordFormat },
    output: OutputTarget,
    outputName = output === 1 ? 'standard output' : 'the output',
  ): Promise<RunEnd> {
    if (this.#cancelled) return 'cancelled';
    const { queries, run } = this.#stage(input.format, this.#fieldsOf(input));
    if (input.kind === 'stream' && input.column !== undefined) {
      for (const { arena, query } of queries) {
        const view = new DataView(arena.memory.buffer);
        view.setInt32(query.address + QUERY_COLUMN, input.column, true);
        view.setInt32(query.address + QUERY_ROW_FIELDS, input.rowFields ?? 0, true);
        view.setInt32(query.address + QUERY_TIME_COLUMN, input.timeColumn ?? 0, true);
        view.setInt32(query.address + QUERY_AGENT_COLUMN, input.agentColumn ?? 0, true);
      }
    }
    const conversion = this.#conversion(input.format);
    if (this.#settings.mirrors === true) this.#headerRow = headerRowFor(this.#settings);
    const preamble = this.#headerRow.of({ ...input, conversion });
    const { agents, sayings, outputFormat } = this.#settings;
    const format = writtenFormat(input.format, outputFormat);
    // The output for Parquet adds its columns itself.
    if (sayings === undefined || format === 'parquet' || format === 'warc') {
      return run.filter(input, output, outputName, preamble);
    }
    const addTo = sayingAdder(format, agents, sayings.sayings);
    const records = new FramedRecords({
      outcomes: outcomesOf(this.#settings),
      preamble,
      add: ({ record, url, outcomes }) => addTo(record, sayings.of(url, outcomes)),
    });
    const withSayings = () => rewritten(openOutput(output, outputName), records);
    return run.filter(input, withSayings, outputName);
  }

  /**
   * Reserves memory for inputs of a format. Otherwise their first run reserves it.
   *
   * @throws RobotsFilterError `limit` if the batches do not fit beside the table
   */
  prepare(format: RecordFormat): void {
    this.#stage(format, this.#settings);
  }

  /** Returns the bytes of input read and the records judged. Cheap enough to call often. */
  progress(): { bytes: number; records: number } {
    let bytes = 0;
    let records = 0;
    for (const { run } of this.#stages.values()) {
      const progress = run.progress();
      bytes += progress.bytes;
      records += progress.records;
    }
    return { bytes, records };
  }

  /** The counters of all inputs so far. */
  tally(): Tally {
    const sum = {
      records: 0,
      passed: 0,
      bad: 0,
      toCome: 0,
      outcomes: Array.from({ length: outcomesOf(this.#settings) }, (): number[] => []),
    };
    for (const { run } of this.#stages.values()) {
      const tally = run.tally();
      sum.records += tally.records;
      sum.passed += tally.passed;
      sum.bad += tally.bad;
      sum.toCome += tally.toCome;
      sum.outcomes.forEach((outcomes, agent) => {
        tally.outcomes[agent]?.forEach((count, outcome) => {
          outcomes[outcome] = (outcomes[outcome] ?? 0) + count;
        });
      });
    }
    return sum;
  }

  /** Returns the number of hosts of the table that had URLs; 0 unless `countHosts` is set. */
  hostsSeen(): number {
    return this.#table.banks.reduce((sum, { slots }, index) => {
      const seen = new SeenHosts(slots);
      for (const blocks of this.#countedIn(index)) seen.add(blocks);
      return sum + seen.count;
    }, 0);
  }

  /** The verdicts on the URLs of each host; none unless `countByHost` is set. */
  hostCounts(): HostCounts {
    return new HostCounts(this.#slotBlocks(), this.#table.slots, outcomesOf(this.#settings));
  }

  /**
   * The hosts of the URLs of agents that records name: see `sumNamedHosts`. None unless
   * `countByHost` and `countByRule` are set.
   */
  namedHosts(names: NamedIndices): Extents[] | undefined {
    return sumNamedHosts(this.#slotBlocks(), this.#table.slots, names);
  }

  #slotBlocks() {
    return this.#table.banks.flatMap(({ firstSlot, slots }, index) =>
      this.#countedIn(index).map((each) => ({ ...each, firstSlot, slots })),
    );
  }

  /**
   * The rules that decided about URLs; none unless `countByRule` is set.
   *
   * @param wanted the rules that must be among them; all if undefined
   * @param names with `agentField`, the agents that are counted apart: see `sumRules`
   */
  ruleCounts(wanted?: WantedRules, names?: NamedIndices): RuleCounts {
    const banks = this.#table.banks.map((bank, index) => ({
      blocks: this.#countedIn(index),
      offsetOf: (address: number): number => offsetInTable(bank, address),
    }));
    return sumRules(banks, wanted, names);
  }

  /** The records of each agent that records name; none unless there is an `agentField`. */
  namedAgents(): NamedAgents {
    return sumNamedAgents(this.#table.banks.flatMap((_, index) => this.#countedIn(index)));
  }

  /** What was counted in a bank, for each format. */
  #countedIn(bank: number): CountedBlocks[] {
    return [...this.#stages.values()].flatMap(({ run }) => run.counted[bank] ?? []);
  }

  /** Ends the run after the batches in hand, and further runs before they begin. */
  cancel(): void {
    this.#cancelled = true;
    for (const { run } of this.#stages.values()) run.cancel();
  }

  /**
   * Cancels the run, waits for its end, and returns the memory, which ends the counters too. The
   * pool stays open.
   */
  async close(): Promise<void> {
    this.cancel();
    for (const { run, queries } of this.#stages.values()) {
      await run.close();
      for (const { arena, region } of queries) arena.give(region);
    }
    this.#stages.clear();
  }

  /** The paths of the URL, the time and the agent in an input. */
  #fieldsOf(input: RunInput): Fields {
    const { urlField, timeField, agentField } = this.#settings;
    if (input.kind !== 'stream') return { urlField, timeField, agentField };
    return {
      urlField: input.urlField ?? urlField,
      timeField: input.timeField ?? timeField,
      agentField: input.agentField ?? agentField,
    };
  }

  #stage(format: RecordFormat, { urlField, timeField, agentField }: Fields): Stage {
    const key = JSON.stringify([format, urlField, timeField, agentField]);
    const known = this.#stages.get(key);
    if (known !== undefined) return known;
    const table = this.#table;
    // The time of a line of CDXJ stands before its object, and a line of a log has no members.
    const isBefore =
      format === 'log' || (format === 'cdxj' && timeField?.join('.') === ARCHIVE_TIME);
    const settingsIn = (bank: Bank) => ({
      ...this.#querySettings(format, bank),
      urlField,
      timeField: isBefore && timeField !== undefined ? [] : timeField,
      timed: timeField !== undefined,
      agentField,
    });
    const { banks, shards } = table;
    const placed = banks.map((bank) => placeQuery(bank, shards, settingsIn(bank)));
    const [first] = placed as [PlacedQuery];
    const [bank] = banks as [Bank];
    const divider = banks.length > 1 ? placeDivider(table, settingsIn(bank)) : undefined;
    const unit = RECORD_UNITS[format];
    const run = new Run({
      pool: this.#pool,
      arena: table.arena,
      module: kernelModule(),
      query: (divider ?? first).query,
      agents: agentField && {
        known: this.#settings.knownAgents ?? [],
        notation: isRows(format) ? 'rows' : format === 'log' ? 'log' : 'json',
      },
      banks: divider && { banks: placed, bankOfShard: bankOfShard(table) },
      batchBytes: this.#batchBytes,
      unit,
      // A damaged place of WARC is named by its offset, when it is found.
      onBadRecord: (record) => {
        if (format !== 'warc' || record.reason !== 'no-object') this.#name(record, unit);
      },
    });
    const stage = { queries: divider === undefined ? placed : [divider, ...placed], run };
    this.#stages.set(key, stage);
    return stage;
  }

  /** The settings of the query for a format, in one memory of the table. */
  #querySettings(format: RecordFormat, { slots }: Bank): QuerySettings {
    const { header, shards } = this.#table;
    const { countHosts, countByHost, countByRule, addedShards, sayings, ...others } =
      this.#settings;
    const { knownAgents: _known, ...asked } = others;
    const conversion = this.#conversion(format);
    // Which rows of Parquet are kept is decided when they are written.
    const all = conversion === 'outcomes' && asked.output !== 'annotate';
    return {
      ...asked,
      ...(all ? ({ output: 'annotate', explain: false } as const) : {}),
      format,
      conversion,
      mostRowFields: MOST_FIELDS,
      google: header.profile === 'google',
      anyHost: 0,
      at: this.#table.time,
      seenSlots: countHosts ? slots : 0,
      countedSlots: countByHost ? slots : 0,
      ruleEntries: countByRule ? (asked.ruleEntries ?? usualRuleEntries(slots, header, asked)) : 0,
      // The kernel is faster if it need not find the shard of a host.
      shards: addedShards ?? (shards.length > 1 ? shards.length : 0),
      addsShard: addedShards !== undefined,
      frames: sayings !== undefined,
    };
  }

  #conversion(format: RecordFormat): Conversion | undefined {
    const { shardsAlone = false, outputFormat } = this.#settings;
    return shardsAlone ? 'outcomes' : conversionOf(format, outputFormat);
  }

  /** Reports a bad record. Each run reports ten, and each format has its own run. */
  #name(record: BadRecord, unit: RecordUnit): void {
    if (this.#named === MAX_BAD) return;
    this.#named++;
    this.#onBadRecord?.(record, unit);
  }
}

function headerRowFor(settings: FilterSettings): HeaderRow {
  return new HeaderRow({ outputHeader: false, ...settings });
}

/** Places the query for the shards of a bank. */
function placeQuery(
  bank: Bank,
  shards: TableMemory['shards'],
  settings: QuerySettings,
): PlacedQuery {
  const tables = queryTablesIn(bank, shards);
  const words = rememberedBytes(settings, bank.slots);
  const region = bank.arena.take(words + shardQueryBytes(settings, tables.length));
  const { buffer } = bank.arena.memory;
  // Eight bytes at a time: V8 fills shared memory number by number.
  new Float64Array(buffer, region.address, words / 8).fill(0);
  const remembered = words === 0 ? 0 : region.address;
  const address = region.address + words;
  const { query, bytes } = encodeShardQueries({ ...settings, remembered }, address, tables);
  new Uint8Array(buffer).set(bytes, address);
  return { arena: bank.arena, region, query };
}

/** The bank of each shard. For a shard that is not in memory the first, which traps when asked. */
function bankOfShard({ banks, shards }: TableMemory): number[] {
  return shards.map((shard) =>
    shard === undefined ? 0 : banks.findIndex(({ arena }) => arena === shard.arena),
  );
}

/** Places the query that finds the shard of each record, in the memory of the batches. */
function placeDivider({ arena }: TableMemory, asked: QuerySettings): PlacedQuery {
  const settings = { ...asked, seenSlots: 0, countedSlots: 0, ruleEntries: 0 };
  const region = arena.take(queryBytes(settings));
  const { query, bytes } = encodeQuery(settings, region.address, TABLE_ADDRESS, () => -1);
  new Uint8Array(arena.memory.buffer).set(bytes, region.address);
  return { arena, region, query };
}

/**
 * Room for the rules of all authorities, if each has as many as the table's robots.txt files have
 * on average, and for a few of each host. From 2 ** 12 to 2 ** 21 entries, of which at most three
 * quarters are used.
 */
function usualRuleEntries(
  slots: number,
  { rules, robots, authorities }: TableHeader,
  asked: Pick<FilterSettings, 'agents' | 'timeField' | 'agentField' | 'ever'>,
): number {
  const { agents, timeField, agentField, ever = false } = asked;
  // How many agents records name is not known.
  if (agentField !== undefined) return 2 ** 21;
  const ofAuthorities = (authorities * rules) / Math.max(robots, 1);
  const versions = timeField !== undefined || ever ? USUAL_VERSIONS : 1;
  const ofAgent = versions * Math.max(RULES_PER_SLOT * slots, (ofAuthorities * 4) / 3 + 1);
  const wanted = agents.length * ofAgent;
  return 2 ** Math.min(Math.max(Math.ceil(Math.log2(wanted)), 12), 21);
}

/** Members that `--explain` adds. */
const EXPLANATION_MEMBERS = ['reason', 'reasons', 'rule', 'rules'];
/** Those that it adds for a table with histories. */
const DATED_MEMBERS = ['version', 'versions'];
/** Members that answers about uses add. */
function membersOfUses(
  verdictField: string | undefined,
  explain: boolean,
  dated: boolean,
): string[] {
  const field = useField(verdictField);
  const explained = [`${field}_reason`, `${field}_reasons`, 'signal', 'signals'];
  return [
    field,
    ...(explain ? explained : []),
    ...(explain && dated ? [`${field}_version`, `${field}_versions`] : []),
  ];
}

/** Members that stand beside the verdict in the output for a record that is not an object. */
const BAD_RECORD_MEMBERS = {
  text: [],
  csv: [],
  tsv: [],
  ndjson: ['line', 'input'],
  json: ['record', 'input'],
  parquet: ['row', 'input'],
  cdxj: ['line', 'input'],
  cdx: [],
  warc: ['record', 'input'],
  log: [],
  auto: ['line', 'record', 'row', 'input'],
} as const satisfies Record<RecordFormat | 'auto', readonly string[]>;

/** A member that would appear twice in an output record. */
interface MemberConflict {
  readonly member: string;
  /** The other source of a member with this name. */
  readonly with: 'explanation' | Saying | 'use' | 'bad line' | 'url';
}

/**
 * The first member that would appear twice in an output record; `undefined` if none would.
 *
 * @param format the format of the input; `undefined` if records come out unchanged
 */
export function memberConflict(
  settings: Pick<
    FilterSettings,
    | 'uses'
    | 'urlField'
    | 'agentField'
    | 'verdictField'
    | 'explain'
    | 'dated'
    | 'strict'
    | 'outputFormat'
  > & { readonly addedSayings?: readonly Saying[] },
  format: RecordFormat | 'auto' | undefined,
): MemberConflict | undefined {
  const { urlField, agentField, verdictField, explain, strict, outputFormat } = settings;
  const { uses = [], addedSayings = [], dated = false } = settings;
  const useMembers = uses.length > 0 ? membersOfUses(verdictField, explain, dated) : [];
  const explanation = [
    ...(explain ? EXPLANATION_MEMBERS : []),
    ...(explain && dated ? DATED_MEMBERS : []),
    ...(explain && agentField !== undefined ? [JUDGED_AS] : []),
  ];
  if (verdictField !== undefined && useMembers.includes(verdictField)) {
    return { member: verdictField, with: 'use' };
  }
  const saying = addedSayings.find((name) => name === verdictField);
  if (saying !== undefined) return { member: saying, with: saying };
  if (verdictField !== undefined && explanation.includes(verdictField)) {
    return { member: verdictField, with: 'explanation' };
  }
  if (format === undefined) return undefined;
  const isText =
    outputFormat === undefined || outputFormat === 'own' || NOTATIONS[outputFormat] === 'text';
  if (!isText && verdictField === CONVERTED_URL) {
    return { member: verdictField, with: 'url' };
  }
  if (format !== 'auto') {
    const converts = conversionOf(format, outputFormat) !== undefined;
    if (converts || NOTATIONS[format] !== 'json') return undefined;
  }
  const added: readonly string[] = BAD_RECORD_MEMBERS[format];
  if (!strict && verdictField !== undefined && added.includes(verdictField)) {
    return { member: verdictField, with: 'bad line' };
  }
  const [first = ''] = urlField;
  // A flat column of Parquet may have the whole path as its name.
  const own = format === 'parquet' || format === 'auto' ? [first, urlField.join('.')] : [first];
  const verdicts = verdictField === undefined ? ['verdict', 'verdicts'] : [verdictField];
  const members = [...verdicts, ...explanation, ...useMembers, ...addedSayings];
  const member = own.find((name) => members.includes(name));
  return member === undefined ? undefined : { member, with: 'url' };
}
