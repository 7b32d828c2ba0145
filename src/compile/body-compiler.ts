import { hash } from 'node:crypto';
import { parseRobots } from '../protocol/parse.js';
import { lowerCaseAscii } from '../protocol/product-token.js';
import type { Profile } from '../protocol/profile.js';
import type { RobotsFile, Warning } from '../protocol/robots-file.js';
import { DIGEST_OCTETS } from './body-claims.js';
import { CompiledRobots } from './compiled-robots.js';
import { drawKey, OctetStore } from './octet-store.js';

/** How bodies of robots.txt are read and what is kept of them. */
export interface CompileOptions {
  /** Default `rfc9309`. A table answers under this profile alone. */
  readonly profile?: Profile | undefined;
  /** The parsing limit in octets, as for `parseRobots`. */
  readonly maxBytes?: number | undefined;
  /**
   * Reduces the table to the groups that these product tokens need, and those of `*`; other agents
   * must not be asked for. Of a fallback chain each token counts. Upper and lower case are the
   * same.
   */
  readonly agents?: readonly string[] | undefined;
}

const digest = Buffer.alloc(DIGEST_OCTETS);

/**
 * The SHA-256 digest of a body, which tells it from all others; the next one overwrites it. By way
 * of a string, since a Buffer of its own for each takes the engine half as long again, and to get
 * rid of it even more.
 */
export function digestOf(body: Uint8Array): Buffer {
  digest.write(hash('sha256', body, 'binary'), 'binary');
  return digest;
}

/** Compiles bodies of robots.txt, which are known by the numbers of their digests. */
export class BodyCompiler {
  readonly profile: Profile;
  /** The product tokens that are kept besides `*`; `undefined` where all are. */
  readonly kept: ReadonlySet<string> | undefined;
  readonly compiled: CompiledRobots;
  /** SHA-256 digests of the distinct bodies, in the order in which they came. */
  readonly digests: OctetStore;
  readonly #maxBytes: number | undefined;

  /**
   * For `key` and `shared` see OctetStore.
   *
   * @throws RobotsFilterError `usage` for a profile that does not exist or a `maxBytes` out of
   *   range.
   */
  constructor(options: CompileOptions, key = drawKey(), shared = false) {
    const { profile = 'rfc9309', maxBytes, agents } = options;
    this.profile = profile;
    this.#maxBytes = maxBytes;
    this.kept = agents === undefined ? undefined : new Set(agents.map(lowerCaseAscii));
    this.compiled = new CompiledRobots(profile, this.kept, key, shared);
    this.digests = new OctetStore(key, shared);
    this.#parse(new Uint8Array(0)); // for its checks of the options
  }

  /** Compiles a body; returns the number of its record, and what is wrong with it. */
  compile(body: Uint8Array): { readonly record: number; readonly warnings: readonly Warning[] } {
    const file = this.#parse(body);
    return { record: this.compiled.add(file), warnings: file.warnings };
  }

  #parse(body: Uint8Array): RobotsFile {
    const { profile } = this;
    const maxBytes = this.#maxBytes;
    return parseRobots(body, maxBytes === undefined ? { profile } : { profile, maxBytes });
  }
}
