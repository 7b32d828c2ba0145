import type { AccessResult } from '../protocol/access.js';
import type { Scheme } from '../protocol/authority.js';
import {
  ACCESS_SUCCESSFUL,
  ACCESS_UNAVAILABLE,
  ACCESS_UNREACHABLE,
  AUTHORITY_NUMBER,
  AUTHORITY_SOURCE,
  ROBOTS_ACCESS,
  SCHEME_FTP,
  SCHEME_HTTP,
  SCHEME_HTTPS,
  SOURCE_FIXED_BYTES,
  SOURCE_LIMIT,
  SOURCE_TEXT,
  SOURCE_WITH_HOST,
  SOURCE_WITH_NUMBER,
} from '../table/format.js';
import type { TableAuthority } from './table-content.js';
import type { TableReader } from './table-reader.js';

const ACCESS_RESULTS: Readonly<Record<number, AccessResult>> = {
  [ACCESS_SUCCESSFUL]: 'successful',
  [ACCESS_UNAVAILABLE]: 'unavailable',
  [ACCESS_UNREACHABLE]: 'unreachable',
};

const SCHEMES: readonly (readonly [number, Scheme])[] = [
  [SCHEME_HTTP, 'http'],
  [SCHEME_HTTPS, 'https'],
  [SCHEME_FTP, 'ftp'],
];

/** The schemes of an authority, by their bits. */
const SCHEMES_OF_BITS = Array.from({ length: 8 }, (_, bits) =>
  SCHEMES.filter(([bit]) => (bits & bit) !== 0).map(([, scheme]) => scheme),
);

/** Where an authority and the name of its host lie in a table, and what is not stored there. */
interface AuthorityPlace {
  readonly at: number;
  readonly port: number | undefined;
  /** Bits. */
  readonly schemes: number;
  readonly nameStart: number;
  readonly nameLength: number;
}

/** An authority of a table. Its source is read late, because many readers need none. */
export class AuthorityEntry implements TableAuthority {
  readonly schemes: readonly Scheme[];
  readonly port: number | undefined;
  readonly accessResult: AccessResult;
  readonly robots: number;
  readonly at: number;
  readonly #reader: TableReader;
  readonly #nameStart: number;
  readonly #nameLength: number;

  constructor(reader: TableReader, { at, port, schemes, nameStart, nameLength }: AuthorityPlace) {
    this.#reader = reader;
    this.#nameStart = nameStart;
    this.#nameLength = nameLength;
    this.at = at;
    this.port = port;
    this.schemes = SCHEMES_OF_BITS[schemes] ?? [];
    this.robots = reader.u32(at);
    const access = ACCESS_RESULTS[reader.u8(this.robots) & ROBOTS_ACCESS];
    if (access === undefined) throw reader.damaged(`no access result at ${this.robots}`);
    this.accessResult = access;
  }

  get source(): string {
    const reader = this.#reader;
    const source = reader.u32(this.at + AUTHORITY_SOURCE);
    const kind = reader.u8(source);
    const before = reader.u16(source + 1);
    const after = reader.u16(source + 3);
    if (before + after > SOURCE_LIMIT) throw reader.damaged(`the source at ${source} is too long`);
    let own = '';
    if (kind === SOURCE_WITH_HOST) own = reader.text(this.#nameStart, this.#nameLength);
    else if (kind === SOURCE_WITH_NUMBER) own = String(reader.u32(this.at + AUTHORITY_NUMBER));
    else if (kind !== SOURCE_TEXT) {
      throw reader.damaged(`the source at ${source} is of kind ${kind}`);
    }
    const text = source + SOURCE_FIXED_BYTES;
    return reader.escapedAgain(reader.text(text, before) + own + reader.text(text + before, after));
  }
}
