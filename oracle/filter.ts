/**
 * What the command line must write for an input, byte by byte, and count: the README's promise.
 */

import type { Judgement } from '../src/library/index.js';
import type { Reason, Verdict } from '../src/protocol/verdict.js';
import { bytesOf, charactersOf } from './bytes.js';
import {
  isBlank,
  type Refusal,
  readJsonRecord,
  repaired,
  SHOWN,
  severalUrls,
  VERDICTS,
} from './records.js';

/** The formats of an input; the last two are JSON that is not one record on each line. */
export type Format = 'text' | 'ndjson' | 'array' | 'concatenated';

/** The options of a run that its output depends on. */
export interface Question {
  /** The verdict on a URL, given as bytes, and why. */
  readonly judge: (url: Uint8Array, agent: string) => Judgement;
  /** The source of the robots.txt of a URL's authority; empty if there is none. */
  readonly sourceOf: (url: Uint8Array) => string;
  readonly format: Format;
  readonly agents: readonly string[];
  readonly explain: boolean;
  readonly output: 'annotate' | 'allowed' | 'denied';
  readonly unknown: 'allow' | 'deny' | 'unknown';
  readonly maxLineBytes: number;
  readonly urlField: readonly string[];
}

/** Verdicts and reasons of one agent, counted. */
export interface AgentCounts {
  readonly verdicts: Record<Verdict, number>;
  readonly reasons: Record<Reason, number>;
}

/** The expected output for a record: nothing for a blank line. */
export interface Expectation {
  /** One character for each byte, with the line end; empty if the record is not in the output. */
  readonly output: string;
  /** The first agent's verdict; undefined for a blank line. */
  readonly verdict: Verdict | undefined;
}

/** The kind of a record, before its URL is judged. */
type Reading =
  | { readonly kind: 'blank' }
  | { readonly kind: 'url'; readonly url: Uint8Array }
  | { readonly kind: 'invalid'; readonly reason: Refusal };

/** All reasons, in the order of `--stats=json`. */
const REASONS: readonly Reason[] = [
  ...(['rule', 'no-rule', 'no-group', 'robots-txt', 'unavailable', 'unreachable'] as const),
  ...(['unknown-host', 'invalid-url', 'no-url', 'no-object', 'line-too-long', 'no-json'] as const),
  ...([
    'over-budget',
    'tab-in-line',
    'nested-too-deep',
    'return-in-line',
    'before-first-capture',
    'no-time',
    'no-recent-capture',
  ] as const),
];

const LONG_NAMED = 10;

/**
 * The README's promise for each record: the verdict is that of the library on the URL that
 * `JSON.parse` finds; the bytes of the record are unchanged; and a line that is not a record
 * becomes an invalid record.
 */
export class Oracle {
  readonly #question: Question;
  readonly #isJson: boolean;
  readonly counts: readonly AgentCounts[];
  records = 0;
  passed = 0;
  bad = 0;
  /** The places of the first bad records, as standard error names them. */
  readonly named: { readonly input: number; readonly line: number }[] = [];

  constructor(question: Question) {
    this.#question = question;
    this.#isJson = question.format === 'array' || question.format === 'concatenated';
    this.counts = question.agents.map(() => ({
      verdicts: zeros(VERDICTS),
      reasons: zeros(REASONS),
    }));
  }

  /**
   * @param written the record as written in the input, one character for each byte
   * @param ended whether a newline follows the record
   * @param input number of the input, from 0
   * @param line line number in this input, from 1; for JSON the number of the record
   */
  expect(written: string, ended: boolean, input: number, line: number): Expectation {
    const { output, agents } = this.#question;
    const text = this.#isJson ? rewritten(written) : written;
    const hasReturn = !this.#isJson && ended && text.endsWith('\r');
    const record = hasReturn ? text.slice(0, -1) : text;
    const lineEnd = hasReturn ? '\r\n' : '\n';
    const refusal = this.#refusal(text.trim());
    const reading: Reading =
      refusal === undefined ? this.#read(record) : { kind: 'invalid', reason: refusal };
    if (reading.kind === 'blank') {
      return { output: '', verdict: undefined };
    }
    const judgements = agents.map((agent) => this.#judge(reading, agent));
    this.#count(judgements);
    if (reading.kind === 'invalid' || judgements[0]?.verdict === 'invalid') {
      this.bad++;
      if (this.named.length < LONG_NAMED) this.named.push({ input, line });
    }
    const verdict = judgements[0]?.verdict;
    if (output !== 'annotate') {
      const passes =
        output === 'allowed'
          ? judgements.every(({ verdict }) => verdict === 'allow')
          : judgements.some(({ verdict }) => verdict === 'deny');
      if (passes) this.passed++;
      return { output: passes ? this.#asObject(record) + lineEnd : '', verdict };
    }
    this.passed++;
    const reason = reading.kind === 'invalid' ? reading.reason : undefined;
    const isCut = reason === 'line-too-long';
    if (this.#question.format === 'text') {
      const shown = isCut ? record.slice(0, SHOWN) : record;
      const words = judgements.map(({ verdict }) => verdict).join();
      const columns = this.#question.explain ? this.#columns(judgements, reading) : '';
      return { output: `${words}\t${shown}${columns}${isCut ? '\n' : lineEnd}`, verdict };
    }
    if (isCut || refusal !== undefined || reason === 'no-object' || reason === 'no-json') {
      const unit = numberedBy(this.#question.format);
      const shown = `,"${unit}":${line},"input":"${shownInput(record)}"}`;
      return { output: `{${this.#members(judgements)}${shown}\n`, verdict };
    }
    return { output: this.#annotated(record, judgements) + lineEnd, verdict };
  }

  #refusal(record: string): Refusal | undefined {
    const { format, maxLineBytes } = this.#question;
    return this.#isJson ? refusalOf(record, format === 'array', maxLineBytes) : undefined;
  }

  #read(record: string): Reading {
    const { format, maxLineBytes } = this.#question;
    if (isBlank(record)) return { kind: 'blank' };
    if (record.length > maxLineBytes) return { kind: 'invalid', reason: 'line-too-long' };
    if (format === 'text') {
      const several = severalUrls(record);
      if (several !== undefined) return { kind: 'invalid', reason: several };
      return { kind: 'url', url: bytesOf(record) };
    }
    const read = readJsonRecord(leniently(record), this.#question.urlField, this.#isJson);
    if (read.kind === 'refused') return { kind: 'invalid', reason: read.reason };
    if (read.url === undefined) return { kind: 'invalid', reason: 'no-url' };
    return { kind: 'url', url: bytesOf(read.url) };
  }

  #judge(reading: Exclude<Reading, { kind: 'blank' }>, agent: string): Judgement {
    if (reading.kind === 'invalid') return { verdict: 'invalid', reason: reading.reason };
    const { judge, unknown } = this.#question;
    const judgement = judge(reading.url, agent);
    return judgement.verdict === 'unknown' ? { ...judgement, verdict: unknown } : judgement;
  }

  #count(judgements: readonly Judgement[]): void {
    this.records++;
    judgements.forEach(({ verdict, reason }, index) => {
      const counts = this.counts[index] as AgentCounts;
      counts.verdicts[verdict]++;
      counts.reasons[reason]++;
    });
  }

  /** A string of JSON comes out as the URL of an object; other records are unchanged. */
  #asObject(record: string): string {
    if (!this.#isJson || !record.startsWith('"')) return record;
    const open = this.#question.urlField.map((key) => `{${charactersOf(JSON.stringify(key))}:`);
    return `${open.join('')}${record}${'}'.repeat(open.length)}`;
  }

  /** The record with its verdict as an additional member. */
  #annotated(written: string, judgements: readonly Judgement[]): string {
    const record = this.#asObject(written);
    const members = this.#members(judgements);
    const brace = record.lastIndexOf('}');
    const before = record.slice(0, brace);
    const comma = before.trimEnd().endsWith('{') ? '' : ',';
    return `${before}${comma}${members}${record.slice(brace)}`;
  }

  #members(judgements: readonly Judgement[]): string {
    const { agents, explain } = this.#question;
    const names = agents.map(quoted);
    const byAgent = (values: readonly (string | undefined)[]): string =>
      values
        .map((value, index) => (value === undefined ? undefined : `${names[index]}:${value}`))
        .filter((member) => member !== undefined)
        .join();
    const verdicts = judgements.map(({ verdict }) => `"${verdict}"`);
    const reasons = judgements.map(({ reason }) => `"${reason}"`);
    const rules = judgements.map(ruleObject);
    if (agents.length === 1) {
      const rule = rules[0] === undefined ? '' : `,"rule":${rules[0]}`;
      const why = explain ? `,"reason":${reasons[0]}${rule}` : '';
      return `"verdict":${verdicts[0]}${why}`;
    }
    const members = [`"verdicts":{${byAgent(verdicts)}}`];
    if (explain) {
      members.push(`"reasons":{${byAgent(reasons)}}`);
      if (rules.some((rule) => rule !== undefined)) members.push(`"rules":{${byAgent(rules)}}`);
    }
    return members.join();
  }

  /** Reason, line, rule, agent and source of each agent, each after a tab. */
  #columns(judgements: readonly Judgement[], reading: Reading): string {
    const columns = judgements.flatMap(({ reason, rule }) =>
      rule === undefined
        ? [reason, '', '', '', this.#source(reading, reason)]
        : [
            reason,
            `${rule.line}`,
            escaped(rule.text),
            quoted(rule.agent).slice(1, -1),
            escaped(rule.source ?? ''),
          ],
    );
    return columns.map((column) => `\t${column}`).join('');
  }

  /** The source of a robots.txt without a rule that decided. */
  #source(reading: Reading, reason: Reason): string {
    if (reading.kind !== 'url' || reason === 'unknown-host' || reason === 'invalid-url') return '';
    return escaped(this.#question.sourceOf(reading.url));
  }
}

function zeros<Word extends string>(words: readonly Word[]): Record<Word, number> {
  return Object.fromEntries(words.map((word) => [word, 0])) as Record<Word, number>;
}

/** A text for people: escaped are what JSON escapes, and what acts on a terminal. */
function escaped(text: string): string {
  const units = Array.from({ length: text.length }, (_, at) => text.charAt(at));
  return charactersOf(units.map((unit) => (acts(unit) ? escapeOfJson(unit) : unit)).join(''));
}

/** Quotes and backslashes, controls, controls of the direction of text, separators of lines. */
function acts(unit: string): boolean {
  return /["\\\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/u.test(unit);
}

function escapeOfJson(unit: string): string {
  if (unit === '"' || unit === '\\') return `\\${unit}`;
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

function quoted(text: string): string {
  return charactersOf(JSON.stringify(text).replaceAll('\x7f', '\\u007f'));
}

function ruleObject({ rule }: Judgement): string | undefined {
  if (rule === undefined) return undefined;
  const { line, text, agent, source } = rule;
  const from = source === undefined ? '' : `,"source":"${escaped(source)}"`;
  return `{"line":${line},"text":"${escaped(text)}","agent":${quoted(agent)}${from}}`;
}

/**
 * Lines with a value such as `tru` or `01` are judged (README, "Reasons"). This function replaces
 * the value that records.ts puts first by a valid value.
 */
function leniently(text: string): string {
  const comma = text.indexOf(',');
  if (!text.startsWith('{"a":') || comma < 0) return text;
  return ['tru', '01', '1.', '-', 'nul'].includes(text.slice(5, comma))
    ? `{"a":0${text.slice(comma)}`
    : text;
}

/** The beginning of an invalid record, as the inside of a JSON string. */
function shownInput(record: string): string {
  return Array.from(repaired(record.slice(0, SHOWN)), (byte) =>
    byte < ' ' || byte === '\x7f' || byte === '"' || byte === '\\' ? escapeOfJson(byte) : byte,
  ).join('');
}

/**
 * Maximum number of open brackets and braces in JSON, including those of an array around the
 * records.
 */
const MAX_DEPTH = 1000;

/** Why a JSON record is not examined; its beginning is shown unchanged. */
export function refusalOf(
  record: string,
  isInArray: boolean,
  maxBytes: number,
): Refusal | undefined {
  const deep = record.length <= MAX_DEPTH - 1 ? undefined : beyondDepth(record, isInArray ? 1 : 0);
  // The bound that the record exceeds first counts.
  if (deep !== undefined && deep < maxBytes) return 'nested-too-deep';
  return record.length > maxBytes ? 'line-too-long' : undefined;
}

/** The offset of the first bracket beyond the limit. */
function beyondDepth(record: string, around: number): number | undefined {
  let depth = around;
  let inString = false;
  for (let at = 0; at < record.length; at++) {
    const character = record.charAt(at);
    if (inString) {
      if (character === '\\') at++;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    else if (character === '{' || character === '[') {
      if (++depth > MAX_DEPTH) return at;
    } else if (character === '}' || character === ']') depth--;
  }
  return undefined;
}

/** The numbers by which messages and output name bad records. */
export function numberedBy(format: Format): 'line' | 'record' {
  return format === 'array' || format === 'concatenated' ? 'record' : 'line';
}

/**
 * A JSON value as the program passes it on: without white space outside strings, and strings as
 * `JSON.stringify` writes them.
 */
export function rewritten(json: string): string {
  let result = '';
  for (let at = 0; at < json.length; at++) {
    if (' \t\r\n'.includes(json.charAt(at))) continue;
    if (json.charAt(at) !== '"') {
      result += json.charAt(at);
      continue;
    }
    let end = at + 1;
    while (json.charAt(end) !== '"') end += json.charAt(end) === '\\' ? 2 : 1;
    const string: unknown = JSON.parse(Buffer.from(json.slice(at, end + 1), 'latin1').toString());
    result += Buffer.from(JSON.stringify(string)).toString('latin1');
    at = end;
  }
  return result;
}
