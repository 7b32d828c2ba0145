/**
 * Parses and compiles each distinct robots.txt once, and defines the options of every compilation.
 */

import { shownValue } from '../base/arguments.js';
import { RobotsFilterError } from '../base/errors.js';
import { AutomatonCompiler } from '../kernel/automata.js';
import { lowerCaseAscii } from '../protocol/agent.js';
import { keptRecords } from '../protocol/fields.js';
import {
  checkParseOptions,
  type FileParts,
  type PlacedFile,
  type PlacedGroup,
  placeRules,
  type WarningDetail,
} from '../protocol/parse.js';
import { groupsByProductToken, type RulePlaces, type Warning } from '../protocol/robots-file.js';
import { type SignalGroup, type Signals, signalsOf } from '../protocol/signals.js';
import type { Profile } from '../protocol/verdict.js';
import { ACCESS_UNREACHABLE } from '../table/format.js';
import { encodeRecordList } from '../table/record-list.js';
import { ByteStore, type HashKey } from './byte-store.js';
import { addCompiledBody } from './compiled-body.js';
import { CompiledRobots, type TokenList } from './compiled-robots.js';

/** Options for compiling robots.txt files. */
export interface CompileOptions {
  /** Default `rfc9309`. The table answers under this profile only. */
  readonly profile?: Profile | undefined;
  /** Parsing limit in bytes, as in `ParseOptions`. */
  readonly maxBytes?: number | undefined;
  /**
   * Keeps only the groups that these product tokens need, and those of `*`; the table refuses other
   * agents. Every token of a fallback chain counts. Case does not matter.
   */
  readonly agents?: readonly string[] | undefined;
  /**
   * Whether the table keeps sitemaps, crawl-delays, preferences and other records (RFC 9309 section
   * 2.2.4), and when each file was fetched. Default false. Verdicts do not depend on it.
   */
  readonly records?: boolean | undefined;
  /**
   * Whether the table keeps what robots.txt files say about uses, for questions about them. Default
   * false. Verdicts do not depend on it.
   */
  readonly signals?: boolean | undefined;
  /**
   * Whether the table keeps all robots.txt files of each authority, each in force from its date on;
   * files without a date are left out. Default false: the last one counts.
   */
  readonly history?: boolean | undefined;
}

/** What compiling a body gives. */
interface BodyResult {
  /** Number of its robots record. */
  readonly record: number;
  /** Number of the list of its other records plus one; 0 if none is kept. */
  readonly recordList: number;
  readonly warnings: readonly Warning[];
}

/**
 * The product tokens of `agents`, in lower case; `undefined` for all.
 *
 * @throws RobotsFilterError `usage` unless `agents` is a list of texts
 */
export function keptTokens({ agents }: CompileOptions): ReadonlySet<string> | undefined {
  const isList = Array.isArray(agents) && agents.every((agent) => typeof agent === 'string');
  if (agents !== undefined && !isList) {
    const remedy = "Pass a list of product tokens: ['A', 'B']";
    throw new RobotsFilterError('usage', `agents is ${shownValue(agents)}. ${remedy}`);
  }
  return agents === undefined ? undefined : new Set(agents.map(lowerCaseAscii));
}

/** Parses and compiles the distinct bodies of robots.txt files, numbered by their digests. */
export class BodyCompiler {
  readonly compiled: CompiledRobots;
  /** SHA-256 digests of the distinct bodies, in order of arrival. */
  readonly digests: ByteStore;
  readonly #options: { readonly profile: Profile; readonly maxBytes?: number };
  readonly #compiler: RobotsCompiler;
  readonly #kept: ReadonlySet<string> | undefined;
  readonly #parts: FileParts;

  /**
   * @param key for the hashes of the ByteStores
   * @param shared whether other threads read the memory
   * @param warnings what is needed of the warnings
   * @throws RobotsFilterError `usage` for an unknown profile or a `maxBytes` out of range
   */
  constructor(
    options: CompileOptions,
    key: HashKey,
    shared: boolean,
    warnings: WarningDetail = 'codes',
  ) {
    const { profile = 'rfc9309', maxBytes } = options;
    this.#options = maxBytes === undefined ? { profile } : { profile, maxBytes };
    checkParseOptions(this.#options);
    this.compiled = new CompiledRobots(key, shared);
    this.digests = new ByteStore(key, shared);
    this.#kept = keptTokens(options);
    const { records = false, signals = false } = options;
    this.#parts = { records, signals, warnings };
    this.#compiler = new RobotsCompiler(this.compiled, profile, this.#kept);
  }

  compile(body: Uint8Array): BodyResult {
    const file = placeRules(body, this.#options, this.#parts);
    const { warnings } = file;
    const { profile } = this.#options;
    const { records: keepsRecords, signals: keepsSignals } = this.#parts;
    const records =
      keepsRecords || keepsSignals === true ? keptRecords(file, profile, this.#kept) : [];
    const signals = keepsSignals === true ? signalsOf(records) : undefined;
    const recordList =
      keepsRecords && records.length > 0
        ? this.compiled.recordLists.add(encodeRecordList(records)) + 1
        : 0;
    return { record: this.#compiler.compile(file, signals), recordList, warnings };
  }

  /** Takes over a compiled body (compiled-body.ts). No line of it can be warned about. */
  takeOver(body: Uint8Array): BodyResult {
    const { records: keepsRecords, signals: keepsSignals = false } = this.#parts;
    const kept = { kept: this.#kept, keepsRecords, keepsSignals };
    return { ...addCompiledBody(body, this.compiled, kept), warnings: [] };
  }
}

const ANY_TOKEN = '*';

/** Compiles the groups of parsed robots.txt files into automata and robots records. */
class RobotsCompiler {
  readonly #into: CompiledRobots;
  readonly #profile: Profile;
  readonly #kept: ReadonlySet<string> | undefined;
  readonly #automata = new AutomatonCompiler();

  /** @param kept the product tokens, besides `*`, whose groups count; `undefined` for all */
  constructor(into: CompiledRobots, profile: Profile, kept: ReadonlySet<string> | undefined) {
    this.#into = into;
    this.#profile = profile;
    this.#kept = kept;
  }

  /**
   * Compiles a file; returns the number of its robots record. A file over its budget denies
   * everything.
   *
   * @param signals what it says about uses, if that is kept
   */
  compile(file: PlacedFile, signals: Signals | undefined): number {
    if (file.overBudget) return this.#into.addAccessResult(ACCESS_UNREACHABLE);
    const compiled = new Map<PlacedGroup, readonly [number, number]>();
    const lists: TokenList[] = [];
    for (const [token, groups] of groupsByProductToken(file.groups, this.#profile)) {
      if (this.#kept !== undefined && token !== ANY_TOKEN && !this.#kept.has(token)) {
        this.#into.noteToken(token);
        continue;
      }
      const list: number[] = [];
      for (const group of groups) {
        let pair = compiled.get(group);
        if (pair === undefined) {
          pair = this.#compileGroup(file.rules, group, true);
          compiled.set(group, pair);
        }
        list.push(pair[0], pair[1]);
      }
      lists.push([this.#into.numberOf(token), list]);
    }
    if (signals !== undefined) this.#addSignals(signals, lists);
    return this.#into.addSuccessful(lists);
  }

  #addSignals({ rules, groups }: Signals, lists: TokenList[]): void {
    const compiled = new Map<SignalGroup, readonly [number, number]>();
    for (const [token, own] of groups) {
      const list = own.flatMap((group) => {
        const pair = compiled.get(group) ?? this.#compileGroup(rules, group, false);
        compiled.set(group, pair);
        return pair;
      });
      lists.push([this.#into.numberOf(token), list]);
    }
  }

  /**
   * Compiles a group; returns its automaton plus one, and the line that the lines of its rules are
   * relative to. Both are 0 if no rule can match.
   *
   * @param isOfRules whether the group has rules, and not signals
   */
  #compileGroup(
    rules: RulePlaces,
    { firstRule, rulesEnd }: SignalGroup,
    isOfRules: boolean,
  ): readonly [number, number] {
    const profile = this.#profile;
    const automaton = this.#automata.compile(rules, firstRule, rulesEnd, profile, isOfRules);
    if (automaton === undefined) return [0, 0];
    return [this.#into.automata.add(automaton) + 1, this.#automata.firstLine];
  }
}
