import { parseRobots } from '../protocol/parse.js';
import { lowerCaseAscii } from '../protocol/product-token.js';
import type { Profile } from '../protocol/profile.js';
import type { RobotsFile, Warning } from '../protocol/robots-file.js';
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
}

/** The product tokens of `agents`, in lower case; `undefined` for all. */
export function keptTokens({ agents }: CompileOptions): ReadonlySet<string> | undefined {
  return agents === undefined ? undefined : new Set(agents.map(lowerCaseAscii));
}

/** Parses and compiles the distinct bodies of robots.txt files, numbered by their digests. */
export class BodyCompiler {
  readonly compiled: CompiledRobots;
  /** SHA-256 digests of the distinct bodies, in order of arrival. */
  readonly digests: ByteStore;
  readonly #options: { readonly profile: Profile; readonly maxBytes?: number };
  readonly #compiler: RobotsCompiler;

  /**
   * @param key for the hashes of the ByteStores
   * @param shared whether other threads read the memory
   * @throws RobotsFilterError `usage` for an unknown profile or a `maxBytes` out of range
   */
  constructor(options: CompileOptions, key: HashKey, shared: boolean) {
    const { profile = 'rfc9309', maxBytes } = options;
    this.#options = maxBytes === undefined ? { profile } : { profile, maxBytes };
    this.#parse(new Uint8Array(0)); // checks the options
    this.compiled = new CompiledRobots(key, shared);
    this.digests = new ByteStore(key, shared);
    this.#compiler = new RobotsCompiler(this.compiled, profile, keptTokens(options));
  }

  /** Compiles a body; returns the number of its record, and its warnings. */
  compile(body: Uint8Array): { readonly record: number; readonly warnings: readonly Warning[] } {
    const file = this.#parse(body);
    return { record: this.#compiler.compile(file), warnings: file.warnings };
  }

  #parse(body: Uint8Array): RobotsFile {
    return parseRobots(body, this.#options);
  }
}
