import { printableJson } from '../../control-characters.js';
import type { FetchDone } from '../../fetch/schedule/schedule.js';
import { formatAuthority } from '../../protocol/authority.js';
import { formatBytes, formatCount, formatDuration, formatNumber } from './numbers.js';

/** Counts the outcomes of a fetch. */
export class FetchTally {
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

  add({ record, result, unkept }: FetchDone): void {
    this.done++;
    if (unkept !== undefined) {
      const reason = [unkept.kind, unkept.code].filter((word) => word !== '').join(' ');
      this.unkept.set(reason, (this.unkept.get(reason) ?? 0) + 1);
      return;
    }
    if (result === undefined || record === undefined) {
      this.fresh++;
      return;
    }
    this[record.accessResult]++;
    this.bytes += result.body?.length ?? 0;
    if (result.notModified) this.notModified++;
    if (result.cut) this.truncated++;
    if (record.accessResult === 'unreachable') {
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
export function totalsLine(
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
export function describeFetchProgress(tally: FetchTally, total: number, rate: number): string {
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

/** Formats the outcome of one authority as a line of JSON, for `--report`. */
export function reportLine(done: FetchDone): string {
  const { authority, record, result, attempts, unkept } = done;
  if (record === undefined || unkept !== undefined) {
    return `${printableJson({
      authority: formatAuthority(authority),
      asked: result !== undefined && unkept?.kind === 'store',
      attempts,
      error: unkept && { code: unkept.kind, systemCode: unkept.code, message: unkept.message },
    })}\n`;
  }
  return `${printableJson({
    authority: formatAuthority(authority),
    accessResult: record.accessResult,
    asked: result !== undefined,
    attempts,
    status: record.status,
    error: record.error,
    finalUrl: record.chain.at(-1),
    redirects: Math.max(record.chain.length - 1, 0),
    notModified: result?.notModified,
    bytes: result?.body?.length,
    cut: result?.cut,
    milliseconds: result && result.respondedAt - result.requestedAt,
    freshUntil: new Date(record.freshUntil).toISOString(),
  })}\n`;
}
