/** The library's TableBuilder: robots.txt files in, the bytes of a table out. */

import {
  bodyBytes,
  checkFunction,
  checkOptions,
  isBytes,
  type OptionKinds,
  shownValue,
} from '../base/arguments.js';
import { RobotsFilterError } from '../base/errors.js';
import {
  type Authority,
  canonicalHost,
  DEFAULT_PORTS,
  formatAuthority,
  MAX_PORT,
  parseAuthority,
} from '../protocol/authority.js';
import { MESSAGES } from '../protocol/parse.js';
import type { Warning, WarningCode } from '../protocol/robots-file.js';
import { warnOfMisspeltAgents } from '../protocol/unnamed-agents.js';
import type { Profile } from '../protocol/verdict.js';
import { MAX_HOST_BYTES } from '../table/format.js';
import type { CompileOptions } from './body-compiler.js';
import type { RobotsDetails } from './compiled-robots.js';
import { PartMerger } from './part-merger.js';
import { type TableBuilderStats, TableContents } from './table-contents.js';
import type { Allocate } from './table-layout.js';
import { PartBuilder } from './table-part.js';

/** Number of entries that may wait to be merged. */
const ENTRIES_OF_PART = 4096;

export interface TableBuilderOptions extends CompileOptions {
  /**
   * Called for each warning about a body, once for each distinct body, with the body's first
   * source.
   */
  readonly onWarning?: ((source: string, warning: Warning) => void) | undefined;
}

const OPTIONS: OptionKinds<TableBuilderOptions> = {
  profile: 'other',
  maxBytes: 'number',
  agents: 'other',
  records: 'boolean',
  signals: 'boolean',
  history: 'boolean',
  onWarning: 'function',
};
const DETAILS: OptionKinds<RobotsDetails> = {
  source: 'string',
  status: 'number',
  access: ['successful', 'unavailable', 'unreachable'],
  date: 'number',
};

/**
 * Compiles robots.txt files into one table. The memory grows with their distinct content, and by
 * tens of bytes for each authority. The table does not depend on the order of `add`, unless two
 * files count for the same scheme, host and port, and both or neither name the scheme.
 */
export class TableBuilder {
  readonly #contents: TableContents;
  readonly #part: PartBuilder;
  readonly #merger: PartMerger;

  /**
   * @throws RobotsFilterError `usage` for an unknown option or profile, or a `maxBytes` out of
   *   range
   */
  constructor(options: TableBuilderOptions = {}) {
    checkOptions('TableBuilder', options, OPTIONS);
    this.#contents = new TableContents(options);
    this.#part = new PartBuilder(options, {
      key: this.#contents.key,
      onWarning: options.onWarning,
    });
    this.#merger = new PartMerger(this.#contents);
  }

  get profile(): Profile {
    return this.#contents.profile;
  }

  /**
   * Adds the robots.txt of an authority. Without a scheme it applies to http and https, on their
   * default ports or on the given port. An authority with a scheme wins over an authority without,
   * whatever the order; otherwise the last one wins. `body` is read at once and not kept.
   *
   * @param authority an authority, or a text for `parseAuthority`: `example.com`, or a URL
   * @param body bytes, or a string, which is encoded as UTF-8
   * @param details where the body came from, and how fetching it ended. Default: a successful
   *   response, whose source is the authority
   * @throws RobotsFilterError `usage` for arguments of other types; for a text without a host; for
   *   a host that is not canonical (see `parseAuthority`), empty or longer than 255 bytes; for a
   *   scheme other than `http`, `https` and `ftp`; for a port that is not from 1 to 65535
   */
  add(
    authority: Authority | string,
    body: Uint8Array | string,
    details: Partial<RobotsDetails> = {},
  ): void {
    const parsed = authorityOf(authority);
    const bytes = bodyBytes('TableBuilder.add', body);
    checkOptions('the details of TableBuilder.add', details, DETAILS);
    const source = details.source ?? formatAuthority(parsed);
    this.#part.add(parsed, bytes, { ...details, source });
    if (this.#part.count === ENTRIES_OF_PART) this.#merge();
  }

  /**
   * The bytes of the table, for `Table.from`. More files can be added afterwards, for another
   * table. Of a host with more than 65,535 authorities, the table has the first by port and scheme;
   * URLs of the others are `unknown`.
   *
   * @param allocate provides the memory: this many bytes, all zero
   * @throws RobotsFilterError `limit` if the table would be longer than 4 GiB; `usage` if
   *   `allocate` is no function, or returns other memory
   */
  build(allocate?: Allocate): Uint8Array {
    checkFunction('allocate of TableBuilder.build', allocate);
    this.#merge();
    const layout = this.#contents.layOut();
    const { undated } = this.#contents;
    if (undated > 0) {
      const message = `A table with histories leaves out robots.txt files without a date, here ${undated}. Pass { date } to TableBuilder.add`;
      process.emitWarning(message, { type: 'RobotsFilterWarning', code: 'ROBOTS_FILTER_DATE' });
    }
    if (this.#contents.files > 0) {
      const kept = [...(this.#contents.kept ?? [])].map((token) => ({
        name: token,
        chain: [token],
      }));
      void warnOfMisspeltAgents(kept, layout.named, 'the table');
    }
    return layout.table(allocate && ((bytes) => allocated(allocate, bytes)));
  }

  get stats(): TableBuilderStats {
    this.#merge();
    return this.#contents.stats;
  }

  /** Number of warnings about all distinct bodies by code, in the order of first occurrence. */
  get contentWarnings(): ReadonlyMap<WarningCode, number> {
    this.#merge();
    return this.#contents.contentWarnings;
  }

  /**
   * The first source of each distinct body that has this warning, in the order of first occurrence.
   * A long source is truncated at its beginning, as in a table.
   *
   * @throws RobotsFilterError `usage` for a code that no warning has
   */
  sourcesOf(code: WarningCode): string[] {
    if (typeof code !== 'string' || !Object.hasOwn(MESSAGES, code)) {
      const remedy = `Pass one of ${Object.keys(MESSAGES).join(', ')}`;
      throw new RobotsFilterError('usage', `the warning code is ${shownValue(code)}. ${remedy}`);
    }
    this.#merge();
    return this.#contents.sourcesOf(code);
  }

  #merge(): void {
    if (this.#part.count === 0) return;
    const part = this.#part.take();
    this.#merger.receive(part);
    this.#merger.add(part);
  }
}

function authorityOf(authority: unknown): Authority {
  const isObject = typeof authority === 'object' && authority !== null;
  if (isObject && 'host' in authority && !(authority instanceof URL)) {
    if (typeof authority.host === 'string') return checkedAuthority(authority as Authority);
  }
  const parsed = typeof authority === 'string' ? parseAuthority(authority) : undefined;
  if (parsed !== undefined) return parsed;
  throw new RobotsFilterError(
    'usage',
    `the authority for TableBuilder.add is ${shownValue(authority)}. Pass a host or a URL such as 'example.com' or 'https://example.com:8443'`,
  );
}

/**
 * An authority that a caller made. `checkAuthority` refuses hosts that are empty or too long.
 *
 * @throws RobotsFilterError `usage` for a part that `parseAuthority` never returns
 */
function checkedAuthority(authority: Authority): Authority {
  const { scheme, host, port } = authority;
  if (scheme !== undefined && !Object.hasOwn(DEFAULT_PORTS, scheme)) {
    throw refusal('scheme', scheme, `Use one of ${Object.keys(DEFAULT_PORTS).join(', ')}`);
  }
  if (port !== undefined && !(Number.isInteger(port) && port >= 0 && port <= MAX_PORT)) {
    throw refusal('port', port, `Use a whole number from 1 to ${MAX_PORT}, or leave it out`);
  }
  if (host.length > 0 && host.length <= MAX_HOST_BYTES && canonicalHost(host) !== host) {
    throw refusal('host', host, 'Pass what parseAuthority returns');
  }
  return authority;
}

function refusal(part: keyof Authority, value: unknown, remedy: string): RobotsFilterError {
  return new RobotsFilterError(
    'usage',
    `the ${part} of the authority for TableBuilder.add is ${shownValue(value)}. ${remedy}`,
  );
}

/** The memory that a caller provides. */
function allocated(allocate: Allocate, bytes: number): Uint8Array {
  const memory: unknown = allocate(bytes);
  if (isBytes(memory) && memory.length === bytes) return memory;
  throw new RobotsFilterError(
    'usage',
    `allocate of TableBuilder.build returned ${shownValue(memory)}. Return a Uint8Array of ${bytes} bytes, all zero`,
  );
}
