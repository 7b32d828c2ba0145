import type { Agent } from '../protocol/agent.js';
import type { Verdict } from '../protocol/verdict.js';

/**
 * The formats of the lines of a run: each is a URL, a JSON object, a JSON object or string, or a
 * row. The rows of Parquet come as JSON objects.
 */
export type RecordFormat = 'text' | 'ndjson' | 'json' | 'csv' | 'tsv' | 'parquet';
/**
 * What the lines of a query are. With `offsets` each is the place of a value of a column, and only
 * the conversion `outcomes` can be written.
 */
export type LineFormat = RecordFormat | 'offsets';
/**
 * The output of a run: each record with its verdict; the records whose URL all agents may fetch;
 * the records whose URL some agent may not fetch; the verdicts alone, a line for each record; or
 * `{"allowed":true}` or `{"allowed":false}` in place of the verdicts.
 */
export type OutputMode = 'annotate' | 'allowed' | 'denied' | 'verdicts' | 'mask-ndjson';

/**
 * What comes out in place of each record: its URL and verdicts in another format; for Parquet the
 * bytes that kernel/layout.ts describes, with or without the URL.
 */
export type Conversion = 'text' | 'ndjson' | 'csv' | 'tsv' | 'parquet' | 'outcomes';

/** What a run asks about every URL. */
export interface QuerySettings {
  readonly google: boolean;
  readonly agents: readonly Agent[];
  readonly format: LineFormat;
  readonly output: OutputMode;
  /**
   * `undefined`: records come out in their own format. Without effect where verdicts come out
   * alone.
   */
  readonly conversion?: Conversion | undefined;
  readonly unknown: Exclude<Verdict, 'invalid'>;
  readonly explain: boolean;
  readonly strict: boolean;
  /** Maximum length of a line, in bytes. A longer line is an invalid record. */
  readonly maxLineBytes: number;
  /** Path of the member that holds the URL: one key for each level. */
  readonly urlField: readonly string[];
  /** The column of rows that holds the URL, from 0; it may be changed later. Default 0. */
  readonly column?: number;
  /** Fields of each row; it may be changed later. 0, the default, for any number. */
  readonly rowFields?: number;
  /** The most that `rowFields` may become. Default: `rowFields`. */
  readonly mostRowFields?: number;
  /** Name of the added member; `undefined` for `verdict`, or `verdicts` with several agents. */
  readonly verdictField: string | undefined;
  /** Offset of the robots record that counts for every host; 0 to look hosts up. */
  readonly anyHost: number;
  /** Slots of the table, to mark the slots whose hosts are seen; 0 to mark nothing. */
  readonly seenSlots: number;
  /** Slots of the table, to count the verdicts of each; 0, the default, to count none. */
  readonly countedSlots?: number | undefined;
  /**
   * Entries of the counters of rules: a power of two, RULE_ENTRIES_PER_AGENT for each agent at
   * least; 0, the default, to count none.
   */
  readonly ruleEntries?: number | undefined;
  /**
   * Number of shards by which hosts are divided; 0, the default, for a table in one piece.
   */
  readonly shards?: number | undefined;
  /** Whether the number of the shard comes out in place of the verdict; for one agent. */
  readonly addsShard?: boolean | undefined;
  /** Whether each record comes out in a frame with its URL (kernel/layout.ts, FRAME_…). */
  readonly frames?: boolean | undefined;
}

/** The member or column that holds the URL in a conversion. */
export const CONVERTED_URL = 'url';

/** The default query: NDJSON annotated for `*`. */
export const DEFAULT_SETTINGS: QuerySettings = {
  google: false,
  agents: [{ name: '*', chain: ['*'] }],
  format: 'ndjson',
  output: 'annotate',
  unknown: 'unknown',
  explain: false,
  strict: false,
  maxLineBytes: 1 << 24,
  urlField: ['url'],
  verdictField: undefined,
  anyHost: 0,
  seenSlots: 0,
};

/** The conversion that takes place; `undefined` for none. */
export function conversionOf({ output, conversion }: QuerySettings): Conversion | undefined {
  return output === 'verdicts' || output === 'mask-ndjson' ? undefined : conversion;
}
