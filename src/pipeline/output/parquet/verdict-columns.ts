import type { OutputMode } from '../../../kernel/query-settings.js';
import { type AddedColumn, AddedValues } from '../../../parquet/added-column.js';
import type { Agent } from '../../../protocol/agent.js';
import type { Verdict } from '../../../protocol/verdict.js';
import { columnValue, PREFERENCES_MEMBER } from '../preference-columns.js';
import type { RecordPreferences, SaidPreferences } from '../record-preferences.js';

/** The columns of a Parquet output in addition to those of the input. */
export interface VerdictColumnSettings {
  readonly agents: readonly Agent[];
  /** Selects the rows that are written; verdicts are added only for `annotate`. */
  readonly output: OutputMode;
  readonly explain: boolean;
  /** The value of `--verdict-field`. */
  readonly verdictField: string | undefined;
  /** The preferences that are added; `undefined` for none. */
  readonly preferences?: RecordPreferences | undefined;
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
const PREFERENCES = { suffix: PREFERENCES_MEMBER, type: 'text', nullable: true } as const;

/**
 * The columns that are added: for one agent `verdict`, with `explain` `reason`, `rule` and `line`,
 * and with `preferences` a column of that name. For several agents `_` and the agent follow.
 * `--verdict-field NAME` makes them `NAME`, `NAME_reason` and so on.
 */
export function addedColumns(settings: VerdictColumnSettings): AddedColumn[] {
  const { agents, output, explain, verdictField, preferences } = settings;
  if (output !== 'annotate') return [];
  return agents.flatMap(({ name }) => {
    const ending = agents.length > 1 ? `_${name}` : '';
    const verdict = `${verdictField ?? 'verdict'}${ending}`;
    const columns: AddedColumn[] = [{ name: verdict, type: 'text', nullable: false }];
    const before = verdictField === undefined ? '' : `${verdictField}_`;
    const further = [
      ...(explain ? EXPLANATION : []),
      ...(preferences === undefined ? [] : [PREFERENCES]),
    ];
    for (const { suffix, type, nullable } of further) {
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

  /** Adds a row, with the run's result and the preferences for each agent. */
  add(verdicts: readonly RowVerdict[], said: readonly (SaidPreferences | undefined)[]): void {
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
    const { explain, preferences } = this.#settings;
    for (const [agent, { verdict, reason, rule, line }] of verdicts.entries()) {
      this.added[column++]?.add(verdict);
      if (explain) {
        this.added[column++]?.add(reason);
        this.added[column++]?.add(rule);
        this.added[column++]?.add(line);
      }
      if (preferences !== undefined) this.added[column++]?.add(columnValue(said[agent]));
    }
  }
}
