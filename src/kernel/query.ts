/** Encodes the questions about every URL of a run as the block of memory that the kernel reads. */

import { RobotsFilterError } from '../base/errors.js';
import { type Agent, lowerCaseAscii } from '../protocol/agent.js';
import {
  ALL_REASONS,
  ANY_KEY,
  EVERYONE,
  isSignalToken,
  signalToken,
  USE_WORDS,
  type Use,
  type UseQuestion,
  useQuestions,
} from '../protocol/uses.js';
import { VERDICTS, type Verdict } from '../protocol/verdict.js';
import { SOURCE_LIMIT, TEXT_LIMIT } from '../table/format.js';
import {
  AGENT_BYTES,
  AGENT_CHAIN,
  AGENT_CHAIN_COUNT,
  AGENT_DISREGARDS_ANY,
  AGENT_NAME,
  AGENT_OF,
  AGENT_SIGNAL_COUNT,
  AGENT_SIGNALS,
  AGENT_VERDICTS,
  BAD_INPUT_LIMIT,
  CACHE_LINE,
  CHAIN_BYTES,
  CHAIN_TEXT,
  CHAIN_TOKEN,
  CONVERT_CSV,
  CONVERT_NDJSON,
  CONVERT_NONE,
  CONVERT_OUTCOMES,
  CONVERT_PARQUET,
  CONVERT_TEXT,
  CONVERT_TSV,
  CRC_BYTES,
  FORMAT_CDXJ,
  FORMAT_CSV,
  FORMAT_JSON,
  FORMAT_NDJSON,
  FORMAT_OFFSETS,
  FORMAT_TEXT,
  FORMAT_TSV,
  FRAGMENT_AGENT,
  FRAGMENT_ALLOW,
  FRAGMENT_BAD_END,
  FRAGMENT_BAD_INPUT,
  FRAGMENT_BAD_LINE,
  FRAGMENT_DISALLOW,
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
  FRAME_OUTCOMES,
  FRAME_RECORD,
  FRAME_URL,
  HOST_COUNTS_BYTES,
  LATEST,
  MARGIN,
  MAX_AGENTS,
  OUTCOMES,
  OUTPUT_ALLOWED,
  OUTPUT_ANNOTATE,
  OUTPUT_DENIED,
  OUTPUT_MASK,
  OUTPUT_VERDICTS,
  QUERY_ADDS_SHARD,
  QUERY_AGENT_COUNT,
  QUERY_AGENTS,
  QUERY_ANY_HOST,
  QUERY_AT,
  QUERY_BYTES,
  QUERY_COLUMN,
  QUERY_CONVERSION,
  QUERY_COUNTS,
  QUERY_CRC,
  QUERY_DATED,
  QUERY_EVER,
  QUERY_EXPLAIN,
  QUERY_FIELD_COUNT,
  QUERY_FIELDS,
  QUERY_FIRST_USE,
  QUERY_FLAGS,
  QUERY_FORMAT,
  QUERY_FRAGMENTS,
  QUERY_FRAMES,
  QUERY_GOOGLE,
  QUERY_LINE_FACTOR,
  QUERY_LINE_OVERHEAD,
  QUERY_MAX_AGE,
  QUERY_MAX_LINE,
  QUERY_NOW,
  QUERY_OUTPUT,
  QUERY_PARQUET,
  QUERY_REMEMBERED,
  QUERY_REQUIRE_GRANT,
  QUERY_ROW_FIELDS,
  QUERY_RULE_DOUBLINGS,
  QUERY_RULE_ENTRIES,
  QUERY_RULES,
  QUERY_SEEN,
  QUERY_SHARD_QUERIES,
  QUERY_SHARDS,
  QUERY_STRICT,
  QUERY_TABLE,
  QUERY_TIME_COLUMN,
  QUERY_TIME_FIELD_COUNT,
  QUERY_TIME_FIELDS,
  QUERY_TIMED,
  QUERY_UNKNOWN,
  REASON_CONTENT_SIGNAL,
  REASON_CONTENT_USAGE,
  REASON_POLICY_TOKEN,
  REMEMBERED_BYTES,
  ROW_MARK_BYTES,
  RULE_BYTES,
  RULES_ENTRIES,
  SIGNAL_BYTES,
  SIGNAL_GRANTED,
  SIGNAL_REASON,
  SIGNAL_REFUSED,
  SIGNAL_TEXT,
  SIGNAL_TOKENS,
  WORKER_TALLY,
} from './layout.js';

/** Address of a query's block, and the bytes that its runs need; see kernel/layout.ts. */
export interface Query {
  readonly address: number;
  /** Bytes of output that a line may need for each of its own. */
  readonly lineFactor: number;
  /** Bytes of output that a line may need beyond that. */
  readonly lineOverhead: number;
  /** Bytes of each thread's worker block. */
  readonly workerBytes: number;
  readonly maxLineBytes: number;
  /** Outcomes of each URL: one for each agent, then one for each answer about a use. */
  readonly outcomes: number;
}

/** The counters of rules begin with a quarter of their entries, or with this many. */
const FIRST_RULE_ENTRIES = 2 ** 12;

const FORMAT_NUMBERS: Record<LineFormat, number> = {
  text: FORMAT_TEXT,
  ndjson: FORMAT_NDJSON,
  json: FORMAT_JSON,
  csv: FORMAT_CSV,
  tsv: FORMAT_TSV,
  parquet: FORMAT_NDJSON,
  cdxj: FORMAT_CDXJ,
  offsets: FORMAT_OFFSETS,
};
const CONVERSIONS: Record<Conversion, number> = {
  text: CONVERT_TEXT,
  ndjson: CONVERT_NDJSON,
  csv: CONVERT_CSV,
  tsv: CONVERT_TSV,
  parquet: CONVERT_PARQUET,
  outcomes: CONVERT_OUTCOMES,
};
/**
 * Bytes that a byte of a URL may become: `%01`, `\u0001`, two quotes, U+FFFD. The outcomes alone
 * have no URL.
 */
const EXPANSIONS: Record<Conversion, number> = {
  text: 3,
  ndjson: 6,
  csv: 2,
  tsv: 2,
  parquet: 3,
  outcomes: 0,
};
const GREATEST_EXPANSION = Math.max(...Object.values(EXPANSIONS));

const OUTPUTS: Record<OutputMode, number> = {
  annotate: OUTPUT_ANNOTATE,
  allowed: OUTPUT_ALLOWED,
  denied: OUTPUT_DENIED,
  verdicts: OUTPUT_VERDICTS,
  'mask-ndjson': OUTPUT_MASK,
};

/** The CRC-32 of a byte, with the polynomial of zlib, least significant bit first. */
function crcOfByte(byte: number): number {
  let crc = byte;
  for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ ((crc & 1) * 0xedb88320);
  return crc >>> 0;
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
  offsets: 'json',
  outcomes: 'json',
} as const satisfies Record<LineFormat | Conversion, string>;

type Notation = (typeof NOTATIONS)[keyof typeof NOTATIONS];

function isRows(format: LineFormat): boolean {
  return NOTATIONS[format] !== 'text' && NOTATIONS[format] !== 'json';
}

/** Whether rows come out with columns added. */
function annotatesRows(settings: QuerySettings): boolean {
  const { format, output } = settings;
  return isRows(format) && output === 'annotate' && appliedConversion(settings) === undefined;
}

/**
 * Bytes of output for each byte of a line: 1, since a record that comes out in its own format has
 * its own length, and `lineOverhead` has room for the rest. A row that comes out as one quoted
 * field takes 2, because its quotes are doubled.
 *
 * In a conversion a URL of `n` bytes, as the line has it, takes at most `expansion × n`; it is not
 * longer when its escapes are undone. Then the text without escapes is held in the output, too,
 * `expansion × n + MARGIN` bytes after the URL's place, where what is written cannot reach it
 * (assembly/emit/conversion.ts). The sum is `(expansion + 1) × n + MARGIN`.
 *
 * In a frame the URL stands once more before the record.
 */
function lineFactor(settings: QuerySettings): number {
  const conversion = appliedConversion(settings);
  const own = annotatesRows(settings) ? 2 : 1;
  const record = conversion === undefined ? own : EXPANSIONS[conversion] + 1;
  return settings.frames === true ? record + 1 : record;
}

/**
 * An upper bound of a line's output, in bytes, beyond `lineFactor` for each byte of the line.
 *
 * @param names bytes of all agents' names and tokens
 * @param verdicts bytes of all agents' longest verdicts
 */
function lineOverhead(
  settings: QuerySettings,
  words: readonly string[],
  names: number,
  verdicts: number,
): number {
  const agents = outcomesOf(settings);
  // Escaping turns each byte of a rule's text into at most six. Quotes may be doubled, in a source
  // too.
  const explanation = 256 + 6 * TEXT_LIMIT + 2 * (SOURCE_LIMIT + 256);
  // The caller chooses how the members of uses are called; a character takes at most three bytes.
  const members = [FRAGMENT_USE_REASONS_OPEN, FRAGMENT_USE_VERSIONS_OPEN, FRAGMENT_SIGNALS_OPEN]
    .map((fragment) => (words[fragment] ?? '').length)
    .reduce((sum, length) => sum + length);
  const explained = settings.explain ? 3 * (names + members) + agents * explanation : 0;
  const strings =
    (words[FRAGMENT_STRING_OPEN] ?? '').length + (words[FRAGMENT_STRING_CLOSE] ?? '').length;
  // A bad line is shown from its beginning, and in a conversion as a URL is.
  const shown = (GREATEST_EXPANSION + 1) * BAD_INPUT_LIMIT;
  const frame = settings.frames === true ? FRAME_OUTCOMES + agents + MARGIN : 0;
  const { rowFields = 0, mostRowFields = rowFields } = settings;
  const padding = annotatesRows(settings) ? mostRowFields : 0;
  return 64 + verdicts + explained + 3 * strings + shown + frame + padding + 5 * MARGIN;
}

/** Writes the blocks of a query one after another. */
class BlockWriter {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  readonly #address: number;
  #end = QUERY_BYTES;

  constructor(address: number, size: number) {
    this.#address = address;
    this.bytes = new Uint8Array(size);
    this.view = new DataView(this.bytes.buffer);
  }

  /** Reserves bytes; returns their offset in the block. */
  take(bytes: number): number {
    const place = this.#end;
    this.#end = (place + bytes + 7) & ~7;
    return place;
  }

  /** Writes bytes to a free place, and their address and length at `pair`. */
  put(pair: number, text: Uint8Array): void {
    const place = this.take(text.length);
    this.bytes.set(text, place);
    this.pointer(pair, place);
    this.view.setUint32(pair + 4, text.length, true);
  }

  pointer(at: number, place: number): void {
    this.view.setUint32(at, this.#address + place, true);
  }

  word(at: number, value: number): void {
    this.view.setInt32(at, value, true);
  }
}

/**
 * The product token by which a link of a chain names groups, in lower case; `undefined` if the link
 * names none.
 */
export function tokenOfLink(link: string, google: boolean): string | undefined {
  const token = lowerCaseAscii(link);
  // In the google profile an agent `*` names no group; every agent falls back to `*` anyway. There
  // any text may be asked for, but a table has some texts that no user-agent line names.
  return google && (link === '*' || isSignalToken(token)) ? undefined : token;
}

/** An upper bound of the bytes that `encodeQuery` writes. */
export function queryBytes(settings: QuerySettings): number {
  let bytes = QUERY_BYTES + 4 * MARGIN + (settings.shards ? CRC_BYTES : 0);
  for (const word of fragments(settings)) bytes += 16 + 3 * word.length;
  for (const key of [...settings.urlField, ...(settings.timeField ?? [])]) {
    bytes += 32 + 3 * key.length;
  }
  questionsOf(settings).forEach(({ name, agent, use }, index) => {
    bytes += AGENT_BYTES + 32 + 6 * name.length;
    for (const word of verdictFragments(settings, index)) bytes += 16 + 3 * word.length;
    for (const link of agent.chain) bytes += CHAIN_BYTES + 32 + 6 * link.length;
    if (use === undefined) return;
    for (const { tokensFor, texts } of askedSignals(use)) {
      bytes += SIGNAL_BYTES + 4 * tokensFor(agent, settings.google).length + 16;
      for (const text of texts) bytes += 16 + 3 * text.length;
    }
  });
  return bytes;
}

/**
 * Encodes a query's block, to be placed at `address`, for a table at `table`.
 *
 * @param tokenNumber number of a lower-case product token in the table, -1 if no robots.txt names
 *   it
 * @throws RobotsFilterError `usage` unless there are 1 to 256 agents, and no more answers
 */
export function encodeQuery(
  settings: QuerySettings,
  address: number,
  table: number,
  tokenNumber: (token: string) => number,
): { query: Query; bytes: Uint8Array } {
  const { agents } = settings;
  checkQuestions(settings);
  const questions = questionsOf(settings);
  const encoder = new TextEncoder();
  const words = fragments(settings);
  const block = new BlockWriter(address, queryBytes(settings));
  let names = 0;
  let verdicts = 0;
  const agentsPlace = block.take(questions.length * AGENT_BYTES);
  questions.forEach(({ agent, name: called, use, of }, index) => {
    const at = agentsPlace + index * AGENT_BYTES;
    const name = encoder.encode(inString(called));
    names += name.length + 4;
    block.put(at + AGENT_NAME, name);
    const ownVerdicts = verdictFragments(settings, index).map((word) => encoder.encode(word));
    ownVerdicts.forEach((word, verdict) => {
      block.put(at + AGENT_VERDICTS + 8 * verdict, word);
    });
    verdicts += Math.max(...ownVerdicts.map(({ length }) => length));
    block.word(at + AGENT_CHAIN_COUNT, agent.chain.length);
    block.word(at + AGENT_DISREGARDS_ANY, agent.disregardsAny === true ? 1 : 0);
    const chainPlace = block.take(agent.chain.length * CHAIN_BYTES);
    block.pointer(at + AGENT_CHAIN, chainPlace);
    agent.chain.forEach((link, order) => {
      const linkAt = chainPlace + order * CHAIN_BYTES;
      const token = tokenOfLink(link, settings.google);
      block.word(linkAt + CHAIN_TOKEN, token === undefined ? -1 : tokenNumber(token));
      block.put(linkAt + CHAIN_TEXT, encoder.encode(inString(link)));
      names += 6 * link.length;
    });
    if (use === undefined) return;
    // A signal that no robots.txt of the table has need not be looked for.
    const signals = askedSignals(use).flatMap(({ tokensFor, ...signal }) => {
      const tokens = tokensFor(agent, settings.google);
      const numbers = tokens.map((token) => (token === undefined ? -1 : tokenNumber(token)));
      return numbers.some((number) => number >= 0) ? [{ ...signal, numbers }] : [];
    });
    const signalsPlace = block.take(signals.length * SIGNAL_BYTES);
    block.word(at + AGENT_SIGNAL_COUNT, signals.length);
    block.pointer(at + AGENT_SIGNALS, signalsPlace);
    block.word(at + AGENT_OF, of);
    signals.forEach(({ reason, numbers, texts }, order) => {
      const signalAt = signalsPlace + order * SIGNAL_BYTES;
      block.word(signalAt + SIGNAL_REASON, reason);
      const tokensPlace = block.take(4 * numbers.length);
      block.pointer(signalAt + SIGNAL_TOKENS, tokensPlace);
      numbers.forEach((number, index) => {
        block.word(tokensPlace + 4 * index, number);
      });
      const [text, granted, refused] = texts;
      block.put(signalAt + SIGNAL_TEXT, encoder.encode(text));
      block.put(signalAt + SIGNAL_GRANTED, encoder.encode(granted));
      block.put(signalAt + SIGNAL_REFUSED, encoder.encode(refused));
    });
  });
  words.forEach((word, index) => {
    block.put(QUERY_FRAGMENTS + index * 8, encoder.encode(word));
  });
  const putPath = (keys: readonly string[], count: number, fields: number): void => {
    const place = block.take(keys.length * 8);
    keys.forEach((key, index) => {
      block.put(place + index * 8, encoder.encode(key));
    });
    block.word(count, keys.length);
    block.pointer(fields, place);
  };
  const { timeField = [], timeColumn = 0, timed = timeField.length > 0, ever } = settings;
  putPath(settings.urlField, QUERY_FIELD_COUNT, QUERY_FIELDS);
  putPath(timeField, QUERY_TIME_FIELD_COUNT, QUERY_TIME_FIELDS);
  block.word(QUERY_TIME_COLUMN, timeColumn);
  const overhead = lineOverhead(settings, words, names, verdicts);
  const tallyEnd = WORKER_TALLY + questions.length * OUTCOMES * 8;
  block.word(QUERY_TABLE, table);
  block.word(
    QUERY_FLAGS,
    (settings.google ? QUERY_GOOGLE : 0) |
      (settings.explain ? QUERY_EXPLAIN : 0) |
      (settings.strict ? QUERY_STRICT : 0) |
      (settings.format === 'parquet' ? QUERY_PARQUET : 0) |
      (settings.addsShard === true ? QUERY_ADDS_SHARD : 0) |
      (settings.frames === true ? QUERY_FRAMES : 0) |
      (timed ? QUERY_TIMED : 0) |
      (ever === true ? QUERY_EVER : 0) |
      (settings.dated === true ? QUERY_DATED : 0) |
      (settings.requireGrant === true ? QUERY_REQUIRE_GRANT : 0),
  );
  block.word(QUERY_FORMAT, FORMAT_NUMBERS[settings.format]);
  block.word(QUERY_OUTPUT, OUTPUTS[settings.output]);
  block.word(QUERY_UNKNOWN, VERDICTS.indexOf(settings.unknown));
  block.word(QUERY_MAX_LINE, settings.maxLineBytes);
  block.word(QUERY_AGENT_COUNT, questions.length);
  block.word(QUERY_FIRST_USE, agents.length);
  block.pointer(QUERY_AGENTS, agentsPlace);
  const conversion = appliedConversion(settings);
  block.word(QUERY_CONVERSION, conversion === undefined ? CONVERT_NONE : CONVERSIONS[conversion]);
  block.word(QUERY_LINE_FACTOR, lineFactor(settings));
  block.word(QUERY_LINE_OVERHEAD, overhead);
  block.word(QUERY_SEEN, settings.seenSlots === 0 ? 0 : tallyEnd);
  const { countedSlots = 0, ruleEntries = 0 } = settings;
  const countsStart = tallyEnd + 8 * Math.ceil(settings.seenSlots / 64);
  block.word(QUERY_COUNTS, countedSlots === 0 ? 0 : countsStart);
  const rulesStart = CACHE_LINE * Math.ceil((countsStart + countBytes(settings)) / CACHE_LINE);
  block.word(QUERY_RULES, ruleEntries === 0 ? 0 : rulesStart);
  const firstEntries = firstRuleEntries(ruleEntries);
  block.word(QUERY_RULE_ENTRIES, firstEntries);
  block.word(QUERY_RULE_DOUBLINGS, ruleEntries === 0 ? 0 : Math.log2(ruleEntries / firstEntries));
  const rulesEnd = rulesStart + (ruleEntries === 0 ? 0 : RULES_ENTRIES + ruleEntries * RULE_BYTES);
  block.word(QUERY_ANY_HOST, settings.anyHost);
  block.word(QUERY_COLUMN, settings.column ?? 0);
  block.word(QUERY_ROW_FIELDS, settings.rowFields ?? 0);
  block.word(QUERY_REMEMBERED, settings.remembered ?? 0);
  block.word(QUERY_AT, timed || ever === true ? 0 : (settings.at ?? LATEST));
  block.word(QUERY_MAX_AGE, settings.maxAge ?? LATEST);
  block.word(QUERY_NOW, settings.now ?? LATEST);
  const { shards = 0 } = settings;
  block.word(QUERY_SHARDS, shards);
  if (shards > 0) {
    const crcPlace = block.take(CRC_BYTES);
    block.pointer(QUERY_CRC, crcPlace);
    for (let byte = 0; byte < 256; byte++) {
      block.view.setUint32(crcPlace + 4 * byte, crcOfByte(byte), true);
    }
  }
  const query: Query = {
    address,
    lineFactor: lineFactor(settings),
    lineOverhead: overhead,
    workerBytes: MARGIN * Math.floor(rulesEnd / MARGIN) + 2 * MARGIN,
    maxLineBytes: settings.maxLineBytes + (isRows(settings.format) ? ROW_MARK_BYTES : 0),
    outcomes: questions.length,
  };
  return { query, bytes: block.bytes };
}

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

/** Entries of the counters of rules at first. */
function firstRuleEntries(most: number): number {
  return Math.min(most, Math.max(most / 4, FIRST_RULE_ENTRIES));
}

/** Bytes of the counters of hosts in a worker block. */
function countBytes(settings: QuerySettings): number {
  return (settings.countedSlots ?? 0) * outcomesOf(settings) * HOST_COUNTS_BYTES;
}

/** Outcomes of each URL. */
export function outcomesOf({ agents, uses = [] }: Pick<QuerySettings, 'agents' | 'uses'>): number {
  return agents.length * (1 + uses.length);
}

/** What is asked about each URL: for each agent whether it may fetch it, then about uses. */
interface Question extends Omit<UseQuestion, 'use'> {
  readonly use?: Use;
}

function questionsOf({ agents, uses = [] }: QuerySettings): Question[] {
  const verdicts = agents.map((agent, of) => ({ agent, of, name: agent.name }));
  return [...verdicts, ...useQuestions(agents, uses)];
}

/** A signal that is asked for a use: SIGNAL_… */
interface AskedSignal {
  readonly reason: number;
  readonly tokensFor: (agent: Agent, google: boolean) => readonly (string | undefined)[];
  readonly texts: readonly [before: string, granted: string, refused: string];
}

function askedSignals({ keys, policyToken }: Use): AskedSignal[] {
  const signals = keys.map(({ vocabulary, key }): AskedSignal => {
    const isUsage = vocabulary === 'content-usage';
    const tokensFor: AskedSignal['tokensFor'] = ({ chain }, google) => {
      const tokens = [...chain.map((link) => tokenOfLink(link, google)), '*'];
      const namesOf = (named: string): (string | undefined)[] =>
        tokens.map((token) => token && signalToken({ vocabulary, key: named }, token));
      const everyone = signalToken({ vocabulary, key }, EVERYONE);
      return [...namesOf(key), everyone, ...(isUsage ? namesOf(ANY_KEY) : [])];
    };
    return {
      reason: isUsage ? REASON_CONTENT_USAGE : REASON_CONTENT_SIGNAL,
      tokensFor,
      texts: isUsage
        ? ['Content-Usage: ', `${key}=y`, `${key}=n`]
        : ['Content-Signal: ', `${key}=yes`, `${key}=no`],
    };
  });
  if (policyToken === undefined) return signals;
  const token = lowerCaseAscii(policyToken);
  return [
    ...signals,
    { reason: REASON_POLICY_TOKEN, tokensFor: () => [token], texts: [policyToken, '', ''] },
  ];
}

/**
 * The formats of the lines of a run: each is a URL, a JSON object, a JSON object or string, or a
 * row; the rows of Parquet come as JSON objects; in CDXJ a key and a time precede an object.
 */
export type RecordFormat = 'text' | 'ndjson' | 'json' | 'csv' | 'tsv' | 'parquet' | 'cdxj';
/**
 * What the lines of a query are. With `offsets` each is the place of a value of a column, and only
 * the conversion `outcomes` can be written.
 */
type LineFormat = RecordFormat | 'offsets';
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
function appliedConversion({ output, conversion }: QuerySettings): Conversion | undefined {
  return output === 'verdicts' || output === 'mask-ndjson' ? undefined : conversion;
}

/** How the records of the output are written. */
function notationOf(settings: QuerySettings): Notation {
  return NOTATIONS[appliedConversion(settings) ?? settings.format];
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
  offsets: ',"row":',
};

/** A text as the inside of a JSON string, safe on a terminal. */
function inString(text: string): string {
  return JSON.stringify(text).slice(1, -1).replaceAll('\u007f', '\\u007f');
}

/** The text that an agent's verdicts add to a record, by verdict: see AGENT_VERDICTS. */
function verdictFragments(settings: QuerySettings, index: number): string[] {
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
    const delimiter: ',' | '\t' = notation;
    return own.map((word) => `${delimiter}${word}`);
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
    notation === 'text' || notation === 'json' ? texts[notation] : [notation, notation];
  return VERDICTS.map((verdict) => (verdict === 'invalid' ? invalid : before));
}

/** The other words of the members, in the order of the FRAGMENT_ constants. */
function fragments(settings: QuerySettings): string[] {
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

/** A table that a query asks: all of it, or one shard. */
export interface QueryTable {
  /** Address of the table. */
  readonly table: number;
  /** Number of a lower-case product token in the table, -1 if no robots.txt names it. */
  tokenNumber(token: string): number;
  /** Slots of the shards before this one, a multiple of 64. Default 0. */
  readonly firstSlot?: number;
}

const POINTER = 4;

/**
 * An upper bound of the bytes that `encodeShardQueries` writes.
 *
 * @param tables their number
 */
export function shardQueryBytes(settings: QuerySettings, tables: number): number {
  const { shards = 0, addsShard = false } = settings;
  if (shards === 0 || addsShard) return queryBytes(settings);
  return (tables + 1) * roomOf(settings) + POINTER * tables + MARGIN;
}

/**
 * Bytes in which the kernel keeps what it finds at each slot. 0 for a query whose results hold more
 * than one outcome: then every line is looked up as a whole.
 */
export function rememberedBytes(settings: QuerySettings, slots: number): number {
  const { google, explain, ruleEntries = 0, anyHost, addsShard = false } = settings;
  const isPlain = outcomesOf(settings) === 1 && !(google || explain || addsShard);
  return isPlain && ruleEntries === 0 && anyHost === 0 ? REMEMBERED_BYTES * slots : 0;
}

/** Bytes between two queries. */
function roomOf(settings: QuerySettings): number {
  return (queryBytes(settings) + 63) & ~63;
}

/**
 * Encodes a query for a table in one piece or in shards. The first query is the run's; for a table
 * in shards, the addresses of the shards' queries follow it, and then those queries. The address is
 * 0 for a shard that is not in memory.
 *
 * @param tables the table, or all its shards in order; `settings.shards` is their number then
 * @throws RobotsFilterError as `encodeQuery`
 */
export function encodeShardQueries(
  settings: QuerySettings,
  address: number,
  tables: readonly (QueryTable | undefined)[],
): { query: Query; bytes: Uint8Array } {
  const first = tables.find((table) => table !== undefined);
  if (first === undefined) throw new Error('a query needs a table');
  const encode = (at: number, asked: QueryTable): { query: Query; bytes: Uint8Array } =>
    encodeQuery(settings, at, asked.table, (token) => asked.tokenNumber(token));
  const own = encode(address, first);
  const { shards = 0, addsShard = false } = settings;
  if (shards === 0 || addsShard) return own;
  if (tables.length !== shards) throw new Error(`${tables.length} tables for ${shards} shards`);
  const room = roomOf(settings);
  const bytes = new Uint8Array(shardQueryBytes(settings, shards));
  const view = new DataView(bytes.buffer);
  const firstQuery = room + ((POINTER * shards + 63) & ~63);
  bytes.set(own.bytes);
  view.setUint32(QUERY_SHARD_QUERIES, address + room, true);
  tables.forEach((table, shard) => {
    if (table === undefined) return;
    const at = firstQuery + shard * room;
    bytes.set(encode(address + at, table).bytes, at);
    view.setUint32(room + POINTER * shard, address + at, true);
    // The marks and the counters of all shards lie one after another.
    const { firstSlot = 0 } = table;
    const move = (field: number, distance: number): void => {
      const start = view.getUint32(at + field, true);
      if (start !== 0) view.setUint32(at + field, start + distance, true);
    };
    move(QUERY_SEEN, firstSlot / 8);
    move(QUERY_REMEMBERED, REMEMBERED_BYTES * firstSlot);
    move(QUERY_COUNTS, firstSlot * outcomesOf(settings) * HOST_COUNTS_BYTES);
  });
  return { query: own.query, bytes };
}

/** A record of the output, and what it is about. */
export interface Frame {
  /** With its line end. */
  readonly record: Buffer;
  /** Empty if the record has none. */
  readonly url: Buffer;
  /** `verdict << REASON_BITS | reason` of each agent. */
  readonly outcomes: Buffer;
}

/**
 * Reads the frames of an output (kernel/layout.ts, QUERY_FRAMES).
 *
 * @param outcomes of each record
 * @returns the offset of the frame that is not complete
 */
export function readFrames(
  bytes: Buffer,
  outcomes: number,
  onFrame: (frame: Frame) => void,
): number {
  let at = 0;
  while (at + FRAME_OUTCOMES <= bytes.length) {
    const outcomesAt = at + FRAME_OUTCOMES;
    const urlAt = outcomesAt + outcomes;
    const recordAt = urlAt + bytes.readUInt32LE(at + FRAME_URL);
    const end = recordAt + bytes.readUInt32LE(at + FRAME_RECORD);
    if (end > bytes.length) break;
    onFrame({
      record: bytes.subarray(recordAt, end),
      url: bytes.subarray(urlAt, recordAt),
      outcomes: bytes.subarray(outcomesAt, urlAt),
    });
    at = end;
  }
  return at;
}
