import { createHash } from 'node:crypto';
import type { Writable } from 'node:stream';
import { VERDICTS, type Verdict } from '../../src/protocol/verdict.js';
import { LineSink, type Lines } from '../inputs/lines.js';
import { noVerdicts, type VerdictCounts } from './verdict-counts.js';

export type InputFormat = 'text' | 'ndjson';

/** The filter's output for one input. */
export interface Annotated {
  /** One verdict for each record, as its index in VERDICTS. */
  readonly verdicts: Uint8Array;
  readonly counts: VerdictCounts;
  /** SHA-256 of all bytes. */
  readonly hash: string;
}

/**
 * Reads annotated records and checks that each is the input's record at that place.
 *
 * @param lines lines of the input
 * @returns the sink, and a function to call at its end, which throws an Error that names the
 *   first wrong line
 */
export function readAnnotated(
  format: InputFormat,
  lines: Lines,
): { sink: Writable; result: () => Annotated } {
  const verdicts = new Uint8Array(lines.length);
  const counts = noVerdicts();
  const hash = createHash('sha256');
  const verdictIn = format === 'text' ? textVerdict : ndjsonVerdict;
  let seen = 0;
  let fault = '';
  const sink = new LineSink((bytes) => {
    hash.update(bytes);
    hash.update('\n');
    const line = lines.at(seen++);
    const word = line === undefined ? undefined : verdictIn(bytes, line);
    if (word === undefined) {
      fault ||= `line ${seen}: ${bytes.toString()} for the record ${line?.toString() ?? '(none)'}`;
    } else {
      verdicts[seen - 1] = VERDICTS.indexOf(word);
      counts[word]++;
    }
  });
  const result = () => {
    if (fault !== '') throw new Error(fault);
    if (seen !== lines.length) throw new Error(`${seen} lines came out of ${lines.length}`);
    return { verdicts, counts, hash: hash.digest('hex') };
  };
  return { sink, result };
}

/** The verdict in `VERDICT<TAB>URL`; `undefined` for any other line. */
function textVerdict(output: Buffer, record: Buffer): Verdict | undefined {
  const tab = output.indexOf(0x09);
  if (tab < 0 || output.compare(record, 0, record.length, tab + 1) !== 0) return undefined;
  return verdictWord(output.toString('latin1', 0, tab));
}

const MEMBER = Buffer.from('"verdict":"');

/**
 * The verdict in an otherwise unchanged record with an additional member; `undefined` for any other
 * line.
 */
function ndjsonVerdict(output: Buffer, record: Buffer): Verdict | undefined {
  const member = output.lastIndexOf(MEMBER);
  const close = record.lastIndexOf(0x7d);
  if (member < 0) return undefined;
  const kept = Buffer.from(record.toString('latin1', 0, close).trimEnd(), 'latin1');
  if (output.compare(kept, 0, kept.length, 0, kept.length) !== 0) return undefined;
  const start = member + MEMBER.length;
  return verdictWord(output.toString('latin1', start, output.indexOf(0x22, start)));
}

function verdictWord(text: string): Verdict | undefined {
  return VERDICTS.find((word) => word === text);
}
