import { availableParallelism } from 'node:os';
import type { Duplex } from 'node:stream';
import { RobotsFilterError } from './errors.js';
import type { OutputMode } from './kernel/query.js';
import { clashOf } from './pipeline/added-members.js';
import type { BadRecord } from './pipeline/bad-record.js';
import { Filter, type FilterSettings } from './pipeline/filter.js';
import { createFilterStream } from './pipeline/filter-stream.js';
import { parseAgent } from './protocol/agent.js';
import type { Verdict } from './protocol/verdict.js';
import type { Table } from './table.js';
import { Pool } from './workers/pool.js';

/** What a filter stream takes and gives. */
export interface FilterStreamOptions {
  /**
   * The crawlers: product tokens or fallback chains `A>B` (RFC 9309 section 2.2.1), at most 256; a
   * chain may be a list of tokens. Default `*`.
   */
  readonly agents?: string | readonly (string | readonly string[])[] | undefined;
  /**
   * `text`: a URL a line (default); `ndjson`: a JSON object a line. Always UTF-8, and never
   * compressed. A line of text with a tab within it is columns and comes out as `invalid`
   * (`tab-in-line`), as does one with a carriage return within it (`return-in-line`). Other columns
   * are not recognised: each line is read as a URL.
   */
  readonly input?: 'text' | 'ndjson' | undefined;
  /**
   * `annotate` (default): each record with its verdict. `allowed`: the records that every agent may
   * fetch, byte for byte; `denied`: those that some agent may not.
   */
  readonly output?: OutputMode | undefined;
  /** The verdict on URLs for whose authority the table has no robots.txt. Default `unknown`. */
  readonly unknown?: Exclude<Verdict, 'invalid'> | undefined;
  /** Adds the reason and the rule that decided. Default false. */
  readonly explain?: boolean | undefined;
  /** Fails at the first bad record. Default false: it comes out as `invalid`. */
  readonly strict?: boolean | undefined;
  /**
   * The member that holds the URL; dots descend, `request.url`. A list has a key for each level.
   * Default `url`.
   */
  readonly urlField?: string | readonly string[] | undefined;
  /** The member that is added. Default `verdict`, or `verdicts` with several agents. */
  readonly verdictField?: string | undefined;
  /** Threads that judge, from 1 to 256. Default: one for each core. */
  readonly threads?: number | undefined;
  /**
   * Longest line that is judged, in octets, up to 512 MiB; a longer one is a bad record. Default 16
   * MiB.
   */
  readonly maxLineBytes?: number | undefined;
  /** Called for the first ten bad records, in their order. */
  readonly onBadRecord?: ((record: BadRecord) => void) | undefined;
}

const MAX_THREADS = 256;
const DEFAULT_LINE_OCTETS = 16 * 1024 * 1024;
const MAX_LINE_OCTETS = 512 * 1024 * 1024;

/**
 * A Duplex of bytes: lines in, the same records out with their verdicts, or those that pass, in
 * order. It may be put between any Readable and Writable; the pace is that of the slower one, and
 * memory is bounded whatever the input's length. Each stream has threads of its own, which start
 * with it (some 50 ms) and end with it.
 *
 * A stream reserves addresses for its batches and its longest line beside the table, which has 4
 * GiB in all: some 160 MiB by default, so that about 24 streams fit at a time. A smaller
 * `maxLineBytes` lets more fit.
 *
 * The stream fails with a RobotsFilterError: `input` for a bad record if it is strict, `worker` if
 * a thread dies.
 *
 * @throws RobotsFilterError `usage` for an option out of range, a member that records would have
 *   twice, an agent that is no product token, or one that a reduced table cannot answer for;
 *   `limit` if the batches do not fit beside the table
 */
export function filterStream(table: Table, options: FilterStreamOptions = {}): Duplex {
  const { agents = '*', input: format = 'text', output = 'annotate', urlField = 'url' } = options;
  const threads = wholeNumber('threads', options.threads ?? availableParallelism(), MAX_THREADS);
  const maxLineOctets = wholeNumber(
    'maxLineBytes',
    options.maxLineBytes ?? DEFAULT_LINE_OCTETS,
    MAX_LINE_OCTETS,
  );
  const list = typeof agents === 'string' ? [agents] : agents;
  const settings = {
    agents: list.map((agent) => parseAgent(agent, table.profile)),
    output: oneOf('output', output, ['annotate', 'allowed', 'denied']),
    unknown: oneOf('unknown', options.unknown ?? 'unknown', ['allow', 'deny', 'unknown']),
    explain: options.explain ?? false,
    strict: options.strict ?? false,
    urlField: fieldPath(urlField),
    verdictField: options.verdictField,
    maxLineOctets,
    countHosts: false,
  };
  oneOf('input', format, ['text', 'ndjson']);
  checkAddedMembers(settings, format);
  const pool = new Pool({ threads });
  const { onBadRecord } = options;
  try {
    const filter = new Filter({
      table,
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

/** @throws RobotsFilterError `usage` if records would have a member twice */
function checkAddedMembers(settings: FilterSettings, format: 'text' | 'ndjson'): void {
  const clash = clashOf(settings, settings.output === 'annotate' ? format : undefined);
  if (clash === undefined) return;
  const reasons = {
    explanation: 'explain adds a member of that name',
    'bad line': 'a member of that name is added for lines that are no records',
    url: 'the URL is read from a member of that name',
  };
  const name = JSON.stringify(clash.member);
  throw new RobotsFilterError(
    'usage',
    `a verdict or what explains it cannot be the member ${name}: ${reasons[clash.with]}; use another verdictField or urlField`,
  );
}

function wholeNumber(name: string, value: number, most: number): number {
  if (Number.isInteger(value) && value >= 1 && value <= most) return value;
  throw new RobotsFilterError('usage', `${name} is ${value}; use a whole number from 1 to ${most}`);
}

function oneOf<Word extends string>(name: string, word: Word, words: readonly Word[]): Word {
  if (words.includes(word)) return word;
  throw new RobotsFilterError(
    'usage',
    `${name} is ${JSON.stringify(word)}; use one of ${words.join(', ')}`,
  );
}

function fieldPath(field: string | readonly string[]): readonly string[] {
  const keys = typeof field === 'string' ? field.split('.') : field;
  if (keys.length > 0 && (typeof field !== 'string' || !keys.includes(''))) return keys;
  throw new RobotsFilterError(
    'usage',
    `urlField is ${JSON.stringify(field)}; use the name of a member, or names with dots between them`,
  );
}
