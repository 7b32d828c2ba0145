import type { Diagnostics } from './diagnostics.js';
import { grouped, share, sized } from './numbers.js';

/** How far a run has got. */
export interface ProgressState {
  readonly records: number;
  /** Of them, those that the first agent may fetch. */
  readonly allowed: number;
  /** Octets of input read. */
  readonly octets: number;
}

/**
 * Milliseconds between two updates: on a terminal, and elsewhere, where each is a line that stays.
 */
const TERMINAL_INTERVAL = 200;
const LOG_INTERVAL = 2000;
/** The rate is that of the last so many seconds. */
const RATE_SECONDS = 3;

/** The line of progress on standard error. */
export class Progress {
  readonly #diagnostics: Diagnostics;
  readonly #state: () => ProgressState;
  readonly #totalOctets: number | undefined;
  readonly #timer: NodeJS.Timeout;
  readonly #samples: { time: number; records: number }[] = [];

  /** @param totalOctets what all inputs have together, where that is known */
  constructor(
    diagnostics: Diagnostics,
    state: () => ProgressState,
    totalOctets: number | undefined,
  ) {
    this.#diagnostics = diagnostics;
    this.#state = state;
    this.#totalOctets = totalOctets;
    this.#samples.push({ time: performance.now(), records: 0 });
    const interval = diagnostics.isTerminal ? TERMINAL_INTERVAL : LOG_INTERVAL;
    this.#timer = setInterval(() => this.#show(), interval);
    this.#timer.unref();
  }

  /** Takes the line away. */
  end(): void {
    clearInterval(this.#timer);
    if (this.#diagnostics.isTerminal) this.#diagnostics.status('');
    else this.#show();
  }

  #show(): void {
    const state = this.#state();
    const line = describeProgress(state, this.#rate(state.records), this.#totalOctets);
    if (this.#diagnostics.isTerminal) this.#diagnostics.status(line);
    else this.#diagnostics.print(line);
  }

  #rate(records: number): number {
    const samples = this.#samples;
    const now = performance.now();
    samples.push({ time: now, records });
    while (samples.length > 2 && now - (samples[1]?.time ?? now) > RATE_SECONDS * 1000) {
      samples.shift();
    }
    const first = samples[0];
    if (first === undefined || now <= first.time) return 0;
    return (1000 * (records - first.records)) / (now - first.time);
  }
}

/** `1,200,000 records, 6,300,000/s, 45.2 % of 1.10 GB, 73.4 % allowed`. */
export function describeProgress(
  { records, allowed, octets }: ProgressState,
  rate: number,
  totalOctets: number | undefined,
): string {
  const input =
    totalOctets === undefined
      ? sized(octets)
      : `${share(Math.min(octets, totalOctets), totalOctets)} of ${sized(totalOctets)}`;
  return `${grouped(records)} records, ${grouped(rate)}/s, ${input}, ${share(allowed, records)} allowed`;
}
