/** Encodes the questions about every URL of a run as the block of memory that the kernel reads. */

import { type Agent, lowerCaseAscii } from '../protocol/agent.js';
import { formatAuthority, type Scheme } from '../protocol/authority.js';
import { ANY_KEY, EVERYONE, isSignalToken, signalToken, type Use } from '../protocol/uses.js';
import { VERDICTS } from '../protocol/verdict.js';
import {
  MAX_HOST_BYTES,
  SCHEME_FTP,
  SCHEME_HTTP,
  SCHEME_HTTPS,
  SOURCE_LIMIT,
  TEXT_LIMIT,
} from '../table/format.js';
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
  FORMAT_CDX,
  FORMAT_CDXJ,
  FORMAT_CSV,
  FORMAT_JSON,
  FORMAT_LOG,
  FORMAT_NDJSON,
  FORMAT_OFFSETS,
  FORMAT_TEXT,
  FORMAT_TSV,
  FRAGMENT_SIGNALS_OPEN,
  FRAGMENT_STRING_CLOSE,
  FRAGMENT_STRING_OPEN,
  FRAGMENT_USE_REASONS_OPEN,
  FRAGMENT_USE_VERSIONS_OPEN,
  FRAME_OUTCOMES,
  FRAME_RECORD,
  FRAME_URL,
  HOST_COUNTS_BYTES,
  LATEST,
  MARGIN,
  MOST_VALUE_BYTES,
  OUTCOMES,
  OUTPUT_ALLOWED,
  OUTPUT_ANNOTATE,
  OUTPUT_DENIED,
  OUTPUT_MASK,
  OUTPUT_VERDICTS,
  QUERY_ADDS_SHARD,
  QUERY_AGENT_COLUMN,
  QUERY_AGENT_COUNT,
  QUERY_AGENT_FIELD_COUNT,
  QUERY_AGENT_FIELDS,
  QUERY_AGENTS,
  QUERY_ANY_HOST,
  QUERY_AT,
  QUERY_BASE,
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
  QUERY_HOST,
  QUERY_LINE_FACTOR,
  QUERY_LINE_OVERHEAD,
  QUERY_MAX_AGE,
  QUERY_MAX_LINE,
  QUERY_NAMES_AGENT,
  QUERY_NOW,
  QUERY_OUTPUT,
  QUERY_PARQUET,
  QUERY_PORT,
  QUERY_REGISTER,
  QUERY_REMEMBERED,
  QUERY_REQUIRE_GRANT,
  QUERY_ROW_FIELDS,
  QUERY_RULE_DOUBLINGS,
  QUERY_RULE_ENTRIES,
  QUERY_RULES,
  QUERY_SCHEME,
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
  REGISTER_BYTES,
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
import {
  appliedConversion,
  type Conversion,
  checkQuestions,
  fragments,
  inString,
  isRows,
  type LineFormat,
  type OutputMode,
  outcomesOf,
  type QuerySettings,
  questionsOf,
  verdictFragments,
} from './query-settings.js';

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

/** Bytes of `https://`, a host, a colon and a port. */
const MOST_SERVER_BYTES = 8 + MAX_HOST_BYTES + 6;
/** Bytes of a key that no object has: see `wantedBytes` of the kernel. */
const NO_KEY = 0xffff_ffff;
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
  cdx: FORMAT_CDX,
  warc: FORMAT_NDJSON,
  log: FORMAT_LOG,
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
  // Escaping turns each byte of a rule's text into at most six. In a source, too, quotes may be
  // doubled, and a space may become %20.
  const explanation = 256 + 6 * TEXT_LIMIT + 3 * (SOURCE_LIMIT + 256);
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
  // The agent that a record names, the product token of its group, and quotes around them.
  const named = settings.agentField === undefined ? 0 : 3 * MOST_VALUE_BYTES;
  // In logs the server stands before a path, once more in a frame.
  const server = settings.format === 'log' ? (GREATEST_EXPANSION + 2) * MOST_SERVER_BYTES : 0;
  return (
    64 + server + named + verdicts + explained + 3 * strings + shown + frame + padding + 5 * MARGIN
  );
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

/** A scheme as tables have it. */
const SCHEME_BITS: Readonly<Record<Scheme, number>> = {
  http: SCHEME_HTTP,
  https: SCHEME_HTTPS,
  ftp: SCHEME_FTP,
};

/** An upper bound of the bytes that `encodeQuery` writes. */
export function queryBytes(settings: QuerySettings): number {
  let bytes = QUERY_BYTES + 4 * MARGIN + 2 * MOST_SERVER_BYTES + (settings.shards ? CRC_BYTES : 0);
  for (const word of fragments(settings)) bytes += 16 + 3 * word.length;
  const { urlField, timeField = [], agentField = [] } = settings;
  for (const key of [...urlField, ...timeField, ...agentField]) {
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
    const place = block.take(Math.max(keys.length, 1) * 8);
    // Without a path, no key is the wanted one.
    block.word(place + 4, NO_KEY);
    keys.forEach((key, index) => {
      block.put(place + index * 8, encoder.encode(key));
    });
    block.word(count, keys.length);
    block.pointer(fields, place);
  };
  const { timeField = [], timeColumn = 0, timed = timeField.length > 0, ever } = settings;
  putPath(settings.urlField, QUERY_FIELD_COUNT, QUERY_FIELDS);
  putPath(timeField, QUERY_TIME_FIELD_COUNT, QUERY_TIME_FIELDS);
  const { agentField, agentColumn = 0 } = settings;
  putPath(agentField ?? [], QUERY_AGENT_FIELD_COUNT, QUERY_AGENT_FIELDS);
  block.word(QUERY_AGENT_COLUMN, agentColumn);
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
      (settings.requireGrant === true ? QUERY_REQUIRE_GRANT : 0) |
      (agentField !== undefined ? QUERY_NAMES_AGENT : 0),
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
  if (settings.server !== undefined) {
    const { scheme, host, port } = settings.server;
    block.put(QUERY_HOST, encoder.encode(host));
    block.word(QUERY_SCHEME, SCHEME_BITS[scheme]);
    block.word(QUERY_PORT, port ?? 0);
    block.put(QUERY_BASE, encoder.encode(formatAuthority(settings.server)));
  }
  const registerStart = CACHE_LINE * Math.ceil(rulesEnd / CACHE_LINE);
  block.word(QUERY_REGISTER, agentField === undefined ? 0 : registerStart);
  const end = agentField === undefined ? rulesEnd : registerStart + REGISTER_BYTES;
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
    workerBytes: MARGIN * Math.floor(end / MARGIN) + 2 * MARGIN,
    maxLineBytes: settings.maxLineBytes + (isRows(settings.format) ? ROW_MARK_BYTES : 0),
    outcomes: questions.length,
  };
  return { query, bytes: block.bytes };
}

/** Entries of the counters of rules at first. */
function firstRuleEntries(most: number): number {
  return Math.min(most, Math.max(most / 4, FIRST_RULE_ENTRIES));
}

/** Bytes of the counters of hosts in a worker block. */
function countBytes(settings: QuerySettings): number {
  return (settings.countedSlots ?? 0) * outcomesOf(settings) * HOST_COUNTS_BYTES;
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
  const { google, explain, ruleEntries = 0, anyHost, addsShard = false, agentField } = settings;
  const isOne = outcomesOf(settings) === 1 && agentField === undefined;
  const isPlain = isOne && !(google || explain || addsShard);
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
