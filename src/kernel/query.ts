import { SOURCE_LIMIT, TEXT_LIMIT } from '../compile/format.js';
import { RobotsFilterError } from '../errors.js';
import type { Agent } from '../protocol/agent.js';
import { lowerCaseAscii } from '../protocol/product-token.js';
import { REASONS, VERDICTS, type Verdict } from '../protocol/verdict.js';
import {
  AGENT_CHAIN,
  AGENT_CHAIN_COUNT,
  AGENT_NAME,
  AGENT_OCTETS,
  AGENT_VERDICTS,
  BAD_INPUT_LIMIT,
  CHAIN_OCTETS,
  CHAIN_TEXT,
  CHAIN_TOKEN,
  FORMAT_JSON,
  FORMAT_NDJSON,
  FORMAT_TEXT,
  FRAGMENT_AGENT,
  FRAGMENT_ALLOW,
  FRAGMENT_BAD_END,
  FRAGMENT_BAD_INPUT,
  FRAGMENT_BAD_LINE,
  FRAGMENT_DISALLOW,
  FRAGMENT_LINE,
  FRAGMENT_REASON,
  FRAGMENT_REASONS,
  FRAGMENT_REASONS_OPEN,
  FRAGMENT_RULE,
  FRAGMENT_RULES_OPEN,
  FRAGMENT_SOURCE,
  FRAGMENT_STRING_CLOSE,
  FRAGMENT_STRING_OPEN,
  FRAGMENT_TEXT,
  FRAGMENTS,
  MARGIN,
  MAX_AGENTS,
  OUTCOMES,
  OUTPUT_ALLOWED,
  OUTPUT_ANNOTATE,
  OUTPUT_DENIED,
  QUERY_AGENT_COUNT,
  QUERY_AGENTS,
  QUERY_ANY_HOST,
  QUERY_EXPLAIN,
  QUERY_FIELD_COUNT,
  QUERY_FIELDS,
  QUERY_FLAGS,
  QUERY_FORMAT,
  QUERY_FRAGMENTS,
  QUERY_GOOGLE,
  QUERY_KEY,
  QUERY_KEY_BITS,
  QUERY_LINE_OVERHEAD,
  QUERY_MAX_LINE,
  QUERY_OCTETS,
  QUERY_OUTPUT,
  QUERY_SEEN,
  QUERY_STRICT,
  QUERY_TABLE,
  QUERY_UNKNOWN,
  WORKER_TALLY,
} from './layout.js';

/** What a run's lines are: one URL each, one JSON object each, or JSON objects and strings. */
export type RecordFormat = 'text' | 'ndjson' | 'json';
/**
 * What becomes of a record: it gets its verdict, or passes if all agents may, or if some agent may
 * not, fetch its URL.
 */
export type OutputMode = 'annotate' | 'allowed' | 'denied';

/** All that is asked of every URL of a run. */
export interface QuerySettings {
  readonly google: boolean;
  readonly agents: readonly Agent[];
  readonly format: RecordFormat;
  readonly output: OutputMode;
  readonly unknown: Exclude<Verdict, 'invalid'>;
  readonly explain: boolean;
  readonly strict: boolean;
  /** Octets; a longer line is an invalid record. */
  readonly maxLineOctets: number;
  /** Path of the member that holds the URL; one key for each level. */
  readonly urlField: readonly string[];
  /**
   * Name of the member that is added; `undefined` for `verdict`, or `verdicts` with several agents.
   */
  readonly verdictField: string | undefined;
  /** Start of the robots record that counts whatever the URL's host, 0 to look hosts up. */
  readonly anyHost: number;
  /** Slots of the table, to mark those whose hosts are seen; 0 where that is not wanted. */
  readonly seenSlots: number;
}

/** What a query asks for where nothing else is said: records of NDJSON annotated for `*`. */
export const DEFAULT_SETTINGS: QuerySettings = {
  google: false,
  agents: [{ name: '*', chain: ['*'] }],
  format: 'ndjson',
  output: 'annotate',
  unknown: 'unknown',
  explain: false,
  strict: false,
  maxLineOctets: 1 << 24,
  urlField: ['url'],
  verdictField: undefined,
  anyHost: 0,
  seenSlots: 0,
};

/** Where a query's block lies and how much room its runs need; see layout.ts. */
export interface Query {
  readonly address: number;
  /** Octets of output that a line may need beyond its own. */
  readonly lineOverhead: number;
  /** Octets of each thread's worker block. */
  readonly workerOctets: number;
  readonly maxLineOctets: number;
  readonly agents: number;
}

const FORMATS: Record<RecordFormat, number> = {
  text: FORMAT_TEXT,
  ndjson: FORMAT_NDJSON,
  json: FORMAT_JSON,
};
const OUTPUTS: Record<OutputMode, number> = {
  annotate: OUTPUT_ANNOTATE,
  allowed: OUTPUT_ALLOWED,
  denied: OUTPUT_DENIED,
};

/** A key is compared as one vector. */
const KEY_OCTETS = 16;

/** A text as the inside of a JSON string, safe on a terminal. */
function inString(text: string): string {
  return JSON.stringify(text).slice(1, -1).replaceAll('\u007f', '\\u007f');
}

/** What an agent's verdicts add to a record, by verdict: see AGENT_VERDICTS. */
function verdictFragments(settings: QuerySettings, index: number): string[] {
  const { agents, format, verdictField } = settings;
  const isLast = index === agents.length - 1;
  if (format === 'text') return VERDICTS.map((verdict) => `${verdict}${isLast ? '\t' : ','}`);
  const several = agents.length > 1;
  const field = `"${inString(verdictField ?? (several ? 'verdicts' : 'verdict'))}":`;
  if (!several) return VERDICTS.map((verdict) => `${field}"${verdict}"`);
  const name = inString((agents[index] as Agent).name);
  const before = `${index === 0 ? `${field}{` : ','}"${name}":`;
  return VERDICTS.map((verdict) => `${before}"${verdict}"${isLast ? '}' : ''}`);
}

/** The members' other words, in the order of the FRAGMENT_ constants. */
function fragments(settings: QuerySettings): string[] {
  const words = new Array<string>(FRAGMENTS).fill('');
  REASONS.forEach((reason, index) => {
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
  words[FRAGMENT_DISALLOW] = 'Disallow: ';
  words[FRAGMENT_ALLOW] = 'Allow: ';
  words[FRAGMENT_BAD_LINE] = settings.format === 'json' ? ',"record":' : ',"line":';
  words[FRAGMENT_BAD_INPUT] = ',"input":"';
  words[FRAGMENT_BAD_END] = '"}';
  words[FRAGMENT_STRING_OPEN] = settings.urlField.map((key) => `{"${inString(key)}":`).join('');
  words[FRAGMENT_STRING_CLOSE] = '}'.repeat(settings.urlField.length - 1);
  return words;
}

/**
 * Octets of output beyond the line itself, at most, reckoned generously. `verdicts` are those of
 * the longest verdicts of all agents.
 */
function lineOverhead(
  settings: QuerySettings,
  words: readonly string[],
  names: number,
  verdicts: number,
): number {
  const agents = settings.agents.length;
  // Each octet of a rule's text takes six at most when it is escaped.
  const explanation = 256 + 6 * TEXT_LIMIT + SOURCE_LIMIT;
  const explained = settings.explain ? 2 * names + agents * explanation : 0;
  const strings =
    (words[FRAGMENT_STRING_OPEN] ?? '').length + (words[FRAGMENT_STRING_CLOSE] ?? '').length;
  return 64 + verdicts + explained + 3 * strings + 6 * BAD_INPUT_LIMIT + 4 * MARGIN;
}

/** Writes the blocks of a query one behind the other. */
class BlockWriter {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  readonly #address: number;
  #end = QUERY_OCTETS;

  constructor(address: number, octets: number) {
    this.#address = address;
    this.bytes = new Uint8Array(octets);
    this.view = new DataView(this.bytes.buffer);
  }

  /** Sets aside octets; returns their place in the block. */
  take(octets: number): number {
    const place = this.#end;
    this.#end = (place + octets + 7) & ~7;
    return place;
  }

  /** Writes octets somewhere, and their address and number at `pair`. */
  octets(pair: number, octets: Uint8Array): void {
    const place = this.take(octets.length);
    this.bytes.set(octets, place);
    this.pointer(pair, place);
    this.view.setUint32(pair + 4, octets.length, true);
  }

  pointer(at: number, place: number): void {
    this.view.setUint32(at, this.#address + place, true);
  }

  word(at: number, value: number): void {
    this.view.setInt32(at, value, true);
  }
}

/** Octets that a query's block may take: a bound for what `encodeQuery` writes. */
export function queryOctets(settings: QuerySettings): number {
  let octets = QUERY_OCTETS + 4 * MARGIN;
  for (const word of fragments(settings)) octets += 16 + 3 * word.length;
  for (const key of settings.urlField) octets += 32 + 3 * key.length;
  settings.agents.forEach((agent, index) => {
    octets += AGENT_OCTETS + 32 + 6 * agent.name.length;
    for (const word of verdictFragments(settings, index)) octets += 16 + 3 * word.length;
    for (const link of agent.chain) octets += CHAIN_OCTETS + 32 + 6 * link.length;
  });
  return octets;
}

/**
 * The block of a query that is to lie at `address`, for a table at `table`.
 *
 * @param tokenNumber the number of a lower-case product token in the table, -1 if no robots.txt
 *   names it
 * @throws RobotsFilterError `usage` for no agents or more than 256
 */
export function encodeQuery(
  settings: QuerySettings,
  address: number,
  table: number,
  tokenNumber: (token: string) => number,
): { query: Query; bytes: Uint8Array } {
  const { agents } = settings;
  if (agents.length === 0 || agents.length > MAX_AGENTS) {
    throw new RobotsFilterError(
      'usage',
      `1 to ${MAX_AGENTS} agents at a time, not ${agents.length}`,
    );
  }
  const encoder = new TextEncoder();
  const words = fragments(settings);
  const block = new BlockWriter(address, queryOctets(settings));
  let names = 0;
  let verdicts = 0;
  const agentsPlace = block.take(agents.length * AGENT_OCTETS);
  agents.forEach((agent, index) => {
    const at = agentsPlace + index * AGENT_OCTETS;
    const name = encoder.encode(inString(agent.name));
    names += name.length + 4;
    block.octets(at + AGENT_NAME, name);
    const ownVerdicts = verdictFragments(settings, index).map((word) => encoder.encode(word));
    ownVerdicts.forEach((word, verdict) => {
      block.octets(at + AGENT_VERDICTS + 8 * verdict, word);
    });
    verdicts += Math.max(...ownVerdicts.map(({ length }) => length));
    block.word(at + AGENT_CHAIN_COUNT, agent.chain.length);
    const chainPlace = block.take(agent.chain.length * CHAIN_OCTETS);
    block.pointer(at + AGENT_CHAIN, chainPlace);
    agent.chain.forEach((link, order) => {
      const linkAt = chainPlace + order * CHAIN_OCTETS;
      // `*` is no token of the google profile's agents: it names nobody, and all fall back to it.
      const number = settings.google && link === '*' ? -1 : tokenNumber(lowerCaseAscii(link));
      block.word(linkAt + CHAIN_TOKEN, number);
      block.octets(linkAt + CHAIN_TEXT, encoder.encode(inString(link)));
      names += 6 * link.length;
    });
  });
  words.forEach((word, index) => {
    block.octets(QUERY_FRAGMENTS + index * 8, encoder.encode(word));
  });
  const fieldsPlace = block.take(settings.urlField.length * 8);
  settings.urlField.forEach((key, index) => {
    block.octets(fieldsPlace + index * 8, encoder.encode(key));
  });
  const overhead = lineOverhead(settings, words, names, verdicts);
  const tallyEnd = WORKER_TALLY + agents.length * OUTCOMES * 8;
  block.word(QUERY_TABLE, table);
  block.word(
    QUERY_FLAGS,
    (settings.google ? QUERY_GOOGLE : 0) |
      (settings.explain ? QUERY_EXPLAIN : 0) |
      (settings.strict ? QUERY_STRICT : 0),
  );
  block.word(QUERY_FORMAT, FORMATS[settings.format]);
  block.word(QUERY_OUTPUT, OUTPUTS[settings.output]);
  block.word(QUERY_UNKNOWN, VERDICTS.indexOf(settings.unknown));
  block.word(QUERY_MAX_LINE, settings.maxLineOctets);
  block.word(QUERY_AGENT_COUNT, agents.length);
  block.pointer(QUERY_AGENTS, agentsPlace);
  block.word(QUERY_FIELD_COUNT, settings.urlField.length);
  block.pointer(QUERY_FIELDS, fieldsPlace);
  const [key] = settings.urlField.map((segment) => encoder.encode(`"${segment}":`));
  if (settings.urlField.length === 1 && key !== undefined && key.length <= KEY_OCTETS) {
    block.word(QUERY_KEY_BITS, (1 << key.length) - 1);
    block.bytes.set(key, QUERY_KEY);
  }
  block.word(QUERY_LINE_OVERHEAD, overhead);
  block.word(QUERY_SEEN, settings.seenSlots === 0 ? 0 : tallyEnd);
  block.word(QUERY_ANY_HOST, settings.anyHost);
  const query: Query = {
    address,
    lineOverhead: overhead,
    workerOctets: (tallyEnd + Math.ceil(settings.seenSlots / 8) + 2 * MARGIN) & ~(MARGIN - 1),
    maxLineOctets: settings.maxLineOctets,
    agents: agents.length,
  };
  return { query, bytes: block.bytes };
}
