import { BAD_INPUT_LIMIT } from '../../src/kernel/layout.js';

/** Bytes of output that the fake kernel may need for a line beyond its own. */
export const FAKE_OVERHEAD = 1200;

/** A bad record as the fake kernel reports it. */
export interface FakeBadRecord {
  readonly line: number;
  readonly reason: 'no-object' | 'line-too-long';
}

/**
 * The output of the fake kernel for an input (as Latin-1): `ok LINE` for most lines, much more for
 * lines that begin with `+`, a record with its line number for lines that begin with `!` or are too
 * long, nothing for empty lines.
 */
export function fakeJudge(
  input: string,
  maxLineBytes: number,
): { output: string; bad: FakeBadRecord[]; records: number } {
  const lines = input.split('\n');
  if (lines.at(-1) === '') lines.pop();
  const output: string[] = [];
  const bad: FakeBadRecord[] = [];
  let records = 0;
  lines.forEach((whole, index) => {
    const line = whole.endsWith('\r') ? whole.slice(0, -1) : whole;
    if (line === '') return;
    records++;
    const overlong = line.length > maxLineBytes;
    if (overlong || line.startsWith('!')) {
      bad.push({ line: index + 1, reason: overlong ? 'line-too-long' : 'no-object' });
      const kind = overlong ? 'long' : 'line';
      output.push(`bad ${kind} ${index + 1} ${line.slice(0, BAD_INPUT_LIMIT)}\n`);
    } else if (line.startsWith('+')) {
      output.push(`${line}${'.'.repeat(FAKE_OVERHEAD - 8)}\n`);
    } else {
      output.push(`ok ${line}\n`);
    }
  });
  return { output: output.join(''), bad, records };
}
