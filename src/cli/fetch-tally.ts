import { printableJson } from '../control-characters.js';
import type { FetchDone } from '../fetch/schedule.js';
import { formatAuthority } from '../protocol/authority.js';
import { counted, grouped, lasted, sized } from './numbers.js';

/** Counts what became of authorities. */
export class FetchTally {
  done = 0;
  successful = 0;
  unavailable = 0;
  unreachable = 0;
  /** Those that were fresh, and not asked. */
  fresh = 0;
  notModified = 0;
  /** Bodies of more octets than are kept. */
  cut = 0;
  /** Octets of bodies, decoded. */
  octets = 0;
  /** Why what was unreachable was so. */
  readonly errors = new Map<string, number>();
  /** Why nothing was kept of those of which nothing was. */
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
    this.octets += result.body?.length ?? 0;
    if (result.notModified) this.notModified++;
    if (result.cut) this.cut++;
    if (record.accessResult === 'unreachable') {
      const kind = result.error?.code ?? `status ${result.status}`;
      this.errors.set(kind, (this.errors.get(kind) ?? 0) + 1);
    }
  }

  /** A sentence for the end of a run. */
  summary(seconds: number): string {
    const { notModified, cut, errors, unkept } = this;
    const without = [...unkept.values()].reduce((sum, count) => sum + count, 0);
    return [
      `${counted(this.done, 'authority', 'authorities')}: ${grouped(this.successful)} successful` +
        (notModified === 0 ? '' : ` (${grouped(notModified)} not modified)`),
      `${grouped(this.unavailable)} unavailable`,
      `${grouped(this.unreachable)} unreachable${breakdown(errors)}`,
      `${grouped(this.fresh)} fresh already`,
      ...(without === 0 ? [] : [`${grouped(without)} without a finding${breakdown(unkept)}`]),
      `${sized(this.octets)}${cut === 0 ? '' : ` (${counted(cut, 'file')} cut)`}`,
      `${lasted(seconds)}`,
    ].join(', ');
  }
}

/** ` (12 connect-failed, 3 dns-failed)`: the most frequent first. */
function breakdown(counts: ReadonlyMap<string, number>): string {
  if (counts.size === 0) return '';
  const sorted = [...counts].sort(([, a], [, b]) => b - a);
  return ` (${sorted.map(([kind, count]) => `${grouped(count)} ${kind}`).join(', ')})`;
}

/**
 * `1,200 of 10,000, 1,000 successful, 150 unavailable, 50 unreachable, 3.20 MB, 410/s, 21.5 s
 * left`.
 */
export function describeFetchProgress(tally: FetchTally, total: number, rate: number): string {
  const { done, fresh } = tally;
  const left = total - done;
  return [
    `${grouped(done)} of ${grouped(total)}${fresh === 0 ? '' : ` (${grouped(fresh)} fresh)`}`,
    `${grouped(tally.successful)} successful`,
    `${grouped(tally.unavailable)} unavailable`,
    `${grouped(tally.unreachable)} unreachable`,
    sized(tally.octets),
    `${grouped(rate)}/s`,
    rate > 0 ? `${lasted(left / rate)} left` : '',
  ]
    .filter((part) => part !== '')
    .join(', ');
}

/** What became of an authority, as a line of JSON. */
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
