import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { rootCertificates } from 'node:tls';
import { RobotsFilterError } from '../errors.js';
import { FetchLock } from '../fetch/lock.js';
import { defaultMaxBytes } from '../fetch/options.js';
import type { FetchAuthority } from '../fetch/result.js';
import { RobotsFetcher } from '../fetch/robots-fetcher.js';
import { Schedule } from '../fetch/schedule.js';
import { Store } from '../fetch/store.js';
import { opening } from '../openings.js';
import type { ReplacementFile } from '../pipeline/replacement-file.js';
import type { Diagnostics } from './diagnostics.js';
import { FetchFaults } from './fetch-faults.js';
import type { FetchOptions } from './fetch-options.js';
import { describeFetchProgress, FetchTally, reportLine } from './fetch-tally.js';
import type { Interruption } from './interruption.js';
import { counted, grouped } from './numbers.js';

/**
 * Milliseconds between two updates: on a terminal, and elsewhere, where each is a line that stays.
 */
const TERMINAL_INTERVAL = 200;
const LOG_INTERVAL = 5000;

const SECOND = 1000;

/** Octets of report lines that are kept until they are written together. */
const REPORT_OCTETS = 64 * 1024;

/** What a run is made of. */
export interface FetchRunParts {
  /** Those of `robots-filter fetch`; where they are missing, the defaults. */
  readonly options: Partial<FetchOptions>;
  readonly directory: string;
  readonly version: string;
  readonly report?: ReplacementFile | undefined;
  readonly diagnostics: Diagnostics;
  readonly interruption: Interruption;
}

/**
 * Fetches authorities into a directory, with what is said of it on standard error.
 *
 * @returns whether all were done; else a signal came
 * @throws RobotsFilterError
 */
export async function fetchAll(
  authorities: Iterable<FetchAuthority>,
  total: number,
  { options, directory, version, report, diagnostics, interruption }: FetchRunParts,
): Promise<boolean> {
  const start = performance.now();
  const tally = new FetchTally();
  const { maxAge, concurrency, retries = 2 } = options;
  const maxBytes = options.maxRobotsBytes ?? defaultMaxBytes(options.profile);
  const fetcher = await openFetcher(options, maxBytes, version);
  const store = await Store.open(directory, {
    unreachableAfter: options.unreachableAfter,
    maxBytes,
    allowPrivate: options.allowPrivate,
    maxAge: maxAge === undefined ? undefined : maxAge * SECOND,
  });
  const lock = await FetchLock.take(directory);
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
    diagnostics.note('finishing what is in flight; once more to stop at once');
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
    lock.release();
  }
  faults.end();
  diagnostics.note(`${directory}: ${tally.summary((performance.now() - start) / 1000)}`);
  if (tally.cut > 0 && options.profile === 'google') {
    diagnostics.note(
      `${counted(tally.cut, 'robots.txt file was', 'robots.txt files were')} cut at ${grouped(maxBytes)} bytes, ` +
        'and the google profile would read all of them: their verdicts may be wrong. Say --max-robots-bytes with more',
    );
  }
  if (tally.done < total) {
    diagnostics.note(
      `stopped with ${counted(total - tally.done, 'authority', 'authorities')} of ${grouped(total)} left. ` +
        'What was fetched is kept; the same command goes on from there',
    );
  }
  return tally.done >= total;
}

async function openFetcher(
  options: Partial<FetchOptions>,
  maxBytes: number,
  version: string,
): Promise<RobotsFetcher> {
  const { ca } = options;
  const milliseconds = (seconds: number | undefined) =>
    seconds === undefined ? undefined : seconds * SECOND;
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
    ca: ca === undefined ? undefined : [...rootCertificates, await readCertificates(ca)],
  });
}

/** Reads certificates, of which TLS would pass over those that are damaged without a word. */
async function readCertificates(path: string): Promise<string> {
  try {
    const text = await opening(path, readFile(path, 'utf8'));
    const certificates = certificatesIn(text);
    if (certificates.length === 0) throw new Error('there are none');
    for (const certificate of certificates) new X509Certificate(certificate);
    return text;
  } catch (cause) {
    throw new RobotsFilterError(
      'input',
      `${path}: the certificates cannot be read (${cause instanceof Error ? cause.message : String(cause)}). Name a PEM file with --ca`,
      { cause },
    );
  }
}

/** The certificates of a PEM file, each from its label on (RFC 7468). */
function certificatesIn(text: string): string[] {
  return text
    .split('-----BEGIN ')
    .slice(1)
    .filter((block) => block.slice(0, block.indexOf('-----')).endsWith('CERTIFICATE'))
    .map((block) => `-----BEGIN ${block}`);
}

function showProgress(
  { quiet, progress }: Partial<FetchOptions>,
  diagnostics: Diagnostics,
  tally: FetchTally,
  total: number,
): { end(): void } | undefined {
  const wanted = progress ?? (diagnostics.isTerminal && quiet !== true);
  if (!wanted) return undefined;
  const begin = performance.now();
  const show = () => {
    const seconds = (performance.now() - begin) / 1000;
    const line = describeFetchProgress(tally, total, tally.done / seconds);
    if (diagnostics.isTerminal) diagnostics.status(line);
    else diagnostics.print(line);
  };
  const timer = setInterval(show, diagnostics.isTerminal ? TERMINAL_INTERVAL : LOG_INTERVAL);
  timer.unref();
  return {
    end() {
      clearInterval(timer);
      if (diagnostics.isTerminal) diagnostics.status('');
      else show();
    },
  };
}

/** Lines on their way to a file, some at a time and in order. */
class ReportLines {
  readonly #file: ReplacementFile | undefined;
  #text = '';
  #writing: Promise<void> = Promise.resolve();

  constructor(file: ReplacementFile | undefined) {
    this.#file = file;
    // Whoever awaits the last write hears of the first that failed.
    this.#writing.catch(() => {});
  }

  add(line: string): void {
    if (this.#file === undefined) return;
    this.#text += line;
    if (this.#text.length >= REPORT_OCTETS) this.#write();
  }

  flush(): Promise<void> {
    this.#write();
    return this.#writing;
  }

  #write(): void {
    const text = this.#text;
    this.#text = '';
    this.#writing = this.#writing.then(() => this.#file?.write(Buffer.from(text)));
    this.#writing.catch(() => {});
  }
}
