/** The library's Table: an open table, its verdicts, and what it says beside them. */

import {
  checkItems,
  checkOptions,
  checkPath,
  isBytes,
  MOST_DAYS,
  type OptionKinds,
  shownValue,
  wholeNumber,
} from '../base/arguments.js';
import { RobotsFilterError } from '../base/errors.js';
import { type Judgement, type JudgeTarget, Session, type UseJudgement } from '../kernel/session.js';
import type { Agent } from '../protocol/agent.js';
import type { Preferences } from '../protocol/preferences.js';
import type { Rule } from '../protocol/robots-file.js';
import { warnOfMisspeltAgents } from '../protocol/unnamed-agents.js';
import { type Use, useOf } from '../protocol/uses.js';
import type { Profile, Verdict } from '../protocol/verdict.js';
import type { VerifiedTable } from '../verify/verify-table.js';
import { HostAnswers } from './host-records.js';
import { readTable } from './open-table.js';
import {
  hasHistories,
  type PlacedShard,
  placeTable,
  queryTablesIn,
  secondsOfDays,
  secondsOfTime,
  type TableMemory,
  tableAt,
} from './table-memory.js';

export type { TableMemory } from './table-memory.js';

/** Options of `Table.open`. */
export interface TableOpenOptions {
  /** Verifies the table before use: see `Table.verify`. Default false. */
  readonly verify?: boolean | undefined;
}

const OPEN_OPTIONS: OptionKinds<TableOpenOptions> = { verify: 'boolean' };

/** Options of `Table.filter`. */
export interface TableFilterOptions<Item> {
  /** The URL of an item. Default: the item itself, which is then a string. */
  readonly url?: ((item: Item) => string) | undefined;
  /** Whether URLs without a robots.txt in the table pass. Default `deny`: they do not. */
  readonly unknown?: 'allow' | 'deny' | undefined;
}

const FILTER_OPTIONS: OptionKinds<TableFilterOptions<unknown>> = {
  url: 'function',
  unknown: ['allow', 'deny'],
};

/** For which time URLs are judged. */
export interface TableTimeOptions {
  /** A date, or milliseconds since 1970; needs a table with histories. Default: the table's. */
  readonly at?: Date | number | undefined;
  /**
   * Days, 1 to 36,500, after which a robots.txt that was not found again counts for nothing: the
   * verdict is then `unknown`, the reason `no-recent-capture`. Needs a time: `at`, or that of a
   * table of `Table.at`. Default: any number.
   */
  readonly maxAge?: number | undefined;
}

const TIME_OPTIONS: OptionKinds<TableTimeOptions> = { at: 'other', maxAge: 'number' };

/** Options of `Table.use`. */
export interface TableUseOptions extends TableTimeOptions {
  /** The product token whose groups speak for the use, too. Default: none. */
  readonly policyToken?: string | undefined;
}

const USE_OPTIONS: OptionKinds<TableUseOptions> = { ...TIME_OPTIONS, policyToken: 'string' };

/** For which time, or times, the URLs of a list are judged. */
export interface TableTimesOptions {
  /** One time for all URLs, or as many times as URLs. Default: the time of the table. */
  readonly at?: Date | number | readonly (Date | number)[] | undefined;
  /** As in `TableTimeOptions`. */
  readonly maxAge?: number | undefined;
}

let memoryOf: (table: Table) => TableMemory;
let tableOf: (memory: TableMemory, name: string) => Table;

/** The compiled robots.txt files of many hosts: immutable, in memory that all threads share. */
export class Table {
  readonly #memory: TableMemory;
  readonly #name: string;
  #tableJudge: TableJudge | undefined;
  #hostRecords: HostAnswers | undefined;

  static {
    memoryOf = (table) => table.#memory;
    tableOf = (memory, name) => new Table(memory, name);
  }

  private constructor(memory: TableMemory, name: string) {
    this.#memory = memory;
    this.#name = name;
  }

  /**
   * Makes a table from bytes that `TableBuilder.build` returned. Copies the bytes unless they lie
   * in memory of `allocateTable`; in that case they must not change afterwards.
   *
   * @param name the name of the table in messages
   * @throws RobotsFilterError `table` if the bytes are damaged, truncated, foreign or of another
   *   version
   */
  static from(bytes: Uint8Array, name = 'the table'): Table {
    if (!isBytes(bytes)) {
      const remedy = 'Pass the bytes of TableBuilder.build; Table.open takes a path';
      throw new RobotsFilterError('usage', `the table is ${shownValue(bytes)}. ${remedy}`);
    }
    return new Table(placeTable(bytes, name), name);
  }

  /**
   * Opens a table file or a pipe, compressed (gzip, zstd) or not, or a table in shards, by its
   * directory or manifest: reads it into shared memory and checks it against damage. Use `verify`
   * for tables of others.
   *
   * @throws RobotsFilterError `input` if the file cannot be read; `table` if it is damaged,
   *   truncated, foreign or of another version, or if it cannot be verified; `limit` if it is in
   *   one piece and does not fit in 4 GiB
   */
  static async open(path: string, options: TableOpenOptions = {}): Promise<Table> {
    checkPath('Table.open', path);
    checkOptions('Table.open', options, OPEN_OPTIONS);
    const table = new Table(await readTable(path), path);
    if (options.verify === true) await table.verify();
    return table;
  }

  /**
   * Proves that no look-up and no explanation can read outside the table or run without end, and
   * that its hosts and rules are found. Reads the table once. The verdicts remain those of the
   * table's maker.
   *
   * @throws RobotsFilterError `table`, with the section, the byte and the fault. Do not use the
   *   table then
   */
  async verify(): Promise<VerifiedTable> {
    // Loaded on demand, because most runs verify no table.
    const { verifyTable } = await import('../verify/verify-table.js');
    return verifyTable(this.#memory.shards, this.#name);
  }

  /**
   * The table as it was at a time, in the same memory: each authority has the robots.txt that was
   * in force then. The verdict is `unknown`, with the reason `before-first-capture`, if the table
   * has only later ones. Other records are kept of the newest robots.txt alone.
   *
   * @param time a date, or milliseconds since 1970
   * @throws RobotsFilterError `usage` for a table without histories (see `CompileOptions.history`),
   *   and for anything that is no time
   */
  at(time: Date | number): Table {
    return new Table(tableAt(this.#memory, this.#seconds(time)), this.#name);
  }

  /** @throws RobotsFilterError `usage` as `at` */
  #seconds(time: Date | number): number {
    const milliseconds = time instanceof Date ? time.getTime() : time;
    if (typeof milliseconds !== 'number' || Number.isNaN(milliseconds)) {
      const remedy = 'Pass a Date, or milliseconds since 1970';
      throw new RobotsFilterError('usage', `the time is ${shownValue(time)}. ${remedy}`);
    }
    if (!hasHistories(this.#memory)) {
      const remedy = 'Compile it with { history: true }, or on the command line with --history';
      throw new RobotsFilterError('usage', `${this.#name} has no histories. ${remedy}`);
    }
    return secondsOfTime(milliseconds);
  }

  /** The seconds of `maxAge`; `undefined` for any number. */
  #maxAge({ at, maxAge }: TableTimesOptions): number | undefined {
    if (maxAge === undefined) return undefined;
    return secondsOfMaxAge(maxAge, at !== undefined || this.#memory.time !== undefined, 'at');
  }

  /** The profile that the table was compiled for, under which it answers. */
  get profile(): Profile {
    return this.#memory.header.profile;
  }

  /** Number of hosts. */
  get hosts(): number {
    return this.#memory.header.hosts;
  }

  /**
   * The bytes of the table, as `save` writes them. Do not change them.
   *
   * @throws RobotsFilterError `usage` for a table of several shards, which are files of their own
   */
  get bytes(): Uint8Array {
    const [only, ...others] = this.#memory.shards;
    if (only === undefined || others.length > 0) {
      const remedy = 'Copy its directory, or open one of its parts';
      throw new RobotsFilterError('usage', `${this.#name} is a table in shards. ${remedy}`);
    }
    return only.view.reader.bytes;
  }

  /**
   * Writes the table to a file. The file is replaced when it is complete and on disk: a reader sees
   * the old file or the whole new one.
   *
   * @throws RobotsFilterError `output` if the file cannot be written; the old file then stays;
   *   `usage` for a table of several shards
   */
  async save(path: string): Promise<void> {
    checkPath('Table.save', path);
    // Loaded on demand, because it loads node:crypto.
    const { ReplacementFile } = await import('../files/replacement.js');
    const { bytes } = this;
    const file = await ReplacementFile.create(path);
    try {
      await file.write(bytes);
      await file.commit(true);
    } finally {
      await file.discard();
    }
  }

  /**
   * Judges whether the agent may fetch the URL. The verdict is `unknown` if the table has no
   * robots.txt for the URL's scheme, host and port.
   *
   * @param agent a product token (RFC 9309 section 2.2.1), or a fallback chain: `A:B`, or a list
   * @param options `at`: the time whose robots.txt decides, as `Table.at` has it; `maxAge`: how old
   *   that may be
   * @throws RobotsFilterError `usage` if the URL is neither a string nor bytes, the agent is not a
   *   product token, or a reduced table cannot answer for it; as `Table.at`; and for a `maxAge`
   *   without a time or out of range
   */
  verdict(
    url: string | Uint8Array,
    agent: string | readonly string[],
    options?: TableTimeOptions,
  ): Judgement {
    if (options === undefined) return this.#judge.judge(url, agent);
    checkOptions('Table.verdict', options, TIME_OPTIONS);
    const at = options.at === undefined ? undefined : this.#seconds(options.at);
    return this.#judge.judge(url, agent, at, this.#maxAge(options));
  }

  /**
   * The verdicts on many URLs, in their order. Several times as fast as `verdict` for each.
   *
   * @param options `at`: the time whose robots.txt decides, or one for each URL; `maxAge`: how old
   *   that may be
   * @throws RobotsFilterError as `verdict`
   */
  verdicts(
    urls: readonly string[],
    agent: string | readonly string[],
    options: TableTimesOptions = {},
  ): Verdict[] {
    if (!Array.isArray(urls)) {
      const remedy = 'Pass an array of strings; verdict takes one URL, filterStream a stream';
      throw new RobotsFilterError('usage', `urls is ${shownValue(urls)}. ${remedy}`);
    }
    checkOptions('Table.verdicts', options, TIME_OPTIONS);
    const { at } = options;
    const maxAge = this.#maxAge(options);
    if (at === undefined) return this.#judge.verdicts(urls, agent, undefined, maxAge);
    if (!Array.isArray(at)) {
      const seconds = this.#seconds(at as Date | number);
      return this.#judge.verdicts(urls, agent, new Uint32Array(urls.length).fill(seconds), maxAge);
    }
    if (at.length !== urls.length) {
      throw new RobotsFilterError(
        'usage',
        `at has ${at.length} times for ${urls.length} URLs. Pass one time for each URL`,
      );
    }
    const times = Uint32Array.from(at, (time: Date | number) => this.#seconds(time));
    return this.#judge.verdicts(urls, agent, times, maxAge);
  }

  /**
   * Whether the agent may fetch the URL: whether the verdict is `allow`. Faster than `verdict`.
   * Both this and `isDisallowed` are false for a URL that is `unknown` or `invalid`.
   *
   * @throws RobotsFilterError as `verdict`
   */
  isAllowed(url: string | Uint8Array, agent: string | readonly string[]): boolean {
    return this.#judge.verdict(url, agent) === 'allow';
  }

  /**
   * Whether the verdict is `deny`.
   *
   * @throws RobotsFilterError as `verdict`
   */
  isDisallowed(url: string | Uint8Array, agent: string | readonly string[]): boolean {
    return this.#judge.verdict(url, agent) === 'deny';
  }

  /**
   * The rules that an agent obeys on the URL's host, in the order of the file. Rules that others
   * always override are not in the table. Empty if the table has no rules for the URL.
   *
   * A pattern is as written. If it is longer than 1,000 bytes, not UTF-8, or contains U+FFFD, it
   * is in canonical form, which matches the same and has the same specificity. So may be one of
   * nearly 1,000 bytes that ends in U+2026.
   *
   * @param url an http, https or ftp URL, of which only the scheme, host and port count
   * @throws RobotsFilterError as `verdict`
   */
  rulesFor(url: string | Uint8Array, agent: string | readonly string[]): Rule[] {
    return this.#records.rulesFor(url, agent);
  }

  /**
   * The `Crawl-delay` for an agent on the URL's host, as `Robots.crawlDelay`. The table must have
   * been compiled with `records`.
   *
   * @throws RobotsFilterError as `verdict`, and `usage` for a table without records
   */
  crawlDelay(url: string | Uint8Array, agent: string | readonly string[]): number | undefined {
    return this.#records.crawlDelay(url, agent);
  }

  /**
   * The URLs of the `Sitemap` records of the URL's host, as written. A URL of more than 4,096 bytes
   * is left out. The table must have been compiled with `records`.
   *
   * @throws RobotsFilterError as `verdict`, and `usage` for a table without records
   */
  sitemaps(url: string | Uint8Array): string[] {
    return this.#records.sitemaps(url);
  }

  /**
   * What the URL's host says to an agent about the use of content, as `Robots.preferences`. The
   * table must have been compiled with `records`.
   *
   * @throws RobotsFilterError as `verdict`, and `usage` for a table without records
   */
  preferences(url: string | Uint8Array, agent: string | readonly string[]): Preferences {
    return this.#records.preferences(url, agent);
  }

  /**
   * What the robots.txt of the URL's host says to an agent about a use of the URL's content
   * (experimental). The table must have been compiled with `signals`.
   *
   * @param use `train`, `search`, `input`, or a key of a signal such as `train-ai`
   * @param options as `verdict`; `policyToken`: a product token whose groups speak for the use, too
   * @throws RobotsFilterError as `verdict`, and `usage` for a use that is none, for a policy token
   *   that is no product token, and for a table without signals
   */
  use(
    url: string | Uint8Array,
    agent: string | readonly string[],
    use: string,
    options: TableUseOptions = {},
  ): UseJudgement {
    checkOptions('Table.use', options, USE_OPTIONS);
    const asked = useOf(use, options.policyToken);
    this.#memory.view.checkUses([asked]);
    const at = options.at === undefined ? undefined : this.#seconds(options.at);
    return this.#judge.judgeUse(url, agent, asked, at, this.#maxAge(options));
  }

  /**
   * Yields the items whose URL the agent may fetch, in order: an item is taken when the one before
   * it has been used. Items are URLs, or anything with a URL.
   *
   * @param items an array, an iterable, an async iterable, or a Readable of objects
   * @throws RobotsFilterError as `verdict`, when the items are iterated over; `usage` at once for
   *   anything else than items, as for a stream of bytes: see `filterStream`
   */
  filter<Item>(
    items: AsyncIterable<Item> | Iterable<Item>,
    agent: string | readonly string[],
    options: TableFilterOptions<Item> = {},
  ): AsyncGenerator<Item> {
    checkOptions('Table.filter', options, FILTER_OPTIONS);
    checkItems('Table.filter', items);
    const { url = (item: Item) => item as string, unknown = 'deny' } = options;
    const judge = this.#judge;
    async function* passing(): AsyncGenerator<Item> {
      for await (const item of items) {
        const verdict = judge.verdict(url(item), agent);
        if (verdict === 'allow' || (verdict === 'unknown' && unknown === 'allow')) yield item;
      }
    }
    return passing();
  }

  get #records(): HostAnswers {
    this.#hostRecords ??= new HostAnswers(this.#memory.view, this.profile, this.#name);
    return this.#hostRecords;
  }

  /** What judges URLs on the calling thread, made for the first verdict. */
  get #judge(): TableJudge {
    this.#tableJudge ??= new TableJudge(this.#memory, this.#name);
    return this.#tableJudge;
  }
}

/**
 * The memory of a table, for the other modules of this package.
 *
 * @throws RobotsFilterError `usage` for anything but a table
 */
export function tableMemory(table: Table): TableMemory {
  if (table instanceof Table) return memoryOf(table);
  const remedy = 'Pass a Table: see Table.open, Table.from and compileTable';
  throw new RobotsFilterError('usage', `the table is ${shownValue(table)}. ${remedy}`);
}

/**
 * Opens of a table in shards only those of some hosts, for questions about these hosts.
 *
 * @param hosts canonical hosts; `undefined` for all
 * @throws RobotsFilterError as `Table.open`
 */
export async function openForHosts(path: string, hosts?: readonly string[]): Promise<Table> {
  return tableIn(await readTable(path, { hosts }), path);
}

/** The table that lies in some memories, for the other modules of this package. */
export function tableIn(memory: TableMemory, name: string): Table {
  return tableOf(memory, name);
}

/**
 * The seconds of an age that a caller gives in days.
 *
 * @param hasTime whether there is a time from which the age is counted
 * @param option the option that gives such a time
 * @throws RobotsFilterError `usage` without a time, and for an age out of range
 */
export function secondsOfMaxAge(maxAge: number, hasTime: boolean, option: string): number {
  const days = wholeNumber('maxAge', maxAge, MOST_DAYS);
  if (hasTime) return secondsOfDays(days);
  throw new RobotsFilterError(
    'usage',
    `maxAge needs a time, from which the age is counted. Add ${option}, or ask table.at(time)`,
  );
}

/** Number of agents about which warnings are given: a program may ask for any number. */
const MOST_WARNED = 64;

/** A session in one memory of a table, and the table as its queries name it. */
interface BankSession {
  readonly session: Session;
  readonly target: JudgeTarget;
}

/**
 * Judges URLs by a table, on the calling thread. If the table lies in several memories, they are
 * asked one after another: only that of the host's shard knows the host.
 */
export class TableJudge {
  readonly #first: BankSession;
  readonly #others: readonly BankSession[];

  /** @param name the table's name in warnings */
  constructor(memory: TableMemory, name = 'the table') {
    const { header, view, hosts, shards } = memory;
    const warned = new Set<string>();
    const checkAgent = (agent: Agent): void => {
      view.checkAgent(agent);
      if (hosts === 0 || view.isReduced || warned.has(agent.name)) return;
      if (warned.size === MOST_WARNED) return;
      warned.add(agent.name);
      void warnOfMisspeltAgents([agent], view, name);
    };
    const [first, ...others] = memory.banks.map((bank) => {
      const [shard] = bank.shards as [PlacedShard];
      const target = {
        profile: header.profile,
        table: shard.table,
        anyHost: 0,
        tokenNumber: (token: string) => shard.view.tokenNumber(token),
        shards: queryTablesIn(bank, shards),
        at: memory.time,
        checkAgent,
      };
      return { session: new Session(bank.arena), target };
    });
    this.#first = first as BankSession;
    this.#others = others;
  }

  /** @throws RobotsFilterError as `Session.judge` */
  judge(
    url: string | Uint8Array,
    agent: string | readonly string[],
    at?: number,
    maxAge?: number,
  ): Judgement {
    let judgement = this.#first.session.judge(url, agent, this.#first.target, at, maxAge);
    for (const { session, target } of this.#others) {
      // With another reason the memory knows the host, and others would not.
      if (judgement.reason !== 'unknown-host') break;
      judgement = session.judge(url, agent, target, at, maxAge);
    }
    return judgement;
  }

  /** @throws RobotsFilterError as `Session.judgeUse` */
  judgeUse(
    url: string | Uint8Array,
    agent: string | readonly string[],
    use: Use,
    at?: number,
    maxAge?: number,
  ): UseJudgement {
    const ask = ({ session, target }: BankSession): UseJudgement =>
      session.judgeUse(url, agent, use, target, at, maxAge);
    // Where the host is not known there is no verdict `allow`, and so no answer.
    let judgement = ask(this.#first);
    for (const bank of this.#others) {
      if (judgement.answer !== undefined) break;
      judgement = ask(bank);
    }
    return judgement;
  }

  /** As `judge`; the verdict alone takes less time. */
  verdict(url: string | Uint8Array, agent: string | readonly string[]): Verdict {
    let verdict = this.#first.session.verdict(url, agent, this.#first.target);
    for (const { session, target } of this.#others) {
      if (verdict !== 'unknown') break;
      verdict = session.verdict(url, agent, target);
    }
    return verdict;
  }

  /**
   * The verdicts on many URLs, in their order.
   *
   * @param times as Session.verdicts
   * @param maxAge as Session.verdicts
   */
  verdicts(
    urls: readonly string[],
    agent: string | readonly string[],
    times?: Uint32Array,
    maxAge?: number,
  ): Verdict[] {
    const verdicts = this.#first.session.verdicts(urls, agent, this.#first.target, times, maxAge);
    for (const { session, target } of this.#others) {
      const places = [...verdicts.keys()].filter((place) => verdicts[place] === 'unknown');
      const asked = places.map((place) => urls[place] as string);
      const ofAsked = times && Uint32Array.from(places, (place) => times[place] as number);
      const found = session.verdicts(asked, agent, target, ofAsked, maxAge);
      for (const [index, place] of places.entries()) verdicts[place] = found[index] as Verdict;
    }
    return verdicts;
  }
}
