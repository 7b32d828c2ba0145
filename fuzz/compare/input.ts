import { isUtf8 } from 'node:buffer';
import { closeSync, openSync, writeSync } from 'node:fs';
import { Oracle, rewritten } from '../../oracle/filter.js';
import type { Random } from '../../test/random/random.js';
import { drawLength, LIMITS, LONGEST, limitAt } from './lengths.js';
import type { Plan } from './plan.js';
import { type DrawnRecord, RecordSource } from './records.js';
import type { RobotsSet } from './robots-set.js';
import type { Totals } from './totals.js';

/** The size of a round's input. */
export interface Amount {
  readonly records: number;
  /** Approximate bytes of records of 1 KiB and more. */
  readonly longBytes: number;
  /**
   * Begins with records at each limit and one byte from each limit: for tests, which must not
   * depend on chance.
   */
  readonly everyLimit?: boolean;
}

/** The place of a record, and its own part of the output. */
export interface Place {
  readonly input: number;
  readonly line: number;
  readonly shape: string;
  readonly start: number;
  readonly end: number;
  /** End of its expected text in the output. */
  readonly outputEnd: number;
}

/** A round's input files and the expected output. */
export interface DrawnInput {
  readonly places: readonly Place[];
  readonly oracle: Oracle;
  /** Bytes of each input. */
  readonly bytes: readonly number[];
}

const FLUSH_BYTES = 1 << 20;
/** Records at the start from which a format can be recognised. */
const PLAIN_START = 20;

/** Writes bytes, given as one character each, in pieces. */
class ByteFile {
  readonly #descriptor: number;
  #parts: string[] = [];
  #waiting = 0;
  bytes = 0;

  constructor(path: string) {
    this.#descriptor = openSync(path, 'w');
  }

  write(text: string): void {
    this.#parts.push(text);
    this.#waiting += text.length;
    this.bytes += text.length;
    if (this.#waiting >= FLUSH_BYTES) this.#flush();
  }

  close(): void {
    this.#flush();
    closeSync(this.#descriptor);
  }

  #flush(): void {
    const bytes = Buffer.from(this.#parts.join(''), 'latin1');
    for (let at = 0; at < bytes.length; ) at += writeSync(this.#descriptor, bytes, at);
    this.#parts = [];
    this.#waiting = 0;
  }
}

/** How long a record is as the program passes it on, and the limit that this length is at. */
function lengthAndLimit(plan: Plan, text: string): [length: number, limit: number | undefined] {
  if (text.length < 1000) return [text.length, undefined];
  const { length } = isJson(plan) ? rewritten(text) : text;
  return [length, limitAt(length, plan.maxLineBytes)];
}

function isJson({ format }: Plan): boolean {
  return format === 'array' || format === 'concatenated';
}

/** The record with a letter in place of its bytes outside ASCII, if they would not be JSON. */
function inEncodingOf<Drawn extends { readonly text: string }>(plan: Plan, record: Drawn): Drawn {
  if (!isJson(plan) || isUtf8(Buffer.from(record.text, 'latin1'))) return record;
  return { ...record, text: record.text.replaceAll(/[\x80-\xff]/g, 'z') };
}

/** Draws the records of a round; writes them and the expected output to files. */
export function writeInput(
  random: Random,
  plan: Plan,
  robots: RobotsSet,
  amount: Amount,
  paths: { readonly inputs: readonly string[]; readonly expected: string },
  totals: Totals,
): DrawnInput {
  const oracle = new Oracle({ ...plan, ...robots });
  const source = new RecordSource(random, { ...plan, hosts: robots.hosts });
  const output = new ByteFile(paths.expected);
  const places: Place[] = [];
  const bytes: number[] = [];
  paths.inputs.forEach((path, input) => {
    const file = new ByteFile(path);
    const share = (whole: number): number => Math.ceil(whole / paths.inputs.length);
    const records = drawRecords(random, plan, source, {
      records: share(amount.records),
      longBytes: share(amount.longBytes),
      everyLimit: amount.everyLimit === true && input === 0,
    });
    const framing = new Framing(random, plan);
    file.write(framing.open);
    let line = 0;
    let next = records.next();
    while (next.done !== true) {
      const record = inEncodingOf(plan, next.value);
      next = records.next();
      const end = framing.after(record.text, next.done === true);
      const ended = end.includes('\n');
      // For the oracle the CR of a line end belongs to the text.
      const text = end === '\r\n' ? `${record.text}\r` : record.text;
      const start = file.bytes;
      file.write(record.text + end);
      const { output: expected, verdict } = oracle.expect(text, ended, input, ++line);
      output.write(expected);
      const place = { input, line, shape: record.shape, start, end: file.bytes };
      places.push({ ...place, outputEnd: output.bytes });
      totals.record(record, verdict, lengthAndLimit(plan, record.text));
    }
    file.write(framing.close);
    bytes.push(file.bytes);
    file.close();
  });
  output.close();
  return { places, oracle, bytes };
}

/**
 * Short records, and among them long records of all lengths, single or several of a kind, with
 * probes around them.
 */
function* drawRecords(
  random: Random,
  plan: Plan,
  source: RecordSource,
  amount: Amount,
): Generator<DrawnRecord, undefined> {
  const isLines = plan.format === 'text' || plan.format === 'ndjson';
  let left = amount.records;
  let longLeft = amount.longBytes;
  for (let count = plan.sniffs ? PLAIN_START : 0; count > 0; count--, left--) yield source.probe();
  if (amount.everyLimit === true) {
    for (const limit of new Set([...LIMITS, plan.maxLineBytes])) {
      for (const length of [limit - 1, limit, limit + 1]) {
        yield source.long().ofLength(length);
        yield source.probe();
        yield source.growing().ofLength(length);
        yield source.probe();
        left -= 4;
      }
    }
  }
  // The number of records between two long ones is about the same, whatever their number.
  const gap =
    2 * Math.max(1, Math.floor((amount.records * 800_000) / Math.max(1, amount.longBytes)));
  while (left > 0) {
    for (let count = Math.min(left, random.between(0, gap)); count > 0; count--, left--) {
      yield isLines && random.chance(0.01) ? source.blank() : source.short();
    }
    if (longLeft <= 0) continue;
    const long = source.long();
    const length = drawLength(random, limitsOf(plan, amount));
    // A single record, several that share a batch, or several that each fill a batch.
    const [parts, times] = random.pick([
      [1, 1],
      [random.between(2, 64), 1],
      [1, random.between(2, 8)],
    ]);
    for (let time = 0; time < times && (time === 0 || longLeft > 0); time++) {
      for (let part = 0; part < parts && left > 0; part++, left--) {
        const record = long.ofLength(Math.ceil(length / parts));
        longLeft -= record.text.length;
        yield isBlankTooLong(record, plan) ? source.probe() : record;
      }
      for (let count = Math.min(left, random.between(1, 40)); count > 0; count--, left--) {
        yield source.probe();
      }
    }
  }
  return undefined;
}

/** Relevant lengths of this round: its batch (src/pipeline/run.ts), and the longest line. */
function limitsOf({ wayIn, threads, maxLineBytes }: Plan, { longBytes }: Amount): number[] {
  const isFile = wayIn.endsWith('file') || wayIn.endsWith('files');
  const batch =
    threads === undefined && longBytes < 20 * FLUSH_BYTES
      ? 128 * 1024
      : isFile || (threads ?? 1) > 8
        ? FLUSH_BYTES
        : 2 * FLUSH_BYTES;
  return maxLineBytes < LONGEST ? [batch, maxLineBytes] : [batch];
}

/** No document says whether blanks beyond the line limit are blank or too long. */
function isBlankTooLong(record: DrawnRecord, plan: Plan): boolean {
  return record.text.length > plan.maxLineBytes && record.text.trim() === '';
}

/** The text between the records of an input. */
class Framing {
  readonly #random: Random;
  readonly #plan: Plan;
  readonly open: string;
  readonly close: string;

  constructor(random: Random, plan: Plan) {
    this.#random = random;
    this.#plan = plan;
    const isArray = plan.format === 'array';
    this.open = isArray ? random.pick(['[', '[\n', ' [ ']) : '';
    this.close = isArray ? random.pick([']', '\n]\n', ' ] ']) : '';
  }

  after(text: string, isLast: boolean): string {
    const random = this.#random;
    const { format, carriageReturns } = this.#plan;
    if (format === 'array') {
      return isLast ? '' : random.pick([',', ',\n', ',\r\n', ' , ', '\n,', ',\t']);
    }
    if (format === 'concatenated') {
      const isClosed = text.trimEnd().endsWith('}') || text.endsWith('"');
      return random.pick(isClosed ? ['', '', '\n', ' ', '\r\n', '\t'] : ['\n', ' ', '\r\n']);
    }
    if (isLast && random.chance(0.5) && text !== '') return '';
    return carriageReturns && random.chance(0.8) ? '\r\n' : '\n';
  }
}
