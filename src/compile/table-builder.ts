import { hash } from 'node:crypto';
import { RobotsFilterError } from '../errors.js';
import { type AccessResult, accessResultOf } from '../protocol/access.js';
import { type Authority, formatAuthority } from '../protocol/authority.js';
import { parseRobots } from '../protocol/parse.js';
import type { Profile } from '../protocol/profile.js';
import type { RobotsFile, Warning } from '../protocol/robots-file.js';
import { AuthoritySet } from './authority-set.js';
import { CompiledRobots } from './compiled-robots.js';
import { displaySource } from './display-text.js';
import { ACCESS_UNAVAILABLE, ACCESS_UNREACHABLE, MAX_HOST_OCTETS } from './format.js';
import { OctetStore } from './octet-store.js';
import { type Allocate, layOutTable } from './table-layout.js';

export interface TableBuilderOptions {
  /** Default `rfc9309`. A table answers under this profile alone. */
  readonly profile?: Profile | undefined;
  /** The parsing limit in octets, as for `parseRobots`. */
  readonly maxBytes?: number | undefined;
  /**
   * Reduces the table to the groups that these product tokens need, and those of `*`; other agents must not be asked for.
   * Of a fallback chain each token counts. Upper and lower case are the same.
   */
  readonly agents?: readonly string[] | undefined;
  /** Is told what is wrong with a file, once for each distinct content, under the source that had it first. */
  readonly onWarning?: ((source: string, warning: Warning) => void) | undefined;
}

export interface RobotsDetails {
  /** Where the file came from, as `--explain` shows it: a name or a URL. */
  readonly source: string;
  /**
   * Status code of the response (RFC 9309 section 2.3.1): 2xx and `undefined` is successful, 3xx and 4xx unavailable,
   * anything else unreachable.
   */
  readonly status?: number | undefined;
  /** What fetching it came to, where more is known than a status code tells; counts before `status`. */
  readonly access?: AccessResult | undefined;
}

/** What a builder was given so far. */
export interface TableBuilderStats {
  /** Calls of `add`. */
  readonly files: number;
  /** Octets of their bodies. */
  readonly octets: number;
  /** Distinct bodies among the successful ones: those that were parsed. */
  readonly bodies: number;
  /** Authorities that were given something else, or the same once more; the later counts. */
  readonly replaced: number;
  /** Files for a port that no URL can be fetched from, 0: left out. */
  readonly unusable: number;
  /** Warnings on all distinct bodies. */
  readonly warnings: number;
}

/**
 * Compiles robots.txt files into one table. Its memory grows with their distinct content and, by some tens of octets, with
 * each authority. What was built does not depend on the order of `add`, unless an authority is given twice.
 */
export class TableBuilder {
  readonly profile: Profile;
  readonly #maxBytes: number | undefined;
  readonly #kept: ReadonlySet<string> | undefined;
  readonly #onWarning: ((source: string, warning: Warning) => void) | undefined;
  readonly #compiled: CompiledRobots;
  readonly #authorities = new AuthoritySet();
  readonly #sources = new OctetStore();
  /** Digests of the bodies that were parsed, and for each the number of its record. */
  readonly #digests = new OctetStore();
  readonly #robotsOfBody: number[] = [];
  readonly #unavailable: number;
  readonly #unreachable: number;
  #files = 0;
  #octets = 0;
  #replaced = 0;
  #unusable = 0;
  #warnings = 0;

  /** @throws RobotsFilterError `usage` for a profile that does not exist or a `maxBytes` out of range. */
  constructor(options: TableBuilderOptions = {}) {
    const { profile = 'rfc9309', maxBytes, agents, onWarning } = options;
    this.profile = profile;
    this.#maxBytes = maxBytes;
    this.#kept = agents === undefined ? undefined : new Set(agents.map(lowerCase));
    this.#onWarning = onWarning;
    this.#compiled = new CompiledRobots(profile, this.#kept);
    this.#unavailable = this.#compiled.addAccessResult(ACCESS_UNAVAILABLE);
    this.#unreachable = this.#compiled.addAccessResult(ACCESS_UNREACHABLE);
    this.#parse(new Uint8Array(0)); // for its checks of the options
  }

  /**
   * Says what an authority's robots.txt holds, or how fetching it ended. Without a scheme it counts for http and https: on their
   * default ports, or on the port given. An authority that names its scheme counts before one that does not, whichever was
   * added first; the same authority once more replaces what it had. `body` is read at once and not kept.
   *
   * @throws RobotsFilterError `usage` for a host that is not as `canonicalHost` returns it: empty, or longer than 255 octets.
   */
  add(authority: Authority, body: Uint8Array, details: RobotsDetails): void {
    const { host, port } = authority;
    if (host.length === 0 || host.length > MAX_HOST_OCTETS) {
      throw new RobotsFilterError(
        'usage',
        `${JSON.stringify(formatAuthority(authority))} (${details.source}) has no host of 1 to ${MAX_HOST_OCTETS} octets; use parseAuthority`,
      );
    }
    this.#files++;
    this.#octets += body.length;
    if (port === 0) {
      this.#unusable++;
      return;
    }
    const robots = this.#robotsOf(body, details);
    const source = this.#sources.add(displaySource(details.source));
    if (this.#authorities.set(authority, robots, source, body.length)) this.#replaced++;
  }

  /**
   * The table: immutable, and nothing of the builder's. `allocate` may provide its memory, such as a part of a
   * SharedArrayBuffer: so many octets, all zero.
   *
   * @throws RobotsFilterError `limit` if it were longer than 4 GiB, or a host had more than 65,535 authorities.
   */
  build(allocate: Allocate = (octets) => new Uint8Array(octets)): Uint8Array {
    return layOutTable(
      {
        profile: this.profile,
        compiled: this.#compiled,
        authorities: this.#authorities,
        sources: this.#sources,
        kept: this.#kept,
      },
      allocate,
    );
  }

  get stats(): TableBuilderStats {
    return {
      files: this.#files,
      octets: this.#octets,
      bodies: this.#digests.count,
      replaced: this.#replaced,
      unusable: this.#unusable,
      warnings: this.#warnings,
    };
  }

  /** The number of the record of what a file says. */
  #robotsOf(body: Uint8Array, { source, status, access }: RobotsDetails): number {
    const result = access ?? accessResultOf(status);
    if (result === 'unavailable') return this.#unavailable;
    if (result === 'unreachable') return this.#unreachable;
    const known = this.#digests.count;
    const body256 = this.#digests.add(hash('sha256', body, 'buffer'));
    const before = this.#robotsOfBody[body256];
    if (body256 < known && before !== undefined) return before;
    const file = this.#parse(body);
    for (const warning of file.warnings) this.#onWarning?.(source, warning);
    this.#warnings += file.warnings.length;
    const robots = this.#compiled.add(file);
    this.#robotsOfBody[body256] = robots;
    return robots;
  }

  #parse(body: Uint8Array): RobotsFile {
    const { profile } = this;
    const maxBytes = this.#maxBytes;
    return parseRobots(body, maxBytes === undefined ? { profile } : { profile, maxBytes });
  }
}

/** Product tokens are compared without regard to the case of ASCII letters, and of no others. */
function lowerCase(token: string): string {
  let lower = '';
  for (const character of token) {
    lower += character >= 'A' && character <= 'Z' ? character.toLowerCase() : character;
  }
  return lower;
}
