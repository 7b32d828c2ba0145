import type { Diagnostics } from './diagnostics.js';
import { formatBytes, formatNumber, formatPercent } from './numbers.js';
import { ProgressLine } from './progress-line.js';

/** The progress of a run of the filter. */
export interface FilterProgress {
  readonly records: number;
  /** Records that the first agent may fetch. */
  readonly allowed: number;
  /** Number of bytes of input that were read. */
  readonly bytes: number;
}

/** Milliseconds between two lines of a log. */
const LOG_INTERVAL = 2000;
/** Number of seconds over which the rate is averaged. */
const RATE_SECONDS = 3;

/**
 * Shows the progress of a run until `end` is called.
 *
 * @param totalBytes bytes of all inputs; undefined if unknown
 */
export function showFilterProgress(
  diagnostics: Diagnostics,
  progress: () => FilterProgress,
  totalBytes: number | undefined,
): ProgressLine {
  const rate = new RecordRate();
  const describe = (): string => {
    const now = progress();
    return describeFilterProgress(now, rate.after(now.records), totalBytes);
  };
  return new ProgressLine(diagnostics, describe, LOG_INTERVAL);
}

/** Records per second over the last few seconds. */
class RecordRate {
  readonly #samples = [{ time: performance.now(), records: 0 }];

  /** Returns the rate, given the number of records judged so far. */
  after(records: number): number {
    const samples = this.#samples;
    const now = performance.now();
    samples.push({ time: now, records });
    while (samples.length > 2 && now - (samples[1]?.time ?? now) > RATE_SECONDS * 1000) {
      samples.shift();
    }
    const [first] = samples;
    if (first === undefined || now <= first.time) return 0;
    return (1000 * (records - first.records)) / (now - first.time);
  }
}

/** Formats `1,200,000 records, 6,300,000/s, 45.2 % of 1.10 GB, 73.4 % allowed`. */
export function describeFilterProgress(
  { records, allowed, bytes }: FilterProgress,
  rate: number,
  totalBytes: number | undefined,
): string {
  const input =
    totalBytes === undefined
      ? formatBytes(bytes)
      : `${formatPercent(Math.min(bytes, totalBytes), totalBytes)} of ${formatBytes(totalBytes)}`;
  return `${formatNumber(records)} records, ${formatNumber(rate)}/s, ${input}, ${formatPercent(allowed, records)} allowed`;
}
