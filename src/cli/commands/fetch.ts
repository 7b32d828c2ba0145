/** The command `fetch`: reads authorities, asks their servers, reports. */

import { printableJson } from '../../base/control-characters.js';
import { remedyOf } from '../../fetch/answer.js';
import { Authorities } from '../../fetch/authorities.js';
import { trustedCertificates } from '../../fetch/certificates.js';
import { maxBytesRange, RANGES } from '../../fetch/limits.js';
import { lockStore } from '../../fetch/lock.js';
import {
  environmentProxies,
  exemptionVariable,
  type ProxySettings,
  proxyVariables,
  singleProxy,
} from '../../fetch/proxy.js';
import type { FetchAuthority, FetchResult } from '../../fetch/result.js';
import { RobotsFetcher } from '../../fetch/robots-fetcher.js';
import { type FetchDone, Schedule, type Unkept } from '../../fetch/schedule.js';
import { Store } from '../../fetch/store.js';
import { ReplacementFile } from '../../files/replacement.js';
import { DEFAULT_MAX_LINE_BYTES } from '../../pipeline/bad-record.js';
import { openInput } from '../../pipeline/input/open.js';
import { formatAuthority } from '../../protocol/authority.js';
import {
  Diagnostics,
  type Interruption,
  interruptible,
  ProgressLine,
  SUCCESS,
  shellWords,
  usageError,
  writeOutput,
} from '../console.js';
import { type FetchingOptions, type InputOptions, PROXY_WORDS } from '../options.js';
import { formatBytes, formatCount, formatDuration, formatNumber } from '../text.js';
import {
  checkUrlField,
  checkUrlFieldOf,
  columnOption,
  inputPaths,
  noteDamage,
  noteDoubt,
  noteTerminalInput,
} from './inputs.js';
import { refuseCompressedReport, refuseStandardOutputAsReport } from './outputs.js';
import { purposeOf } from './robots-source.js';

export interface FetchOptions extends FetchingOptions, InputOptions {
  readonly robotsDir?: string;
  readonly stale?: boolean;
  readonly history?: boolean;
  readonly maxRedirects?: number;
  readonly maxAge?: number;
  readonly on429?: 'allow' | 'deny';
  readonly connectTimeout?: number;
  readonly headerTimeout?: number;
  readonly bodyTimeout?: number;
  readonly timeout?: number;
  readonly retries?: number;
  readonly report?: string;
  readonly json?: boolean;
}

/**
 * `robots-filter fetch`: fetches the robots.txt of every authority in the input, or of every stale
 * authority in the directory.
 *
 * @returns the exit code
 * @throws RobotsFilterError
 */
export async function fetchCommand(
  files: readonly string[],
  options: FetchOptions,
  version: string,
): Promise<number> {
  const { stale = false } = options;
  const directory = checkedDirectory(files, options);
  const certificates = await trustedCertificates(options.ca);
  const proxies = proxiesOf(options);
  const diagnostics = new Diagnostics(options.quiet ?? false);
  return interruptible(async (interruption) => {
    let report: ReplacementFile | undefined;
    try {
      if (options.report !== undefined) {
        refuseStandardOutputAsReport(options.report);
        refuseCompressedReport(options.report);
        report = await ReplacementFile.create(options.report);
      }
      const authorities = stale
        ? await storedAuthorities(directory)
        : await readAuthorities(files, options, diagnostics, interruption.signal);
      if (interruption.exitCode !== undefined) {
        diagnostics.note('stopped while the input was read; nothing was fetched');
        return interruption.exitCode;
      }
      const total = 'size' in authorities ? authorities.size : authorities.length;
      const parts = { options, directory, certificates, proxies, version, report, diagnostics };
      await fetchAll(authorities, total, { ...parts, interruption });
      // After a signal too, because the report tells what was done.
      await report?.commit(false);
      return interruption.exitCode ?? SUCCESS;
    } finally {
      await report?.discard();
    }
  });
}

/** @throws RobotsFilterError `usage`, with the command to type */
function checkedDirectory(files: readonly string[], options: FetchOptions): string {
  const { robotsDir: directory, stale = false } = options;
  if (directory === undefined) {
    const place = files.find((file) => purposeOf(file) === 'directory');
    const lists = files.filter((file) => file !== place);
    const rest = stale ? '--stale' : lists.length === 0 ? 'urls.txt' : shellWords(lists);
    throw usageError(
      `fetch needs a directory for the files. Type: robots-filter fetch --robots-dir ${shellWords([place ?? 'robots'])} ${rest}`,
    );
  }
  if (stale && files.length > 0) {
    throw usageError(
      `--stale fetches the files in ${directory} again and reads no input. Leave out --stale, or leave out ${files.join(' ')}`,
    );
  }
  const idle = stale ? inputOption(options) : undefined;
  if (idle !== undefined) {
    throw usageError(`${idle} has no effect with --stale, which reads no input. Leave it out`);
  }
  return directory;
}

/** The first option about the input that was given. */
function inputOption({
  input,
  urlField,
  header,
  maxLineBytes,
}: Partial<FetchOptions>): string | undefined {
  if (input !== undefined && input !== 'auto') return '--input';
  if (urlField !== undefined && urlField.join('.') !== 'url') return '--url-field';
  if (header !== undefined) return header ? '--header' : '--no-header';
  const isUsual = maxLineBytes === undefined || maxLineBytes === DEFAULT_MAX_LINE_BYTES;
  return isUsual ? undefined : '--max-line-bytes';
}

/** All authorities in a directory; the schedule skips those that are fresh. */
async function storedAuthorities(directory: string): Promise<FetchAuthority[]> {
  const store = await Store.open(directory);
  const authorities: FetchAuthority[] = [];
  for await (const authority of store.authorities()) authorities.push(authority);
  return authorities;
}

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
  /** The proxies; `undefined` for none. */
  readonly proxies: ProxySettings | undefined;
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
  noteProxies(options, diagnostics);
  const { maxAge, concurrency, retries = RANGES.retries.standard } = options;
  const maxBytes = options.maxRobotsBytes ?? maxBytesRange(options.profile).standard;
  const fetcher = openFetcher(parts, maxBytes);
  const store = await Store.open(directory, {
    unreachableAfter: options.unreachableAfter,
    profile: options.profile,
    maxBytes,
    allowPrivate: options.allowPrivate,
    maxAge: milliseconds(maxAge),
    history: options.history,
  });
  const release = await lockStore(directory);
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
  { options, version, certificates, proxies }: FetchRunParts,
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
    proxies,
  });
}

/**
 * The proxies of `--proxy`; `undefined` for none. Call it before any work, so that a wrong value
 * costs none.
 *
 * @throws RobotsFilterError `usage`
 */
export function proxiesOf({
  proxy = 'none',
  proxyForward = false,
  perAddress,
}: FetchingOptions): ProxySettings | undefined {
  if (proxy === 'none') {
    if (!proxyForward) return undefined;
    throw usageError('--proxy-forward has no effect without a proxy. Add --proxy, or leave it out');
  }
  if (proxy === 'env') return environmentProxies(process.env, proxyForward);
  if (perAddress !== undefined) {
    throw usageError(
      '--per-address has no effect with --proxy and a URL, because the proxy opens all connections to hosts. Leave it out',
    );
  }
  return singleProxy(proxy, proxyForward);
}

/** Tells which proxies of the environment are not used, and what to type. */
function noteProxies({ proxy }: Partial<FetchOptions>, diagnostics: Diagnostics): void {
  const names = proxyVariables(process.env).map(({ name }) => name);
  const isSet = `${names.join(' and ')} ${names.length === 1 ? 'is' : 'are'} set`;
  if (proxy === undefined && names.length > 0) {
    diagnostics.note(
      `${isSet}, but fetch goes through no proxy. To use the proxy, add --proxy env; to leave this line out, --proxy none`,
    );
  }
  if (proxy === 'env' && names.length === 0) {
    diagnostics.note(
      '--proxy env has no effect: HTTP_PROXY, HTTPS_PROXY and ALL_PROXY are not set',
    );
  }
  const [name, ...others] = names;
  const lacking = { HTTP_PROXY: 'https', HTTPS_PROXY: 'http' }[name?.toUpperCase() ?? ''];
  // Without an answer, such hosts are recorded as unreachable, and denied.
  if (proxy === 'env' && others.length === 0 && lacking !== undefined) {
    diagnostics.note(
      `${name} alone is set, so ${lacking} hosts are asked without a proxy. To ask them through one, set ${lacking.toUpperCase()}_PROXY, or ALL_PROXY for both`,
    );
  }
  const exempt = exemptionVariable(process.env);
  if (proxy !== undefined && !PROXY_WORDS.includes(proxy) && exempt !== undefined) {
    diagnostics.note(
      `${exempt.name} is set, but all hosts are asked through ${proxy}. To ask those of ${exempt.name} without it, use --proxy env`,
    );
  }
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

/**
 * Reads the authorities of inputs until a signal comes.
 *
 * @param files none means standard input
 * @throws RobotsFilterError
 */
export async function readAuthorities(
  files: readonly string[],
  options: InputOptions,
  diagnostics: Diagnostics,
  signal: AbortSignal,
): Promise<Authorities> {
  const paths = await inputPaths(files);
  noteTerminalInput(paths, diagnostics);
  checkUrlField(options);
  const { urlField, maxLineBytes } = options;
  const authorities = new Authorities({ urlField, maxLineBytes });
  const interrupted = new Promise<void>((resolve) => {
    signal.addEventListener('abort', () => resolve());
  });
  for (const path of paths) {
    if (signal.aborted) return authorities;
    // A silent pipe must not delay an interrupt.
    const reading = readInput(authorities, path, options, paths.length, diagnostics, signal);
    reading.catch(() => {}); // The race below reports the error, unless a signal came.
    await Promise.race([reading, interrupted]);
    if (signal.aborted) return authorities;
  }
  const { records, invalid } = authorities;
  diagnostics.note(
    `${formatCount(records, 'record')} of ${formatCount(authorities.size, 'authority', 'authorities')}` +
      (invalid === 0 ? '' : `; ${formatCount(invalid, 'record')} without a usable URL`),
  );
  if (records > 0 && invalid === records) {
    diagnostics.note(
      "warning: no record has a URL, so there is nothing to fetch. If they are hosts, add a scheme: sed 's,^,https://,' FILE | robots-filter fetch … If the URL is in a member or column, use --url-field NAME",
    );
  }
  return authorities;
}

async function readInput(
  authorities: Authorities,
  path: string,
  options: InputOptions,
  inputs: number,
  diagnostics: Diagnostics,
  signal: AbortSignal,
): Promise<void> {
  const { input: format, maxLineBytes: maxRecordBytes, header, urlField } = options;
  const column = columnOption(options);
  const input = await openInput(path, {
    format,
    maxRecordBytes,
    header,
    column,
    urlField,
    onDamage: (place) => noteDamage(path, place, diagnostics),
  });
  try {
    noteDoubt(input, diagnostics);
    checkUrlFieldOf(input, options, inputs);
    await authorities.addInput(input, signal);
  } finally {
    await input.close();
  }
}

/** Counts the outcomes of a fetch. */
class FetchTally {
  done = 0;
  successful = 0;
  unavailable = 0;
  unreachable = 0;
  /** Number of authorities that were not requested because their records are fresh. */
  fresh = 0;
  notModified = 0;
  /** Number of bodies that were longer than the limit. */
  truncated = 0;
  /** Bytes of bodies, after content decoding. */
  bytes = 0;
  /** Number of unreachable authorities by reason. */
  readonly errors = new Map<string, number>();
  /** Number of authorities that were not recorded, by reason. */
  readonly unkept = new Map<string, number>();

  add({ state, result, unkept }: FetchDone): void {
    this.done++;
    if (unkept !== undefined) {
      const reason = [unkept.kind, unkept.code].filter((word) => word !== '').join(' ');
      this.unkept.set(reason, (this.unkept.get(reason) ?? 0) + 1);
      return;
    }
    if (result === undefined || state === undefined) {
      this.fresh++;
      return;
    }
    this[state.accessResult]++;
    this.bytes += result.body?.length ?? 0;
    if (result.notModified) this.notModified++;
    if (result.cut) this.truncated++;
    if (state.accessResult === 'unreachable') {
      const kind = result.error?.code ?? `status ${result.status}`;
      this.errors.set(kind, (this.errors.get(kind) ?? 0) + 1);
    }
  }

  /** What lets those be fetched that an option refuses; `undefined` if there are none. */
  get permission(): string | undefined {
    const count = this.errors.get('address-refused') ?? 0;
    if (count === 0) return undefined;
    const authorities = formatCount(count, 'authority is', 'authorities are');
    return `${authorities} not at an address of the public internet. To connect anyway, use --allow-private`;
  }

  /** Formats the line at the end of a run. */
  summary(seconds: number): string {
    const { notModified, truncated, errors, unkept } = this;
    const unrecorded = sumOf(unkept);
    return [
      `${formatCount(this.done, 'authority', 'authorities')}: ${formatNumber(this.successful)} successful` +
        (notModified === 0 ? '' : ` (${formatNumber(notModified)} not modified)`),
      `${formatNumber(this.unavailable)} unavailable`,
      `${formatNumber(this.unreachable)} unreachable${breakdown(errors)}`,
      `${formatNumber(this.fresh)} still fresh`,
      ...(unrecorded === 0 ? [] : [`${formatNumber(unrecorded)} not recorded${breakdown(unkept)}`]),
      `${formatBytes(this.bytes)}${truncated === 0 ? '' : ` (${formatCount(truncated, 'file')} truncated)`}`,
      `${formatDuration(seconds)}`,
    ].join(', ');
  }
}

/** The schema of the JSON of totals. */
const SCHEMA = 'robots-filter/fetch/1';

/** Formats the totals of a run as a line of JSON; docs/fetch.md describes it. */
function totalsLine(
  tally: FetchTally,
  { directory, total, seconds }: { directory: string; total: number; seconds: number },
): string {
  const { done, successful, unavailable, unreachable, fresh, notModified, truncated } = tally;
  return `${printableJson({
    schema: SCHEMA,
    directory,
    complete: done >= total,
    authorities: total,
    successful,
    unavailable,
    unreachable,
    fresh,
    unrecorded: sumOf(tally.unkept),
    left: total - done,
    notModified,
    truncated,
    bytes: tally.bytes,
    errors: Object.fromEntries(tally.errors),
    faults: Object.fromEntries(tally.unkept),
    seconds,
  })}\n`;
}

function sumOf(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((sum, count) => sum + count, 0);
}

/** Formats ` (12 connect-failed, 3 dns-failed)`: the most frequent first. */
function breakdown(counts: ReadonlyMap<string, number>): string {
  if (counts.size === 0) return '';
  const sorted = [...counts].sort(([, a], [, b]) => b - a);
  return ` (${sorted.map(([kind, count]) => `${formatNumber(count)} ${kind}`).join(', ')})`;
}

/**
 * Formats `1,200 of 10,000, 1,000 successful, 150 unavailable, 50 unreachable, 3.20 MB, 410/s, 21.5
 * s left`.
 */
function describeFetchProgress(tally: FetchTally, total: number, rate: number): string {
  const { done, fresh } = tally;
  const left = total - done;
  return [
    `${formatNumber(done)} of ${formatNumber(total)}${fresh === 0 ? '' : ` (${formatNumber(fresh)} fresh)`}`,
    `${formatNumber(tally.successful)} successful`,
    `${formatNumber(tally.unavailable)} unavailable`,
    `${formatNumber(tally.unreachable)} unreachable`,
    formatBytes(tally.bytes),
    `${formatNumber(rate)}/s`,
    rate > 0 ? `${formatDuration(left / rate)} left` : '',
  ]
    .filter((part) => part !== '')
    .join(', ');
}

/** Whether a request was made: faults of this machine may come before the first. */
function wasAsked({ error, chain }: FetchResult): boolean {
  const isOwn = error?.code === 'host-crowded' || error?.code === 'local-fault';
  return !isOwn || chain.length > 1;
}

/** Formats the outcome of one authority as a line of JSON, for `--report`. */
function reportLine(done: FetchDone): string {
  const { authority, state, result, attempts, unkept } = done;
  if (state === undefined || unkept !== undefined) {
    return `${printableJson({
      authority: formatAuthority(authority),
      asked: result !== undefined && wasAsked(result),
      attempts,
      error: unkept && { code: unkept.kind, systemCode: unkept.code, message: unkept.message },
    })}\n`;
  }
  return `${printableJson({
    authority: formatAuthority(authority),
    accessResult: state.accessResult,
    asked: result !== undefined,
    attempts,
    status: state.status,
    error: state.error,
    finalUrl: state.chain.at(-1),
    redirects: Math.max(state.chain.length - 1, 0),
    notModified: result?.notModified,
    bytes: result?.body?.length,
    cut: result?.cut,
    milliseconds: result && result.respondedAt - result.requestedAt,
    freshUntil: new Date(state.freshUntil).toISOString(),
  })}\n`;
}

/** Number of authorities that are named. Further ones are counted. */
const MOST_NAMED = 10;

/** Prints the authorities that a fetch could not record, with the reason and the remedy. */
class FetchFaults {
  readonly #diagnostics: Diagnostics;
  readonly #remedies = new Set<string>();
  #count = 0;

  constructor(diagnostics: Diagnostics) {
    this.#diagnostics = diagnostics;
  }

  add({ authority, unkept }: FetchDone): void {
    if (unkept === undefined) return;
    this.#remedies.add(remedyFor(unkept));
    if (++this.#count > MOST_NAMED) return;
    this.#diagnostics.note(`${formatAuthority(authority)}: not recorded: ${describe(unkept)}`);
  }

  /** Prints the number of authorities and the remedies. */
  end(): void {
    if (this.#count === 0) return;
    const subject = formatCount(this.#count, 'authority was', 'authorities were');
    const remedies = [...this.#remedies].map((remedy) => `${remedy}.`).join(' ');
    // Printed with --quiet too, because no verdict shows a fault of this machine.
    this.#diagnostics.print(
      `robots-filter: ${subject} not recorded; earlier files still count. ${remedies} Then run the same command again`,
    );
  }
}

function describe({ kind, message }: Unkept): string {
  return kind === 'local-fault' ? `fault of this machine: ${message}` : message;
}

function remedyFor({ kind, code }: Unkept): string {
  switch (kind) {
    case 'host-crowded':
      return 'Many hosts redirect to one host; if that host is yours, lower --pause';
    case 'retry-after':
      return 'Wait until these hosts want requests again';
    case 'store':
      return 'Make their files writable, or delete them';
    case 'local-fault':
      return remedyOf(code) ?? "Check this machine's network";
  }
}

/** Number of characters that are collected for one write. */
const BATCH_LENGTH = 64 * 1024;

/** Writes lines to a file in order, many at a time. */
class ReportLines {
  readonly #file: ReplacementFile | undefined;
  #text = '';
  #writing: Promise<void> = Promise.resolve();

  /** @param file undefined drops all lines */
  constructor(file: ReplacementFile | undefined) {
    this.#file = file;
    // `flush` reports the error of the first write that failed.
    this.#writing.catch(() => {});
  }

  add(line: string): void {
    if (this.#file === undefined) return;
    this.#text += line;
    if (this.#text.length >= BATCH_LENGTH) this.#write();
  }

  /** Waits until all lines are written; fails if any write failed. */
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
