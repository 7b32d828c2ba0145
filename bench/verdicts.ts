import { createHash } from 'node:crypto';
import type { Writable } from 'node:stream';
import { VERDICTS, type Verdict } from '../src/protocol/verdict.js';
import { LineSink, type Lines } from './lines.js';

export type VerdictCounts = Record<Verdict, number>;

export function noVerdicts(): VerdictCounts {
  return { allow: 0, deny: 0, unknown: 0, invalid: 0 };
}

/** What a run of the command line wrote, taken in as it comes. */
export interface Annotated {
  /** One verdict for each record, as its index in VERDICTS. */
  readonly verdicts: Uint8Array;
  readonly counts: VerdictCounts;
  /** SHA-256 of all octets. */
  readonly hash: string;
}

/**
 * Reads annotated records and checks, line by line, that they are those of the input in their
 * order.
 *
 * @param lines the lines of the input, without line feeds
 * @returns the sink, and what to call when it has ended
 * @throws (the latter) Error that names the first line that is not as it must be
 */
export function readAnnotated(
  form: 'text' | 'ndjson',
  lines: Lines,
): { sink: Writable; result: () => Annotated } {
  const verdicts = new Uint8Array(lines.length);
  const counts = noVerdicts();
  const hash = createHash('sha256');
  const wordOf = form === 'text' ? textVerdict : ndjsonVerdict;
  let seen = 0;
  let fault = '';
  const sink = new LineSink((octets) => {
    hash.update(octets);
    hash.update('\n');
    const line = lines.at(seen++);
    const word = line === undefined ? undefined : wordOf(octets, line);
    if (word === undefined) {
      fault ||= `line ${seen}: ${octets.toString()} for the record ${line?.toString() ?? '(none)'}`;
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

/** `VERDICT<TAB>URL`, or `undefined` for anything else. */
function textVerdict(output: Buffer, record: Buffer): Verdict | undefined {
  const tab = output.indexOf(0x09);
  if (tab < 0 || output.compare(record, 0, record.length, tab + 1) !== 0) return undefined;
  return verdictWord(output.toString('latin1', 0, tab));
}

const MEMBER = Buffer.from('"verdict":"');

/** The record's own octets up to its closing brace, with one more member; or `undefined`. */
function ndjsonVerdict(output: Buffer, record: Buffer): Verdict | undefined {
  const member = output.lastIndexOf(MEMBER);
  const close = record.lastIndexOf(0x7d);
  if (member < 0) return undefined;
  const kept = record.toString('latin1', 0, close).trimEnd();
  if (output.compare(Buffer.from(kept, 'latin1'), 0, kept.length, 0, kept.length) !== 0) {
    return undefined;
  }
  const start = member + MEMBER.length;
  return verdictWord(output.toString('latin1', start, output.indexOf(0x22, start)));
}

function verdictWord(text: string): Verdict | undefined {
  return VERDICTS.find((word) => word === text);
}

export function describeCounts(counts: VerdictCounts): string {
  return VERDICTS.map((word) => `${counts[word].toLocaleString('en')} ${word}`).join(', ');
}
