import { maxBytesRange, RANGES } from '../../fetch/limits.js';
import type { FetchAuthority } from '../../fetch/result.js';
import { RobotsFetcher } from '../../fetch/robots-fetcher.js';
import { Schedule } from '../../fetch/schedule/schedule.js';
import { lockStore } from '../../fetch/store/lock.js';
import { Store } from '../../fetch/store/store.js';
import type { ReplacementFile } from '../../files/replacement-file.js';
import type { FetchOptions } from '../options/command-options.js';
import type { Interruption } from '../process/interruption.js';
import { writeOutput } from '../process/standard-streams.js';
import type { Diagnostics } from '../report/diagnostics.js';
import { FetchFaults } from '../report/fetch-faults.js';
import {
  describeFetchProgress,
  FetchTally,
  reportLine,
  totalsLine,
} from '../report/fetch-tally.js';
import { formatCount, formatNumber } from '../report/numbers.js';
import { ProgressLine } from '../report/progress-line.js';
import { ReportLines } from '../report/report-lines.js';

/** Milliseconds between two lines of the log, if there is no terminal. */
const LOG_INTERVAL = 5000;

const MILLISECONDS_PER_SECOND = 1000;

/** The parts of a run. */
export interface FetchRunParts {
  /** Options of `robots-filter fetch`; missing ones have their defaults. */
  readonly options: Partial<FetchOptions>;
  readonly directory: string;
  /** All certificates that are trusted; `undefined` for those of Node. */
  readonly certificates: readonly string[] | undefined;
  readonly version: string;
  readonly report?: ReplacementFile | undefined;
  readonly diagnostics: Diagnostics;
  readonly interruption: Interruption;
}

/**
 * Fetches authorities into a directory, with messages on standard error.
 *
 * @returns false if a signal came before all authorities were done
 * @throws RobotsFilterError
 */
export async function fetchAll(
  authorities: Iterable<FetchAuthority>,
  total: number,
  parts: FetchRunParts,
): Promise<boolean> {
  const { options, directory, report, diagnostics, interruption } = parts;
  const start = performance.now();
  const tally = new FetchTally();
  const { maxAge, concurrency, retries = RANGES.retries.standard } = options;
  const maxBytes = options.maxRobotsBytes ?? maxBytesRange(options.profile).standard;
  const fetcher = openFetcher(parts, maxBytes);
  const store = await Store.open(directory, {
    unreachableAfter: options.unreachableAfter,
    maxBytes,
    allowPrivate: options.allowPrivate,
    maxAge: milliseconds(maxAge),
  });
  const release = lockStore(directory);
  const lines = new ReportLines(report);
  const faults = new FetchFaults(diagnostics);
  const schedule = new Schedule(fetcher, store, {
    concurrency,
    attempts: retries + 1,
    onDone(done) {
      tally.add(done);
      faults.add(done);
      lines.add(reportLine(done));
    },
  });
  const onSignal = () => {
    diagnostics.note('finishing the requests under way; a second signal stops them');
    schedule.stop();
  };
  interruption.signal.addEventListener('abort', onSignal);
  if (interruption.signal.aborted) schedule.stop();
  const progress = showProgress(options, diagnostics, tally, total);
  try {
    await schedule.run(authorities);
    await lines.flush();
  } finally {
    progress?.end();
    interruption.signal.removeEventListener('abort', onSignal);
    await fetcher.close();
    release();
  }
  faults.end();
  const seconds = (performance.now() - start) / MILLISECONDS_PER_SECOND;
  diagnostics.note(`${directory}: ${tally.summary(seconds)}`);
  if (tally.permission !== undefined) diagnostics.note(tally.permission);
  if (options.json === true) writeOutput(totalsLine(tally, { directory, total, seconds }));
  if (tally.truncated > 0 && options.profile === 'google') {
    diagnostics.note(
      `warning: ${formatCount(tally.truncated, 'robots.txt file was', 'robots.txt files were')} truncated at ${formatNumber(maxBytes)} bytes, ` +
        'which the google profile would read whole: their verdicts may be wrong. Use a larger --max-robots-bytes',
    );
  }
  if (tally.done < total) {
    diagnostics.note(
      `stopped with ${formatCount(total - tally.done, 'authority', 'authorities')} of ${formatNumber(total)} left. ` +
        'To continue, run the same command again',
    );
  }
  return tally.done >= total;
}

function milliseconds(seconds: number | undefined): number | undefined {
  return seconds === undefined ? undefined : seconds * MILLISECONDS_PER_SECOND;
}

function openFetcher(
  { options, version, certificates }: FetchRunParts,
  maxBytes: number,
): RobotsFetcher {
  return new RobotsFetcher({
    userAgent: options.userAgent ?? `robots-filter/${version}`,
    profile: options.profile,
    maxBytes,
    maxRedirects: options.maxRedirects,
    on429: options.on429,
    allowPrivate: options.allowPrivate,
    connectTimeout: milliseconds(options.connectTimeout),
    headerTimeout: milliseconds(options.headerTimeout),
    bodyTimeout: milliseconds(options.bodyTimeout),
    deadline: milliseconds(options.timeout),
    pause: milliseconds(options.pause),
    perAddress: options.perAddress,
    ca: certificates === undefined ? undefined : [...certificates],
  });
}

function showProgress(
  { quiet, progress }: Partial<FetchOptions>,
  diagnostics: Diagnostics,
  tally: FetchTally,
  total: number,
): ProgressLine | undefined {
  const wanted = progress ?? (diagnostics.isTerminal && quiet !== true);
  if (!wanted) return undefined;
  const start = performance.now();
  const describe = (): string => {
    const seconds = (performance.now() - start) / MILLISECONDS_PER_SECOND;
    return describeFetchProgress(tally, total, tally.done / seconds);
  };
  return new ProgressLine(diagnostics, describe, LOG_INTERVAL);
}
