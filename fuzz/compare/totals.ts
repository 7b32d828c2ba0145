import type { Verdict } from '../../src/protocol/verdict.js';
import type { Plan } from './plan.js';
import type { DrawnRecord } from './records.js';

/** The totals of all rounds, so that agreement over nothing is noticed. */
export class Totals {
  records = 0;
  rounds = 0;
  bytes = 0;
  longest = 0;
  /** Records of 1 KiB and more, and records within one byte of a limit. */
  long = 0;
  readonly verdicts = new Map<string, number>();
  readonly shapes = new Map<string, number>();
  readonly limits = new Map<string, number>();
  readonly ways = new Map<string, number>();

  round(plan: Plan, bytes: number): void {
    this.rounds++;
    this.bytes += bytes;
    const { threads, agents, explain, output, profile, layout, format } = plan;
    for (const way of [
      `profile ${profile}`,
      `robots.txt as ${layout}`,
      `${format}${plan.sniffs ? ', sniffed' : ''}`,
      `in: ${plan.wayIn}`,
      `out: ${plan.wayOut}`,
      `threads: ${threads ?? 'default'}`,
      `agents: ${agents.length}`,
      `${output}${explain ? ' --explain' : ''}`,
    ]) {
      increment(this.ways, way);
    }
  }

  record(
    { shape }: DrawnRecord,
    verdict: Verdict | undefined,
    [length, limit]: readonly [length: number, limit: number | undefined],
  ): void {
    this.records++;
    this.longest = Math.max(this.longest, length);
    increment(this.shapes, shape);
    increment(this.verdicts, verdict ?? 'blank');
    if (length >= 1024) this.long++;
    if (limit !== undefined) {
      const distance = length - limit;
      increment(this.limits, `${limit}${distance < 0 ? '' : '+'}${distance}`);
    }
  }

  /** Lines for the reader. */
  describe(): string {
    const list = (counts: ReadonlyMap<string, number>): string =>
      [...counts]
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, count]) => `${name} ${count.toLocaleString('en')}`)
        .join('; ');
    return [
      `${this.records.toLocaleString('en')} records in ${this.rounds} rounds, ${this.bytes.toLocaleString('en')} bytes`,
      `of 1 KiB and more: ${this.long.toLocaleString('en')}; the longest ${this.longest.toLocaleString('en')} bytes`,
      `verdicts: ${list(this.verdicts)}`,
      `lengths at a limit: ${list(this.limits)}`,
      `ways: ${list(this.ways)}`,
      `shapes: ${list(this.shapes)}`,
    ].join('\n');
  }
}

function increment(counts: Map<string, number>, name: string): void {
  counts.set(name, (counts.get(name) ?? 0) + 1);
}
