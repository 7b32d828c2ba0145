import { isUtf8 } from 'node:buffer';
import { isDeepStrictEqual } from 'node:util';
import { bytesOf, charactersOf } from '../../oracle/bytes.js';
import { isBlank, isObject, parseJson, readJsonRecord, SHOWN } from '../../oracle/records.js';
import { exactPattern, readWhatwgUrl } from '../../oracle/url.js';
import { TableBuilder } from '../../src/compile/table-builder.js';
import { REFUSED_RECORD } from '../../src/kernel/layout.js';
import { type Authority, formatAuthority } from '../../src/protocol/authority.js';
import { words } from '../../test/hostile/pieces.js';
import { hostileUrl } from '../../test/hostile/url.js';
import type { Random } from '../../test/random/random.js';
import { checkConversions } from '../conversions.js';
import { agree, Fault, shown } from '../fault.js';
import { type AskedQuery, GuardedKernel } from '../kernel/guarded-kernel.js';
import type { Target } from '../target.js';

const STRINGS = [
  ...words('"url" "a" "request" "\\u0075rl" "verdict" "" "\\n" "]}" "\\\\" "\\"" "__proto__" "{"'),
  ...words(
    '"http://h/no" "http:\\/\\/h\\/x" "https://h/\\u00e9" "http://h/\\ud83d\\ude00" "\\ud83d"',
  ),
  ...words(
    '"http://h/\xc3\xa9" "http://h/\xff" "\\u00" "\\x" "\\u0000" "\\/" "\\b\\f\\r\\t" "\x01"',
  ),
  '"http://h/ "',
];
const SCALARS = words('0 -1 1.5e3 true false null 01 1. .5 -0 1E+9 tru nul -');
const SPACES = ['', '', '', ' ', '\t', '\r', '  ', '\v'];
const STRICT_REASONS = ['no-json', 'no-object'];
const SHORT = 64;

/** The result of `JSON.parse` for a line. */
type Expected =
  | { readonly kind: 'blank' }
  /** Not JSON, or neither an object nor, if allowed, a string. */
  | { readonly kind: 'unsound' }
  | { readonly kind: 'sound'; readonly value: unknown; readonly url: string | undefined };

/**
 * The NDJSON scanner: lines of any bytes. A line that `JSON.parse` reads as an object must come out
 * with the verdict as an additional member, and its URL is the member at the field's path; under
 * `strict` every other line is rejected. Each URL is identified by a rule that denies only that
 * URL.
 */
export const target: Target = {
  name: 'ndjson',
  summary: 'the NDJSON scanner, against JSON.parse',
  maxBytes: 2048,
  seeds: [
    '{"url":"http://h/a","id":1}\n{"id":2,"url":"https://h/b?c"}\n\n["x"]\n"http://h/s"\n',
    '{"url":"http:\\/\\/h\\/\\u0061","url":17}\r\n{"request":{"url":"http://h/x"},"request":{}}',
    '{"\\u0075rl":"http://h/\\ud83d\\ude00\\ud83d"}\n{"a":[{"b":"]}"},[]],"url":"http://h/"}',
    '{"verdict":"x","url":"http://h/a" } \n{ }\n{"url":{"url":"http://h/"}}',
    '{"url":"http://h/a"}}\n{"url":"http://h/a\n{"url":"http://h/\\x"}\n{"a":tru,"url":"http://h/"}',
    `{"url":"HTTP:\\/\\/h?${'<'.repeat(600)}"}`,
    `{"a":"${'x'.repeat(100)}","url":"http://h/${'y'.repeat(100)}"}`,
    `{"a":${'['.repeat(40)}${']'.repeat(40)},"url":"http://h/"}`,
  ],
  dictionary: [...STRINGS, ...SCALARS, ...words('{ } [ ] : , {} [] {"url": "url":" \\u \\" \n')],
  generate(random) {
    const lines = Array.from({ length: random.between(1, 4) }, () =>
      random.chance(0.2) ? value(random, 1) : object(random, 0),
    );
    return lines.join(random.pick(['\n', '\n', '\r\n', '\n\n']));
  },
  piece(random) {
    return random.pick([
      () => string(random),
      () => value(random, 3),
      () => `,${string(random)}:${value(random, 3)}`,
      () => `"url":"${hostileUrl(random, 'rfc9309', [])}"`,
    ])();
  },
  check(build) {
    const kernel = new GuardedKernel(build);
    return (input) => {
      checkField(kernel, input, ['url']);
      checkField(kernel, input, ['request', 'url']);
    };
  },
};

function string(random: Random): string {
  return random.pick(STRINGS);
}

function value(random: Random, depth: number): string {
  if (depth > 3 || random.chance(0.5)) return string(random);
  if (random.chance(0.4)) return random.pick(SCALARS);
  if (random.chance(0.4)) return `[${list(random, () => value(random, depth + 1))}]`;
  return object(random, depth);
}

function object(random: Random, depth: number): string {
  const space = (): string => random.pick(SPACES);
  return `{${list(random, () => `${string(random)}${space()}:${space()}${value(random, depth + 1)}`)}}`;
}

function list(random: Random, item: () => string): string {
  const space = (): string => random.pick(SPACES);
  return Array.from({ length: random.between(0, 3) }, () => space() + item() + space()).join(',');
}

function checkField(kernel: GuardedKernel, input: Uint8Array, urlField: readonly string[]): void {
  const lines = linesOf(input);
  for (const format of ['ndjson', 'json'] as const) {
    // The lines of this format come from the reader of JSON, and such a line states why a record
    // was refused.
    if (format === 'json' && lines.some((line) => line[0] === REFUSED_RECORD)) continue;
    const expected = lines.map((line) => read(line, urlField, format === 'json'));
    kernel.load(tableOf(expected));
    const outputs = annotated(
      kernel,
      kernel.ask({ format, urlField, explain: true }),
      input,
      expected,
    );
    const judged = kernel.ask({});
    const strict = kernel.ask({ format, urlField, strict: true });
    expected.forEach((each, index) => {
      const line = lines[index] as Uint8Array;
      checkStrict(kernel, strict, line, each);
      const output = outputs[index];
      if (each.kind === 'sound' && output !== undefined) {
        checkRecord(kernel, judged, line, each, output, urlField);
      }
    });
    checkPassed(kernel, lines, outputs, urlField, format);
    const records = expected.flatMap((each, index) =>
      each.kind === 'blank' ? [] : [convertedFrom(lines[index] as Uint8Array, each)],
    );
    checkConversions(kernel, { format, urlField }, input, records);
    checkShort(kernel, lines, outputs, urlField, format, input);
  }
}

/** What must come out as the URL of a line that is not blank; `undefined` if it is not known. */
function convertedFrom(line: Uint8Array, each: Expected): string | undefined {
  if (each.kind !== 'sound' || !isUtf8(line)) return undefined;
  if (each.url !== undefined) return each.url;
  // Whether a CR is part of the line depends on the next line.
  return line.at(-1) === 0x0d ? undefined : charactersOf(line).slice(0, SHOWN);
}

/** The lines without their LF; no line follows the last LF. */
function linesOf(input: Uint8Array): Uint8Array[] {
  const lines = charactersOf(input).split('\n');
  if (lines.at(-1) === '') lines.pop();
  return lines.map(bytesOf);
}

function read(line: Uint8Array, urlField: readonly string[], strings: boolean): Expected {
  const text = charactersOf(line);
  if (isBlank(text)) return { kind: 'blank' };
  const record = readJsonRecord(text, urlField, strings);
  return record.kind === 'refused' ? { kind: 'unsound' } : { ...record, kind: 'sound' };
}

/** A table that denies only the URLs of the lines. */
function tableOf(expected: readonly Expected[]): Uint8Array {
  const rules = new Map<string, { authority: Authority; text: string }>();
  for (const each of expected) {
    if (each.kind !== 'sound' || each.url === undefined) continue;
    const url = readWhatwgUrl(bytesOf(each.url));
    if (url === undefined || url.port === 0) continue;
    const authority = { scheme: url.scheme, host: url.host, port: url.port };
    const name = formatAuthority(authority);
    const { text } = rules.get(name) ?? { text: 'user-agent: *\n' };
    rules.set(name, { authority, text: `${text}disallow: ${exactPattern(url.target)}\n` });
  }
  const builder = new TableBuilder();
  for (const [source, { authority, text }] of rules) {
    builder.add(authority, bytesOf(text), { source });
  }
  return builder.build();
}

/** The output of each line that is not blank, without its LF. */
function annotated(
  kernel: GuardedKernel,
  query: AskedQuery,
  input: Uint8Array,
  expected: readonly Expected[],
): (string | undefined)[] {
  const { output, lines } = kernel.run(query, input);
  agree('lines', lines, expected.length);
  const outputs = output.split('\n');
  agree('the end of the output', outputs.pop(), '');
  const records = expected.filter(({ kind }) => kind !== 'blank').length;
  agree('lines of output', outputs.length, records);
  return expected.map(({ kind }) => (kind === 'blank' ? undefined : outputs.shift()));
}

/** Under `strict` exactly the lines that are not JSON, or have no URL, are rejected. */
function checkStrict(
  kernel: GuardedKernel,
  query: AskedQuery,
  line: Uint8Array,
  each: Expected,
): void {
  const { bad, stopped } = kernel.run(query, line);
  agree('a bad record ends a strict run', stopped, bad.length > 0);
  const reason = bad[0]?.[1];
  if (each.kind === 'blank') agree('what strict says of a blank line', reason, undefined);
  else if (each.kind === 'unsound') {
    agree(
      `strict refuses ${shown(charactersOf(line))}`,
      STRICT_REASONS.includes(`${reason}`),
      true,
    );
  } else if (each.url === undefined) agree('strict without a URL', reason, 'no-url');
  else
    agree('what strict says of sound JSON', reason === undefined || reason === 'invalid-url', true);
}

/** A sound record comes out unchanged, with its verdict. */
function checkRecord(
  kernel: GuardedKernel,
  judged: AskedQuery,
  line: Uint8Array,
  each: Extract<Expected, { kind: 'sound' }>,
  output: string,
  urlField: readonly string[],
): void {
  const record = parseJson(output) as Record<string, unknown>;
  const { verdict, reason } =
    each.url === undefined
      ? { verdict: 'invalid', reason: 'no-url' }
      : kernel.judge(judged, bytesOf(each.url));
  agree(`the verdict on ${shown(each.url)}`, record.verdict, verdict);
  agree('the reason', record.reason, reason);
  if (verdict === 'allow') agree('an allow', reason, 'robots-txt');
  const original =
    typeof each.value === 'string'
      ? urlField.reduceRight<unknown>((inner, key) => ({ [key]: inner }), each.value)
      : each.value;
  if (!isDeepStrictEqual(unannotated(record), unannotated(original))) {
    throw new Fault(`${shown(charactersOf(line))} became ${shown(output)}`);
  }
  if (typeof each.value !== 'string') {
    const text = charactersOf(line);
    const kept = text.slice(0, text.lastIndexOf('}'));
    agree('the record is kept to its brace', output.startsWith(kept), true);
  }
}

/** The members of the record, without the members of an annotation, which precede them. */
function unannotated(record: unknown): unknown {
  if (!isObject(record)) return record;
  const { verdict, reason, rule, ...rest } = record;
  return rest;
}

/** The verdict in a line of output, if readable. */
function verdictOf(output: string | undefined): unknown {
  try {
    return output === undefined ? undefined : (parseJson(output) as { verdict: unknown }).verdict;
  } catch {
    return undefined;
  }
}

/** An object that passes is unchanged, and a string becomes an object. */
function checkPassed(
  kernel: GuardedKernel,
  lines: readonly Uint8Array[],
  outputs: readonly (string | undefined)[],
  urlField: readonly string[],
  format: 'ndjson' | 'json',
): void {
  const verdicts = outputs.map(verdictOf);
  const whole = outputs.every(
    (output, index) => (output === undefined) === (verdicts[index] === undefined),
  );
  if (!whole) return;
  const input = bytesOf(lines.map(charactersOf).join('\n'));
  for (const [output, verdict] of [['denied', 'deny'] as const, ['allowed', 'allow'] as const]) {
    const passed = lines.flatMap((line, index) => {
      if (verdicts[index] !== verdict) return [];
      return [`${recordOf(line, urlField, index === lines.length - 1)}\n`];
    });
    const run = kernel.run(kernel.ask({ format, urlField, output }), input);
    agree(`what is ${output}`, run.output, passed.join(''));
  }
}

/** What comes out for a line that passes, without its line feed. */
function recordOf(line: Uint8Array, urlField: readonly string[], isLast: boolean): string {
  const text = charactersOf(line);
  if (!text.trimStart().startsWith('"')) return text;
  // Without a line feed after it, a CR ends no line.
  const end = !isLast && text.endsWith('\r') ? '\r' : '';
  const keys = urlField.map((key) => `{${charactersOf(bytesOf(JSON.stringify(key)))}:`);
  return `${keys.join('')}${text.slice(0, text.length - end.length)}${'}'.repeat(keys.length)}${end}`;
}

/** A line beyond the limit is a bad record; the other lines are unchanged. */
function checkShort(
  kernel: GuardedKernel,
  lines: readonly Uint8Array[],
  outputs: readonly (string | undefined)[],
  urlField: readonly string[],
  format: 'ndjson' | 'json',
  input: Uint8Array,
): void {
  const query = kernel.ask({ format, urlField, explain: true, maxLineBytes: SHORT });
  const short = kernel.run(query, input).output.split('\n');
  lines.forEach((line, index) => {
    const output = outputs[index];
    if (output === undefined) return;
    const now = short.shift() ?? '';
    // The CR of a line end does not count. Without a line feed after it, a CR ends no line.
    const hasEnd = index < lines.length - 1 || input.at(-1) === 0x0a;
    const bytes = hasEnd && line.at(-1) === 0x0d ? line.length - 1 : line.length;
    if (bytes <= SHORT) agree('a short line under a limit', now, output);
    else agree('the reason of a long line', reasonOf(now), 'line-too-long');
  });
}

function reasonOf(output: string): unknown {
  return (parseJson(output) as { reason: unknown }).reason;
}
