/** The library's filterStream and verdicts: a run over a stream. */

import { availableParallelism } from 'node:os';
import { Duplex, Readable, Writable } from 'node:stream';
import {
  checkItems,
  checkOptions,
  type OptionKinds,
  parseFieldPath,
  shownValue,
  wholeNumber,
} from '../base/arguments.js';
import { RobotsFilterError } from '../base/errors.js';
import { hasWorkingDirectory } from '../files/system-error.js';
import { secondsOfMaxAge, type Table, tableMemory } from '../judge/table.js';
import { hasHistories, type TableMemory } from '../judge/table-memory.js';
import type { OutputMode } from '../kernel/query-settings.js';
import type { Judgement } from '../kernel/session.js';
import {
  type BadRecord,
  DEFAULT_MAX_LINE_BYTES,
  GREATEST_MAX_LINE_BYTES,
  MAX_THREADS,
} from '../pipeline/bad-record.js';
import { Filter, type FilterSettings, memberConflict } from '../pipeline/filter.js';
import type { RunEnd, RunInput } from '../pipeline/run.js';
import { parseAgent, refuseSameAgents } from '../protocol/agent.js';
import { knownAgents } from '../protocol/known-agents.js';
import { warnOfMisspeltAgents } from '../protocol/unnamed-agents.js';
import { parseUses, type Use } from '../protocol/uses.js';
import type { Verdict } from '../protocol/verdict.js';
import { MainThread } from '../workers/main-thread.js';
import { Pool } from '../workers/pool.js';

/** Options of `filterStream`. */
export interface FilterStreamOptions {
  /**
   * The crawlers, at most 256: product tokens (RFC 9309 section 2.2.1) or fallback chains, each
   * `A:B` or a list. Default `*`.
   */
  readonly agents?: string | readonly (string | readonly string[])[] | undefined;
  /**
   * `text` (default): one URL per line; `ndjson`: one JSON object per line. UTF-8, not compressed.
   * A line of text that contains a tab is `invalid` (`tab-in-line`), as is one that contains a
   * carriage return (`return-in-line`); no other columns are recognised.
   */
  readonly input?: 'text' | 'ndjson' | undefined;
  /**
   * `annotate` (default): all records, with their verdicts. `allowed`: the records that every agent
   * may fetch, byte for byte. `denied`: the records that some agent may not fetch. `verdicts`: the
   * verdicts alone, a line for each record. `mask-ndjson`: lines `{"allowed":true}` or
   * `{"allowed":false}`.
   */
  readonly output?: OutputMode | undefined;
  /** Verdict for URLs without a robots.txt in the table. Default `unknown`. */
  readonly unknown?: Exclude<Verdict, 'invalid'> | undefined;
  /** Adds the reason and the rule that decided; with `annotate` only. Default false. */
  readonly explain?: boolean | undefined;
  /** Fails at the first invalid record. Default false: its verdict is `invalid`. */
  readonly strict?: boolean | undefined;
  /**
   * Member that holds the URL, as a name whose dots descend, or a list of keys. A name in double
   * quotes may have dots of its own: `"request.url"`. Default `url`.
   */
  readonly urlField?: string | readonly string[] | undefined;
  /**
   * Member that holds the time of each record, as `urlField`: the robots.txt that was in force then
   * decides. Only with `ndjson`, and a table with histories. Times are texts in RFC 3339 or ISO
   * 8601, stamps of 14 digits or their beginnings, or numbers: seconds or milliseconds since 1970.
   * A record without one is invalid (`no-time`). Default: all records have the time of the table.
   */
  readonly timeField?: string | readonly string[] | undefined;
  /**
   * Member that names the agent of each record, as `urlField`: a User-Agent header, or a product
   * token. The record is judged for the known agent that it names first, otherwise for its first
   * product that is not a browser, and for `*` if it names none; with `explain` the member
   * `judged_as` says for which. Only with `ndjson`, and without `agents` and `uses`. A header can
   * be forged. Default: all records are judged for `agents`.
   */
  readonly agentField?: string | readonly string[] | undefined;
  /**
   * `ever`: a URL is denied if any robots.txt of its authority denies it. Only for a table with
   * histories, without a time. Default: the robots.txt in force at the time, or the newest.
   */
  readonly inForce?: 'ever' | undefined;
  /**
   * Days, 1 to 36,500, after which a robots.txt that was not found again counts for nothing: the
   * verdict is then `unknown`, the reason `no-recent-capture`. Needs a time: `timeField`, or that
   * of a table of `Table.at`. Default: any number.
   */
  readonly maxAge?: number | undefined;
  /**
   * Uses about which is asked for each agent: `train`, `search`, `input`, or keys of signals; one
   * or a list. The member `use` has the answers `granted`, `refused` or `unstated`, where the
   * verdict is allow. Only for a table with signals (`CompileOptions.signals`). Experimental.
   */
  readonly uses?: string | readonly string[] | undefined;
  /** By use, the product token whose groups speak for it, too. Default: none. */
  readonly policyTokens?: Readonly<Record<string, string>> | undefined;
  /**
   * Whether `allowed`, `denied` and `mask-ndjson` treat a use that is not granted as refused.
   * Default false: a use that is unstated is not refused.
   */
  readonly requireGrant?: boolean | undefined;
  /**
   * Name of the added member; with `annotate` only. Default `verdict`, or `verdicts` for several
   * agents.
   */
  readonly verdictField?: string | undefined;
  /** Number of threads, 1 to 256. Default: one per core. */
  readonly threads?: number | undefined;
  /** Longest line in bytes, up to 512 MiB; a longer line is invalid. Default 16 MiB. */
  readonly maxLineBytes?: number | undefined;
  /** Called for the first ten invalid records, in order. If it throws, the stream fails. */
  readonly onBadRecord?: ((record: BadRecord) => void) | undefined;
}

const OPTIONS: OptionKinds<FilterStreamOptions> = {
  agents: 'other',
  input: ['text', 'ndjson'],
  output: ['annotate', 'allowed', 'denied', 'verdicts', 'mask-ndjson'],
  unknown: ['allow', 'deny', 'unknown'],
  explain: 'boolean',
  strict: 'boolean',
  urlField: 'other',
  timeField: 'other',
  agentField: 'other',
  inForce: ['ever'],
  maxAge: 'number',
  uses: 'other',
  policyTokens: 'other',
  requireGrant: 'boolean',
  verdictField: 'string',
  threads: 'number',
  maxLineBytes: 'number',
  onBadRecord: 'function',
};

/**
 * Creates a Duplex of bytes: lines in, the same records out with their verdicts, or only those that
 * pass, in order. The slower end sets the pace, and memory is bounded. Each stream has its own
 * threads, which end with it.
 *
 * A stream reserves about 160 MiB of addresses in addition to the table's. Both must fit in 4 GiB,
 * which is enough for about 24 streams at a time. A smaller `maxLineBytes` makes room for more.
 *
 * With `strict`, the stream fails with RobotsFilterError `input` at the first invalid record. It
 * fails with `worker` if a thread fails.
 *
 * @throws RobotsFilterError `usage` for an option out of range or without effect, a member that
 *   would occur twice, an agent that is not a product token or that a reduced table cannot answer
 *   for; `limit` if the batches do not fit next to the table
 */
export function filterStream(table: Table, options: FilterStreamOptions = {}): Duplex {
  const memory = tableMemory(table);
  checkOptions('filterStream', options, OPTIONS);
  const { agents = '*', input: format = 'text', output = 'annotate', urlField = 'url' } = options;
  const threads = wholeNumber('threads', options.threads ?? availableParallelism(), MAX_THREADS);
  const maxLineBytes = wholeNumber(
    'maxLineBytes',
    options.maxLineBytes ?? DEFAULT_MAX_LINE_BYTES,
    GREATEST_MAX_LINE_BYTES,
  );
  const list = typeof agents === 'string' ? [agents] : agents;
  if (!Array.isArray(list)) {
    const remedy = "Pass a product token, or a list of agents: ['A', 'B>C']";
    throw new RobotsFilterError('usage', `agents is ${shownValue(agents)}. ${remedy}`);
  }
  const parsedAgents = list.map((agent) => parseAgent(agent, table.profile));
  refuseSameAgents(parsedAgents);
  const uses = usesOf(options, output);
  const agentField = agentFieldOf(options, memory);
  const settings = {
    agents: parsedAgents,
    uses,
    requireGrant: options.requireGrant ?? false,
    output,
    unknown: options.unknown ?? 'unknown',
    explain: options.explain ?? false,
    dated: options.explain === true && hasHistories(memory),
    strict: options.strict ?? false,
    urlField: fieldPath('urlField', urlField),
    timeField: timeFieldOf(options, memory, fieldPath('urlField', urlField)),
    agentField,
    knownAgents: agentField && knownAgents(),
    ever: options.inForce === 'ever',
    maxAge:
      options.maxAge === undefined
        ? undefined
        : secondsOfMaxAge(
            options.maxAge,
            options.timeField !== undefined || memory.time !== undefined,
            'timeField',
          ),
    verdictField: options.verdictField,
    maxLineBytes,
    countHosts: false,
  };
  refuseAdditions(options);
  refuseMemberConflict(settings, format);
  const { view, hosts } = memory;
  if (hosts > 0 && !view.isReduced) void warnOfMisspeltAgents(settings.agents, view, 'the table');
  const pool = hasWorkingDirectory() ? new Pool({ threads }) : new MainThread();
  const { onBadRecord } = options;
  try {
    const filter = new Filter({
      table: memory,
      pool,
      settings,
      onBadRecord: onBadRecord && ((record) => onBadRecord(record)),
    });
    filter.prepare(format);
    return createFilterStream({
      run: (input, target, name) => filter.run({ ...input, format }, target, name),
      cancel: () => filter.cancel(),
      async close() {
        await filter.close();
        await pool.close();
      },
    });
  } catch (error) {
    void pool.close();
    throw error;
  }
}

/** @throws RobotsFilterError `usage` for an option that adds to records where nothing is added */
function refuseAdditions({
  output = 'annotate',
  explain,
  verdictField,
}: FilterStreamOptions): void {
  if (output === 'annotate') return;
  const idle =
    explain === true ? 'explain' : verdictField === undefined ? undefined : 'verdictField';
  if (idle === undefined) return;
  const passes = output === 'allowed' || output === 'denied';
  const fate = passes
    ? 'passes records unchanged'
    : 'writes one verdict for each record and nothing else';
  throw new RobotsFilterError(
    'usage',
    `${idle} has no effect with output ${JSON.stringify(output)}, which ${fate}. Leave it out, or use output 'annotate'`,
  );
}

/** @throws RobotsFilterError `usage` if a member would occur twice in records */
function refuseMemberConflict(settings: FilterSettings, format: 'text' | 'ndjson'): void {
  const conflict = memberConflict(settings, settings.output === 'annotate' ? format : undefined);
  if (conflict === undefined) return;
  const reasons = {
    explanation: 'explain adds a member of that name',
    preferences: 'preferences are a member of that name',
    crawl_delay: 'the crawl-delay is a member of that name',
    use: 'the answers about uses are members of that name',
    'bad line': 'a member of that name is added for invalid lines',
    url: 'the URL is read from a member of that name',
  };
  const name = JSON.stringify(conflict.member);
  throw new RobotsFilterError(
    'usage',
    `the added member cannot be ${name}: ${reasons[conflict.with]}. Use another verdictField or urlField`,
  );
}

/**
 * The path of the time.
 *
 * @throws RobotsFilterError `usage` if the table, the format or another option has no other time
 */
function timeFieldOf(
  { timeField, inForce, input = 'text' }: FilterStreamOptions,
  table: TableMemory,
  urlField: readonly string[],
): readonly string[] | undefined {
  if (timeField === undefined && inForce === undefined) return undefined;
  const option = timeField === undefined ? `inForce '${inForce}'` : 'timeField';
  const path = timeField === undefined ? undefined : fieldPath('timeField', timeField);
  const fault =
    path !== undefined && inForce !== undefined
      ? 'asks for a time, and inForce for all times. Leave one out'
      : path !== undefined && input === 'text'
        ? "has no effect on text, whose lines are URLs. Use input 'ndjson', or table.at(time)"
        : table.time !== undefined
          ? 'asks for other times than table.at. Use the table that was opened'
          : !hasHistories(table)
            ? 'needs a table with histories. Compile it with { history: true }, or on the command line with --history'
            : path?.join('.') === urlField.join('.')
              ? 'and urlField name the same member. Name the one with the time'
              : undefined;
  if (fault === undefined) return path;
  throw new RobotsFilterError('usage', `${option} ${fault}`);
}

/**
 * The path of the value that names the agent.
 *
 * @throws RobotsFilterError `usage` if the table, the format or another option has no such agents
 */
function agentFieldOf(
  options: FilterStreamOptions,
  { view }: TableMemory,
): readonly string[] | undefined {
  const { agentField, agents, uses, input = 'text', urlField = 'url', timeField } = options;
  if (agentField === undefined) return undefined;
  const path = fieldPath('agentField', agentField);
  const isTaken = (field: string | readonly string[]): boolean =>
    fieldPath('urlField', field).join('.') === path.join('.');
  const fault =
    agents !== undefined
      ? 'and agents both say for whom to judge. Leave one out'
      : uses !== undefined
        ? 'and uses do not go together yet. Name the agents'
        : input === 'text'
          ? "has no effect on text, whose lines are URLs. Use input 'ndjson'"
          : view.isReduced
            ? 'asks for any agent, and the table was compiled for some only. Compile it without agents'
            : isTaken(urlField) || (timeField !== undefined && isTaken(timeField))
              ? 'names the member of another field. Name the one with the User-Agent'
              : undefined;
  if (fault === undefined) return path;
  throw new RobotsFilterError('usage', `agentField ${fault}`);
}

/**
 * The uses about which is asked.
 *
 * @throws RobotsFilterError `usage` as `parseUses`, and for a `requireGrant` without effect
 */
function usesOf(
  { uses = [], policyTokens, requireGrant }: FilterStreamOptions,
  output: OutputMode,
): Use[] {
  const list = typeof uses === 'string' ? [uses] : uses;
  if (!Array.isArray(list) || !list.every((use) => typeof use === 'string')) {
    const remedy = "Pass a use, or a list of uses: ['train', 'search']";
    throw new RobotsFilterError('usage', `uses is ${shownValue(uses)}. ${remedy}`);
  }
  const parsed = parseUses(list, policyTokens, { use: 'uses:', policyToken: 'policyTokens:' });
  const chooses = output !== 'annotate' && output !== 'verdicts';
  if (requireGrant === true && (parsed.length === 0 || !chooses)) {
    const missing = parsed.length === 0 ? 'uses' : "output 'allowed'";
    throw new RobotsFilterError(
      'usage',
      `requireGrant has no effect without ${missing}. Add it, or leave requireGrant out`,
    );
  }
  return parsed;
}

function fieldPath(option: string, field: string | readonly string[]): readonly string[] {
  const keys = typeof field === 'string' ? parseFieldPath(field) : field;
  const isList = Array.isArray(keys) && keys.every((key) => typeof key === 'string');
  if (isList && keys.length > 0) return keys;
  throw new RobotsFilterError(
    'usage',
    `${option} is ${JSON.stringify(field)}. Use the name of a member, names separated by dots, or a list of names: ["request.url"] for a name with a dot`,
  );
}

/** Carries out the run of a filter stream. */
interface StreamRunner {
  run(input: RunInput, output: Writable, outputName?: string): Promise<RunEnd>;
  /** Ends the run after the batches in hand. */
  cancel(): void;
  /** Called once, when the run is over and the stream has ended or is destroyed. */
  close(): Promise<void>;
}

/**
 * Creates a Duplex of bytes: lines in, records out, in order. The stream takes writes while the
 * ring has room, and empties the ring as it is read. It ends when the input has ended and
 * everything has been read. Destroying the stream ends the run.
 *
 * @param name the name of the input in messages
 */
export function createFilterStream(runner: StreamRunner, name = 'the stream'): Duplex {
  return new FilterStream(runner, name);
}

type Callback = (error?: Error | null) => void;

class FilterStream extends Duplex {
  readonly #runner: StreamRunner;
  /** Passes the bytes that are written to this stream on to the ring. */
  readonly #input: Readable;
  /** Ends the last write; called when more input is wanted. */
  #wanted: Callback | undefined;
  /** Ends the last output; called when this stream is read. */
  #read: Callback | undefined;
  readonly #run: Promise<void>;

  constructor(runner: StreamRunner, name: string) {
    super();
    this.#runner = runner;
    this.#input = new Readable({
      // The stream buffers nothing: a write ends when the ring has its bytes, and then the chunk
      // may be reused.
      highWaterMark: 0,
      read: () => {
        const wanted = this.#wanted;
        this.#wanted = undefined;
        wanted?.();
      },
    });
    const output = new Writable({
      write: (chunk, _encoding, callback) => {
        if (this.destroyed || this.push(chunk)) callback();
        else this.#read = callback;
      },
    });
    this.#run = this.#carryOut(name, output);
  }

  async #carryOut(name: string, output: Writable): Promise<void> {
    try {
      await this.#runner.run({ kind: 'stream', name, stream: this.#input }, output);
      this.push(null);
    } catch (error) {
      this.destroy(error instanceof Error ? error : new Error(String(error)));
    }
  }

  override _write(chunk: unknown, _encoding: BufferEncoding, callback: Callback): void {
    this.#wanted = callback;
    this.#input.push(chunk);
  }

  override _final(callback: Callback): void {
    this.#input.push(null);
    callback();
  }

  override _read(): void {
    const read = this.#read;
    this.#read = undefined;
    read?.();
  }

  override _destroy(error: Error | null, callback: Callback): void {
    this.#runner.cancel();
    // The run may be waiting for this stream to be read.
    this._read();
    this.#run
      .then(() => this.#runner.close())
      .then(
        () => callback(error),
        (failure) => callback(error ?? failure),
      );
  }
}

/**
 * Judges URLs one by one, in order, on the calling thread. Each URL is taken when its verdict is
 * requested. For millions of URLs, `filterStream` is faster.
 *
 * @param agent a product token, or a fallback chain as `A:B` or a list (RFC 9309 section 2.2.1)
 * @throws RobotsFilterError `usage` for arguments of other types, at once; and if the agent is not
 *   a product token, or if a reduced table does not hold its groups
 */
export function verdicts(
  table: Table,
  urls: AsyncIterable<string> | Iterable<string>,
  agent: string | readonly string[],
): AsyncGenerator<Judgement & { readonly url: string }> {
  const { header } = tableMemory(table);
  checkItems('verdicts', urls);
  parseAgent(agent, header.profile);
  return judged(table, urls, agent);
}

async function* judged(
  table: Table,
  urls: AsyncIterable<string> | Iterable<string>,
  agent: string | readonly string[],
): AsyncGenerator<Judgement & { readonly url: string }> {
  for await (const url of urls) yield { url, ...table.verdict(url, agent) };
}
