import { median } from './measure.js';
import type { Result } from './rounds.js';

/** What the cases of a run came to, for the marks to work with. */
export class Figures {
  readonly #results: ReadonlyMap<string, Result>;
  /** Octets of files, by name. */
  readonly #sizes: ReadonlyMap<string, number>;
  /** Which of the times of a case counts. */
  readonly #timeOf: (seconds: readonly number[]) => number;

  constructor(
    results: readonly Result[],
    sizes: ReadonlyMap<string, number>,
    timeOf: (seconds: readonly number[]) => number = median,
  ) {
    this.#results = new Map(results.map((result) => [result.case.id, result]));
    this.#sizes = sizes;
    this.#timeOf = timeOf;
  }

  /**
   * The same, but by the least time of each case: what was disturbed least, of the filter and of
   * what it stands beside.
   */
  byLeast(): Figures {
    return new Figures([...this.#results.values()], this.#sizes, (times) => Math.min(...times));
  }

  result(id: string): Result {
    const result = this.#results.get(id);
    if (result === undefined) throw new RangeError(`no case ${id} was run`);
    return result;
  }

  /** Wall time of a case, in seconds: the median unless they are by the least. */
  seconds(id: string): number {
    return this.#timeOf(this.result(id).seconds);
  }

  rate(id: string): number {
    return this.result(id).case.records / this.seconds(id);
  }

  size(name: string): number {
    const size = this.#sizes.get(name);
    if (size === undefined) throw new RangeError(`no size of ${name}`);
    return size;
  }

  /** Most memory beyond the table of all runs of the filter. */
  peak(): { octets: number; id: string } {
    const filters = [...this.#results.values()].filter(
      (result) => result.case.kind === 'ours' && result.case.id !== 'compile',
    );
    const peaks = filters.map((result) => ({
      octets: result.peakOctets ?? 0,
      id: result.case.id,
    }));
    return peaks.reduce((most, peak) => (peak.octets > most.octets ? peak : most));
  }
}

/** A row of the table of marks: what it takes, what it shows, what it must reach. */
export interface Mark {
  readonly id: string;
  readonly what: string;
  /** Cases to run for it. */
  readonly needs: readonly string[];
  /** Sizes that must be known for it. */
  readonly sizes?: readonly string[];
  /** Whether a smaller or a greater value is the better one. */
  readonly better: 'less' | 'more';
  readonly unit: string;
  readonly atLeast: number;
  readonly aim?: number;
  value(figures: Figures): number;
  /** The figures behind the value, for the reader. */
  shown(figures: Figures): string;
}

/** The marks, each a ratio within one interleaved run where it is about time. */
export const MARKS: readonly Mark[] = [
  ofYardstick('ndjson', 'NDJSON file > /dev/null, annotate', 'ndjson', 0.6, 0.45),
  {
    id: 'today',
    what: 'the same, against readline + JSON.parse + robots-parser',
    needs: ['ndjson', 'robots-parser-ndjson'],
    better: 'more',
    unit: '× as fast',
    atLeast: 80,
    value: (of) => of.rate('ndjson') / of.rate('robots-parser-ndjson'),
    shown: (of) =>
      `${millions(of.rate('ndjson'))} against ${millions(of.rate('robots-parser-ndjson'))}`,
  },
  ofYardstick('text', 'text file > /dev/null, verdicts', 'text', 0.55, 0.4),
  ofYardstick('pipe', 'cat f | … > /dev/null', 'pipe', 0.85, 0.65),
  ofYardstick('pipes', 'cat f | … | cat > /dev/null', 'pipes', 1.15, 0.85),
  ofCase('agents', 'two agents in place of one', 'agents', 'ndjson', 'the time of one', 1.15),
  ofCase('explain', '--explain', 'explain', 'ndjson', 'the time without', 1.6),
  {
    id: 'hosts',
    what: '1 million hosts, text, after loading',
    needs: ['text', 'text-one', 'million-text', 'million-one'],
    better: 'less',
    unit: '× the time with 5,000',
    atLeast: 1.5,
    aim: 1.2,
    value: (of) => loaded(of, 'million-text', 'million-one') / loaded(of, 'text', 'text-one'),
    shown: (of) =>
      `${seconds(loaded(of, 'million-text', 'million-one'))} against ${seconds(loaded(of, 'text', 'text-one'))}`,
  },
  {
    id: 'opening',
    what: 'opening a table of 1 million hosts, damage checked',
    needs: ['million-one', 'small-one', 'million-yardstick'],
    better: 'less',
    unit: '× yardstick of the table',
    atLeast: 0.6,
    aim: 0.4,
    value: (of) => loaded(of, 'million-one', 'small-one') / of.seconds('million-yardstick'),
    shown: (of) =>
      `${seconds(loaded(of, 'million-one', 'small-one'))} beyond a small one, ${seconds(of.seconds('million-yardstick'))}`,
  },
  {
    id: 'compile',
    what: 'compiling 1 million robots.txt from NDJSON',
    needs: ['compile'],
    better: 'more',
    unit: 'files/s',
    atLeast: 40_000,
    aim: 80_000,
    value: (of) => of.rate('compile'),
    shown: (of) => seconds(of.seconds('compile')),
  },
  octetsPerHost('table', 'table of the generated corpus', 'generated'),
  octetsPerHost('million-table', 'table of 1 million hosts', 'million'),
  {
    id: 'real',
    what: 'table of robots-real',
    needs: [],
    sizes: ['real'],
    better: 'less',
    unit: 'MB',
    atLeast: 30,
    aim: 20,
    value: (of) => of.size('real') / 1e6,
    shown: (of) => `${of.size('real').toLocaleString('en')} octets`,
  },
  {
    id: 'memory',
    what: 'peak RSS beyond the table, any input',
    needs: ['ndjson', 'text', 'pipe', 'pipes', 'agents', 'explain', 'million-text'],
    better: 'less',
    unit: 'MB',
    atLeast: 200,
    aim: 120,
    value: (of) => of.peak().octets / 1e6,
    shown: (of) => `most in ${of.peak().id}`,
  },
  {
    id: 'start-up',
    what: 'one URL, small table, wall',
    needs: ['small-one', 'node'],
    better: 'less',
    unit: '× node -e 0',
    atLeast: 3,
    aim: 2,
    value: (of) => of.seconds('small-one') / of.seconds('node'),
    shown: (of) => `${seconds(of.seconds('small-one'))} against ${seconds(of.seconds('node'))}`,
  },
];

function ofYardstick(id: string, what: string, over: string, atLeast: number, aim: number): Mark {
  return { ...ofCase(id, what, over, 'yardstick', 'yardstick of the NDJSON', atLeast), aim };
}

function ofCase(
  id: string,
  what: string,
  over: string,
  under: string,
  name: string,
  atLeast: number,
): Mark {
  return {
    id,
    what,
    needs: [over, under],
    better: 'less',
    unit: `× ${name}`,
    atLeast,
    value: (of) => of.seconds(over) / of.seconds(under),
    shown: (of) =>
      `${seconds(of.seconds(over))} against ${seconds(of.seconds(under))}, ${millions(of.rate(over))}`,
  };
}

function octetsPerHost(id: string, what: string, name: string): Mark {
  return {
    id,
    what,
    needs: [],
    sizes: [name],
    better: 'less',
    unit: 'octets a host',
    atLeast: 700,
    aim: 500,
    value: (of) => of.size(name) / of.size(`${name}-hosts`),
    shown: (of) => `${(of.size(name) / 1e6).toFixed(1)} MB`,
  };
}

/** The time of one case without that of another which does nothing but what comes first. */
function loaded(of: Figures, whole: string, first: string): number {
  return of.seconds(whole) - of.seconds(first);
}

/** How a value stands to its mark. */
export type Standing = 'aim reached' | 'reached' | 'not reached';

export function standingOf(mark: Mark, value: number): Standing {
  const reaches = (limit: number) => (mark.better === 'less' ? value <= limit : value >= limit);
  if (!reaches(mark.atLeast)) return 'not reached';
  return mark.aim !== undefined && reaches(mark.aim) ? 'aim reached' : 'reached';
}

export function seconds(value: number): string {
  return `${value.toFixed(3)} s`;
}

export function millions(rate: number): string {
  return `${(rate / 1e6).toFixed(2)} million/s`;
}

/** A mark with what a run came to. */
export interface MarkRow {
  readonly id: string;
  readonly what: string;
  /** By medians, and by the least time of each case. */
  readonly value: number;
  readonly byLeast: number;
  readonly unit: string;
  readonly better: 'less' | 'more';
  readonly atLeast: number;
  readonly aim: number | undefined;
  /** That of the value by medians. */
  readonly standing: Standing;
  readonly shown: string;
}

export function rowOf(mark: Mark, figures: Figures): MarkRow {
  const { id, what, unit, better, atLeast, aim } = mark;
  const value = mark.value(figures);
  const byLeast = mark.value(figures.byLeast());
  const standing = standingOf(mark, value);
  const shown = mark.shown(figures);
  return { id, what, value, byLeast, unit, better, atLeast, aim, standing, shown };
}
