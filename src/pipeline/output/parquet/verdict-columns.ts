import type { OutputMode } from '../../../kernel/query-settings.js';
import { type AddedColumn, AddedValues } from '../../../parquet/added-column.js';
import type { Agent } from '../../../protocol/agent.js';
import type { Verdict } from '../../../protocol/verdict.js';

/** The columns of a Parquet output in addition to those of the input. */
export interface VerdictColumnSettings {
  readonly agents: readonly Agent[];
  /** Selects the rows that are written; verdicts are added only for `annotate`. */
  readonly output: OutputMode;
  readonly explain: boolean;
  /** The value of `--verdict-field`. */
  readonly verdictField: string | undefined;
}

/** The run's result for a row and an agent. */
export interface RowVerdict {
  readonly verdict: Verdict;
  readonly reason?: string | undefined;
  readonly rule?: string | undefined;
  readonly line?: number | undefined;
}

const EXPLANATION = [
  { suffix: 'reason', type: 'text', nullable: false },
  { suffix: 'rule', type: 'text', nullable: true },
  { suffix: 'line', type: 'integer', nullable: true },
] as const;

/**
 * The columns that are added: for one agent `verdict`, and with `explain` `reason`, `rule` and
 * `line`; for several agents these names with `_` and the agent. `--verdict-field NAME` makes them
 * `NAME`, `NAME_reason` and so on.
 */
export function addedColumns(settings: VerdictColumnSettings): AddedColumn[] {
  const { agents, output, explain, verdictField } = settings;
  if (output !== 'annotate') return [];
  return agents.flatMap(({ name }) => {
    const ending = agents.length > 1 ? `_${name}` : '';
    const verdict = `${verdictField ?? 'verdict'}${ending}`;
    const columns: AddedColumn[] = [{ name: verdict, type: 'text', nullable: false }];
    if (!explain) return columns;
    const before = verdictField === undefined ? '' : `${verdictField}_`;
    for (const { suffix, type, nullable } of EXPLANATION) {
      columns.push({ name: `${before}${suffix}${ending}`, type, nullable });
    }
    return columns;
  });
}

/** The verdicts of a row group, row by row. */
export class VerdictRows {
  readonly #settings: VerdictColumnSettings;
  readonly added: readonly AddedValues[];
  /** 1 for each row that is written. `undefined` if all are. */
  readonly #kept: number[] | undefined;
  rows = 0;

  constructor(settings: VerdictColumnSettings) {
    this.#settings = settings;
    this.added = addedColumns(settings).map((column) => new AddedValues(column));
    this.#kept = settings.output === 'annotate' ? undefined : [];
  }

  get keep(): Uint8Array | undefined {
    return this.#kept && Uint8Array.from(this.#kept);
  }

  /** Adds a row, with the run's result for each agent. */
  add(verdicts: readonly RowVerdict[]): void {
    this.rows++;
    if (this.#kept !== undefined) {
      const isKept =
        this.#settings.output === 'allowed'
          ? verdicts.every(({ verdict }) => verdict === 'allow')
          : verdicts.some(({ verdict }) => verdict === 'deny');
      this.#kept.push(isKept ? 1 : 0);
      return;
    }
    let column = 0;
    for (const { verdict, reason, rule, line } of verdicts) {
      this.added[column++]?.add(verdict);
      if (!this.#settings.explain) continue;
      this.added[column++]?.add(reason);
      this.added[column++]?.add(rule);
      this.added[column++]?.add(line);
    }
  }
}
