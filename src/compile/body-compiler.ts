import { shownValue } from '../arguments.js';
import { RobotsFilterError } from '../errors.js';
import type { FileParts, PlacedFile } from '../protocol/file-parser.js';
import { keptRecords } from '../protocol/other-record-kinds.js';
import { checkParseOptions, placeRules } from '../protocol/parse.js';
import { lowerCaseAscii } from '../protocol/product-token.js';
import type { Profile } from '../protocol/profile.js';
import type { Warning } from '../protocol/robots-file.js';
import type { WarningDetail } from '../protocol/warnings.js';
import { encodeRecordList } from '../table/record-list.js';
import { CompiledRobots } from './compiled-robots.js';
import { ByteStore } from './intern/byte-store.js';
import type { HashKey } from './intern/hash-bytes.js';
import { RobotsCompiler } from './robots-compiler.js';

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
}

/** A compiled body. */
export interface CompiledBody {
  /** Number of its record. */
  readonly record: number;
  /** Number of its record list plus one; 0 if it has no other records that are kept. */
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
    this.#parts = { records: options.records ?? false, warnings };
    this.#compiler = new RobotsCompiler(this.compiled, profile, this.#kept);
  }

  compile(body: Uint8Array): CompiledBody {
    const file = placeRules(body, this.#options, this.#parts);
    const { warnings } = file;
    return { record: this.#compiler.compile(file), recordList: this.#recordList(file), warnings };
  }

  #recordList(file: PlacedFile): number {
    if (!this.#parts.records) return 0;
    const records = keptRecords(file, this.#options.profile, this.#kept);
    return records.length === 0 ? 0 : this.compiled.recordLists.add(encodeRecordList(records)) + 1;
  }
}
