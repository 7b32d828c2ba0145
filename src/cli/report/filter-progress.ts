import type { Diagnostics } from './diagnostics.js';
import { formatBytes, formatNumber, formatPercent, formatTimeLeft } from './numbers.js';
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
/** Number of seconds over which rates are averaged. */
const RATE_SECONDS = 3;

/** Rates per second. */
interface Rates {
  readonly records: number;
  readonly bytes: number;
}

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
  const recent = new RecentProgress();
  const describe = (): string => {
    const now = progress();
    return describeFilterProgress(now, recent.rates(now), totalBytes);
  };
  return new ProgressLine(diagnostics, describe, LOG_INTERVAL);
}

/** Measures the rates of the last few seconds. */
class RecentProgress {
  readonly #samples = [{ time: performance.now(), records: 0, bytes: 0 }];

  /** Returns the rates, given the progress so far. */
  rates({ records, bytes }: FilterProgress): Rates {
    const samples = this.#samples;
    const now = performance.now();
    samples.push({ time: now, records, bytes });
    while (samples.length > 2 && now - (samples[1]?.time ?? now) > RATE_SECONDS * 1000) {
      samples.shift();
    }
    const [first] = samples;
    if (first === undefined || now <= first.time) return { records: 0, bytes: 0 };
    const seconds = (now - first.time) / 1000;
    return {
      records: (records - first.records) / seconds,
      bytes: (bytes - first.bytes) / seconds,
    };
  }
}

/** Formats `45.2 % of 1.10 GB, 3 s left, 1,200,000 records, 6,300,000/s, 73.4 % allowed`. */
export function describeFilterProgress(
  { records, allowed, bytes }: FilterProgress,
  rates: Rates,
  totalBytes: number | undefined,
): string {
  const parts = [
    `${formatNumber(records)} records`,
    `${formatNumber(rates.records)}/s`,
    `${formatPercent(allowed, records)} allowed`,
  ];
  if (totalBytes === undefined) return [formatBytes(bytes), ...parts].join(', ');
  const left = Math.max(0, totalBytes - bytes);
  const read = `${formatPercent(totalBytes - left, totalBytes)} of ${formatBytes(totalBytes)}`;
  const time = left > 0 && rates.bytes > 0 ? [formatTimeLeft(left / rates.bytes)] : [];
  return [read, ...time, ...parts].join(', ');
}
