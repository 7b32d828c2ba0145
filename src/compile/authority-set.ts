import { RobotsFilterError } from '../errors.js';
import {
  type Authority,
  DEFAULT_PORTS,
  formatAuthority,
  type Scheme,
} from '../protocol/authority.js';
import { MAX_HOST_OCTETS, SCHEME_FTP, SCHEME_HTTP, SCHEME_HTTPS } from './format.js';
import { type HashKey, OctetStore } from './octet-store.js';
import { sortStrings } from './string-sort.js';

const SCHEMES: readonly (readonly [bit: number, defaultPort: number])[] = [
  [SCHEME_HTTP, DEFAULT_PORTS.http],
  [SCHEME_HTTPS, DEFAULT_PORTS.https],
  [SCHEME_FTP, DEFAULT_PORTS.ftp],
];

const SCHEME_BITS: Readonly<Record<Scheme, number>> = {
  http: SCHEME_HTTP,
  https: SCHEME_HTTPS,
  ftp: SCHEME_FTP,
};

/** What an authority counts for if its scheme is not known. */
const UNKNOWN_SCHEME = 0;
const ASSUMED_SCHEMES = SCHEME_HTTP | SCHEME_HTTPS;

/**
 * A key is the host, a zero, the scheme, whether there is a port, and the port with its high octet first: in the order of the
 * keys all authorities of a host are neighbours.
 */
const KEY_TAIL = 5;

const INITIAL_ENTRIES = 64;

/** What a host's URLs of some schemes at one port are judged by. */
export interface HostEntry {
  /** 0 for the default port of the scheme. */
  readonly port: number;
  /** SCHEME_… bits. */
  readonly schemes: number;
  /** Number of the authority as added. */
  readonly authority: number;
}

/** @throws RobotsFilterError `usage` for a host that is not as `canonicalHost` returns it: empty, or longer than 255 octets. */
export function checkHost(authority: Authority, source: string): void {
  const { length } = authority.host;
  if (length > 0 && length <= MAX_HOST_OCTETS) return;
  throw new RobotsFilterError(
    'usage',
    `${JSON.stringify(formatAuthority(authority))} (${source}) has no host of 1 to ${MAX_HOST_OCTETS} octets; use parseAuthority`,
  );
}

const key = new Uint8Array(MAX_HOST_OCTETS + KEY_TAIL);

/** The key of an authority; the next call overwrites it. */
export function authorityKey({ scheme, host, port }: Authority): Uint8Array {
  const isDefault = scheme !== undefined && port === DEFAULT_PORTS[scheme];
  const { length } = host;
  for (let at = 0; at < length; at++) key[at] = host.charCodeAt(at);
  key[length] = 0;
  key[length + 1] = scheme === undefined ? UNKNOWN_SCHEME : SCHEME_BITS[scheme];
  key[length + 2] = port === undefined || isDefault ? 0 : 1;
  key[length + 3] = port === undefined || isDefault ? 0 : port >> 8;
  key[length + 4] = port === undefined || isDefault ? 0 : port;
  return key.subarray(0, length + KEY_TAIL);
}

/** The authorities of a table and what each was given; no object for any of them. */
export class AuthoritySet {
  /** Their keys, whose numbers are those of the authorities. */
  readonly keys: OctetStore;

  readonly #recordOfBody: readonly number[];
  #body = new Uint32Array(INITIAL_ENTRIES);
  #source = new Uint32Array(INITIAL_ENTRIES);
  #bodyOctets = new Uint32Array(INITIAL_ENTRIES);

  /** `recordOfBody` may grow later; for `key` see OctetStore. */
  constructor(recordOfBody: readonly number[], key: HashKey) {
    this.#recordOfBody = recordOfBody;
    this.keys = new OctetStore(key);
  }

  /** How many there are. */
  get count(): number {
    return this.keys.count;
  }

  /** Gives the authority what its file says; what it had before is lost. */
  set(authority: number, body: number, source: number, bodyOctets: number): void {
    if (authority >= this.#body.length) this.#grow();
    this.#body[authority] = body;
    this.#source[authority] = source;
    this.#bodyOctets[authority] = bodyOctets;
  }

  /** The number of the record of what its file says. */
  robots(authority: number): number {
    return this.#recordOfBody[this.#body[authority] as number] as number;
  }

  source(authority: number): number {
    return this.#source[authority] as number;
  }

  bodyOctets(authority: number): number {
    return this.#bodyOctets[authority] as number;
  }

  /** The canonical host of an authority. */
  host(authority: number): Uint8Array {
    const key = this.keys.get(authority);
    return key.subarray(0, key.length - KEY_TAIL);
  }

  /** All authorities, by host. */
  sorted(): Int32Array {
    return sortStrings(this.keys);
  }

  /**
   * What the authorities `sorted[low]` to `sorted[high - 1]`, all of one host, come to, by port and scheme. Where
   * two claim a scheme and port, the one that names the scheme counts, else the one that names the port.
   */
  entriesOf(sorted: Int32Array, low: number, high: number): HostEntry[] {
    if (high - low === 1) {
      const authority = sorted[low] as number;
      const { scheme, port } = this.#tail(authority);
      if (port === undefined) return [{ port: 0, schemes: scheme || ASSUMED_SCHEMES, authority }];
    }
    const claims = new Map<number, { claim: number; authority: number }>();
    for (let index = low; index < high; index++) {
      const authority = sorted[index] as number;
      const { scheme, port } = this.#tail(authority);
      const claim = scheme !== UNKNOWN_SCHEME ? 2 : port !== undefined ? 1 : 0;
      for (const [bit, defaultPort] of SCHEMES) {
        if (((scheme === UNKNOWN_SCHEME ? ASSUMED_SCHEMES : scheme) & bit) === 0) continue;
        const effectivePort = port === undefined || port === defaultPort ? 0 : port;
        const place = effectivePort * 8 + bit;
        const other = claims.get(place);
        if (other === undefined || other.claim < claim) claims.set(place, { claim, authority });
      }
    }
    const places = [...claims.keys()].sort((a, b) => a - b);
    const entries: HostEntry[] = [];
    for (const place of places) {
      const { authority } = claims.get(place) as { authority: number };
      const port = place >> 3;
      const schemes = place & 7;
      const last = entries.at(-1);
      if (
        last !== undefined &&
        last.port === port &&
        this.#saysTheSame(last.authority, authority)
      ) {
        entries[entries.length - 1] = { ...last, schemes: last.schemes | schemes };
      } else {
        entries.push({ port, schemes, authority });
      }
    }
    return entries;
  }

  #saysTheSame(a: number, b: number): boolean {
    return this.robots(a) === this.robots(b) && this.#source[a] === this.#source[b];
  }

  #tail(authority: number): { scheme: number; port: number | undefined } {
    const key = this.keys.get(authority);
    const at = key.length - KEY_TAIL;
    const port = ((key[at + 3] as number) << 8) | (key[at + 4] as number);
    return { scheme: key[at + 1] as number, port: key[at + 2] === 1 ? port : undefined };
  }

  #grow(): void {
    const capacity = 2 * this.#body.length;
    this.#body = grown(this.#body, capacity);
    this.#source = grown(this.#source, capacity);
    this.#bodyOctets = grown(this.#bodyOctets, capacity);
  }
}

function grown(numbers: Uint32Array, capacity: number): Uint32Array<ArrayBuffer> {
  const more = new Uint32Array(capacity);
  more.set(numbers);
  return more;
}
