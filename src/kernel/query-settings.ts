/** What a run asks about each URL, and the words in which the answers come out. */

import { csvField } from '../base/control-characters.js';
import { RobotsFilterError } from '../base/errors.js';
import type { Agent } from '../protocol/agent.js';
import type { Authority, Scheme } from '../protocol/authority.js';
import {
  ALL_REASONS,
  USE_WORDS,
  type Use,
  type UseQuestion,
  useQuestions,
} from '../protocol/uses.js';
import { VERDICTS, type Verdict } from '../protocol/verdict.js';
import {
  FRAGMENT_AGENT,
  FRAGMENT_ALLOW,
  FRAGMENT_BAD_END,
  FRAGMENT_BAD_INPUT,
  FRAGMENT_BAD_LINE,
  FRAGMENT_DISALLOW,
  FRAGMENT_JUDGED_AS,
  FRAGMENT_LINE,
  FRAGMENT_MASK_ALLOWED,
  FRAGMENT_MASK_DENIED,
  FRAGMENT_REASON,
  FRAGMENT_REASONS,
  FRAGMENT_REASONS_OPEN,
  FRAGMENT_RULE,
  FRAGMENT_RULES_OPEN,
  FRAGMENT_SHARD_END,
  FRAGMENT_SIGNAL,
  FRAGMENT_SIGNALS_OPEN,
  FRAGMENT_SOURCE,
  FRAGMENT_STRING_CLOSE,
  FRAGMENT_STRING_OPEN,
  FRAGMENT_TEXT,
  FRAGMENT_USE_REASON,
  FRAGMENT_USE_REASONS_OPEN,
  FRAGMENT_USE_VERSION,
  FRAGMENT_USE_VERSIONS_OPEN,
  FRAGMENT_VERSION,
  FRAGMENT_VERSIONS_OPEN,
  FRAGMENTS,
  MAX_AGENTS,
} from './layout.js';

/**
 * The formats of the lines of a run: each is a URL, a JSON object, a JSON object or string, or a
 * row; the rows of Parquet and the records of WARC come as JSON objects; in CDXJ a key and a time
 * precede an object; cdx is an index in columns; a log is that of a web server.
 */
export type RecordFormat =
  | 'text'
  | 'ndjson'
  | 'json'
  | 'csv'
  | 'tsv'
  | 'parquet'
  | 'cdxj'
  | 'cdx'
  | 'warc'
  | 'log';
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

/** A server whose log is read. */
export type Server = Authority & { readonly scheme: Scheme };

/** What a run asks about every URL. */
export interface QuerySettings {
  readonly google: boolean;
  readonly agents: readonly Agent[];
  /** Uses about which is asked for each agent. Default: none. */
  readonly uses?: readonly Use[] | undefined;
  /** Whether records are chosen as if a use that is not granted were refused. Default false. */
  readonly requireGrant?: boolean | undefined;
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
   * Address of `rememberedBytes` of zeros, where the kernel keeps what it finds at each slot of the
   * table; 0, the default, to keep nothing.
   */
  readonly remembered?: number | undefined;
  /**
   * The time for which robots.txt files are looked up, in seconds since 1970. Default: LATEST.
   */
  readonly at?: number | undefined;
  /**
   * Path of the member that holds the time for which a record's robots.txt is looked up, as
   * `urlField`; `undefined`, the default, if all have the time `at`.
   */
  readonly timeField?: readonly string[] | undefined;
  /** The column of rows that holds that time, from 0; it may be changed later. Default 0. */
  readonly timeColumn?: number;
  /** Whether each line has its own time. Default: if there is a `timeField`. */
  readonly timed?: boolean;
  /**
   * Path of the member that names the agent for which a record is judged, as `urlField`;
   * `undefined`, the default, if all records are judged for `agents`, which has one otherwise.
   */
  readonly agentField?: readonly string[] | undefined;
  /** The column of rows that names that agent, from 0; it may be changed later. Default 0. */
  readonly agentColumn?: number;
  /** For logs, the server to which paths belong; `undefined` if each line begins with it. */
  readonly server?: Server | undefined;
  /** Whether every version of a robots.txt counts, and not that of one time. Default false. */
  readonly ever?: boolean | undefined;
  /**
   * Seconds after which a version that was not found again counts for nothing, less than LATEST.
   * Only with times, for a table with histories. Default: any number.
   */
  readonly maxAge?: number | undefined;
  /** Records of later times are counted, in seconds since 1970. Default: none. */
  readonly now?: number | undefined;
  /** Whether explanations have the time from which the version was in force. Default false. */
  readonly dated?: boolean | undefined;
  /**
   * Number of shards by which hosts are divided; 0, the default, for a table in one piece.
   */
  readonly shards?: number | undefined;
  /** Whether the number of the shard comes out in place of the verdict; for one agent. */
  readonly addsShard?: boolean | undefined;
  /** Whether each record comes out in a frame with its URL (kernel/layout.ts, FRAME_…). */
  readonly frames?: boolean | undefined;
}

/** The member, or the end of the column, with the agent for which a record was judged. */
export const JUDGED_AS = 'judged_as';

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

/** @throws RobotsFilterError `usage` unless there are 1 to 256 agents, and no more answers */
export function checkQuestions(settings: Pick<QuerySettings, 'agents' | 'uses'>): void {
  const { agents, uses = [] } = settings;
  if (agents.length === 0 || agents.length > MAX_AGENTS) {
    throw new RobotsFilterError(
      'usage',
      `1 to ${MAX_AGENTS} agents at a time, not ${agents.length}: ${agents.length === 0 ? 'name one' : 'divide them among several runs'}`,
    );
  }
  const answers = outcomesOf(settings);
  if (answers <= MAX_AGENTS) return;
  throw new RobotsFilterError(
    'usage',
    `${agents.length} agents and ${uses.length} uses are ${answers} answers for each URL, more than ${MAX_AGENTS}. Divide them among several runs`,
  );
}

/** Outcomes of each URL. */
export function outcomesOf({ agents, uses = [] }: Pick<QuerySettings, 'agents' | 'uses'>): number {
  return agents.length * (1 + uses.length);
}

/** What is asked about each URL: for each agent whether it may fetch it, then about uses. */
interface Question extends Omit<UseQuestion, 'use'> {
  readonly use?: Use;
}

export function questionsOf({ agents, uses = [] }: QuerySettings): Question[] {
  const verdicts = agents.map((agent, of) => ({ agent, of, name: agent.name }));
  return [...verdicts, ...useQuestions(agents, uses)];
}

/** How records are written: as text, as JSON, or as rows with this delimiter. */
export const NOTATIONS = {
  text: 'text',
  ndjson: 'json',
  json: 'json',
  csv: ',',
  tsv: '\t',
  parquet: 'json',
  cdxj: 'json',
  cdx: ' ',
  warc: 'json',
  log: 'text',
  offsets: 'json',
  outcomes: 'json',
} as const satisfies Record<LineFormat | Conversion, string>;

type Notation = (typeof NOTATIONS)[keyof typeof NOTATIONS];

/** What stands between the fields of a row. A notation that is none needs a case of its own. */
type Delimiter = ',' | '\t' | ' ';

/**
 * A field that is added to a row. In CDX nothing can quote a space: it becomes `%20`, and `-`
 * stands for an empty field.
 */
export function addedField(delimiter: Delimiter, text: string): string {
  if (delimiter !== ' ') return csvField(text, '\t');
  if (text === '') return '-';
  const escaped = [...text].map((each) => (each <= ' ' ? encodeURIComponent(each) : each));
  return escaped.join('');
}

export function isRows(format: LineFormat): boolean {
  return NOTATIONS[format] !== 'text' && NOTATIONS[format] !== 'json';
}

/** The conversion that takes place; `undefined` for none. */
export function appliedConversion({ output, conversion }: QuerySettings): Conversion | undefined {
  return output === 'verdicts' || output === 'mask-ndjson' ? undefined : conversion;
}

/** How the records of the output are written. */
function notationOf(settings: QuerySettings): Notation {
  return NOTATIONS[appliedConversion(settings) ?? settings.format];
}

/** The other words of the members, in the order of the FRAGMENT_ constants. */
export function fragments(settings: QuerySettings): string[] {
  const words = new Array<string>(FRAGMENTS).fill('');
  ALL_REASONS.forEach((reason, index) => {
    words[FRAGMENT_REASONS + index] = reason;
  });
  words[FRAGMENT_REASONS_OPEN] = '"reasons":{';
  words[FRAGMENT_RULES_OPEN] = '"rules":{';
  words[FRAGMENT_LINE] = '{"line":';
  words[FRAGMENT_TEXT] = ',"text":"';
  words[FRAGMENT_AGENT] = ',"agent":"';
  words[FRAGMENT_SOURCE] = ',"source":"';
  words[FRAGMENT_RULE] = '"rule":';
  words[FRAGMENT_REASON] = '"reason":';
  words[FRAGMENT_VERSION] = '"version":"';
  words[FRAGMENT_VERSIONS_OPEN] = '"versions":{';
  const use = inString(useField(settings.verdictField));
  words[FRAGMENT_USE_REASON] = `"${use}_reason":`;
  words[FRAGMENT_USE_REASONS_OPEN] = `"${use}_reasons":{`;
  words[FRAGMENT_USE_VERSION] = `"${use}_version":"`;
  words[FRAGMENT_USE_VERSIONS_OPEN] = `"${use}_versions":{`;
  words[FRAGMENT_SIGNAL] = '"signal":';
  words[FRAGMENT_SIGNALS_OPEN] = '"signals":{';
  words[FRAGMENT_JUDGED_AS] = `"${JUDGED_AS}":`;
  words[FRAGMENT_DISALLOW] = 'Disallow: ';
  words[FRAGMENT_ALLOW] = 'Allow: ';
  words[FRAGMENT_BAD_LINE] = BAD_LINE_MEMBERS[settings.format];
  words[FRAGMENT_BAD_INPUT] = ',"input":"';
  words[FRAGMENT_BAD_END] = '"}';
  const keys = settings.conversion === undefined ? settings.urlField : [CONVERTED_URL];
  words[FRAGMENT_STRING_OPEN] = keys.map((key) => `{"${inString(key)}":`).join('');
  words[FRAGMENT_STRING_CLOSE] = '}'.repeat(keys.length - 1);
  words[FRAGMENT_MASK_ALLOWED] = '{"allowed":true}';
  words[FRAGMENT_MASK_DENIED] = '{"allowed":false}';
  words[FRAGMENT_SHARD_END] = notationOf(settings) === 'text' ? '\t' : '';
  return words;
}

/** The text that an agent's verdicts add to a record, by verdict: see AGENT_VERDICTS. */
export function verdictFragments(settings: QuerySettings, index: number): string[] {
  const { agents, uses = [], verdictField } = settings;
  const notation = notationOf(settings);
  if (settings.addsShard === true) return shardFragments(settings, notation);
  const isUse = index >= agents.length;
  const own: readonly string[] = isUse ? USE_WORDS : VERDICTS;
  const first = isUse ? agents.length : 0;
  const count = isUse ? agents.length * uses.length : agents.length;
  const isLast = index === first + count - 1;
  if (settings.output === 'verdicts') {
    const isEnd = isLast && (isUse || uses.length === 0);
    return own.map((word) => `${word}${isEnd ? '' : ','}`);
  }
  if (notation === 'text') return own.map((word) => `${word}${isLast ? '\t' : ','}`);
  if (notation !== 'json') {
    // Does not compile if there is a further notation, which is no delimiter.
    const delimiter: Delimiter = notation;
    return own.map((word) => delimiter + addedField(delimiter, word));
  }
  const several = count > 1;
  const member = isUse
    ? useField(verdictField)
    : (verdictField ?? (several ? 'verdicts' : 'verdict'));
  const field = `${isUse ? ',' : ''}"${inString(member)}":`;
  // Without an answer, the member is null.
  const shown = (word: string): string => (word === '' ? 'null' : `"${word}"`);
  if (!several) return own.map((word) => `${field}${shown(word)}`);
  const questions = isUse ? useQuestions(agents, uses) : agents;
  const name = inString(questions[index - first]?.name ?? '');
  const before = `${index === first ? `${field}{` : ','}"${name}":`;
  return own.map((word) => `${before}${shown(word)}${isLast ? '}' : ''}`);
}

/** The member, or the column, that has the answers about uses. */
export function useField(verdictField: string | undefined): string {
  return verdictField === undefined ? 'use' : `${verdictField}_use`;
}

/** The text before the number of the shard, by verdict; for `invalid` the text in its place. */
function shardFragments({ verdictField = 'shard' }: QuerySettings, notation: Notation): string[] {
  const field = `"${inString(verdictField)}":`;
  const texts = { text: ['', '\t'], json: [field, `${field}null`] } as const;
  const [before, invalid] =
    notation === 'text' || notation === 'json'
      ? texts[notation]
      : [notation, notation + addedField(notation, '')];
  return VERDICTS.map((verdict) => (verdict === 'invalid' ? invalid : before));
}

/** The member with the number of a record that is not an object; text and rows have none. */
const BAD_LINE_MEMBERS: Record<LineFormat, string> = {
  text: ',"line":',
  ndjson: ',"line":',
  json: ',"record":',
  csv: ',"row":',
  tsv: ',"row":',
  parquet: ',"row":',
  cdxj: ',"line":',
  cdx: ',"line":',
  warc: ',"record":',
  log: ',"line":',
  offsets: ',"row":',
};

/** A text as the inside of a JSON string, safe on a terminal. */
export function inString(text: string): string {
  return JSON.stringify(text).slice(1, -1).replaceAll('\u007f', '\\u007f');
}
