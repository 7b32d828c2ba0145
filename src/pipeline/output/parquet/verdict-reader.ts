import { LF } from '../../../ascii.js';
import type { Agent } from '../../../protocol/agent.js';
import type { Verdict } from '../../../protocol/verdict.js';
import type { RowVerdict } from './verdict-columns.js';

/** From the last letter of a verdict to the line feed: `"}` and the line feed itself. */
const TAIL_BYTES = 3;

/** The verdicts by their last letters, which differ. */
const BY_LAST_LETTER: ReadonlyMap<number, readonly RowVerdict[]> = new Map(
  (['allow', 'deny', 'unknown', 'invalid'] satisfies Verdict[]).map((verdict) => [
    verdict.charCodeAt(verdict.length - 1),
    [{ verdict }],
  ]),
);

/** What a run writes about a row, as JSON. */
interface AnnotatedRow {
  readonly [member: string]: unknown;
  readonly reason?: string;
  readonly reasons?: Readonly<Record<string, string>>;
  readonly rule?: RuleMember;
  readonly rules?: Readonly<Record<string, RuleMember>>;
}

interface RuleMember {
  readonly line: number;
  readonly text: string;
}

/** How the run was told to write its records. */
export interface VerdictReaderOptions {
  readonly agents: readonly Agent[];
  readonly explain: boolean;
  /** The member with the verdicts. The member with the URL is called otherwise. */
  readonly verdictField: string;
}

/** Reads verdicts off the records that a run writes, a line each. */
export class VerdictReader {
  readonly #options: VerdictReaderOptions;
  /** How a record about a line that was not read begins. Its verdict is not at its end. */
  readonly #refused: Buffer;
  readonly #isPlain: boolean;
  readonly #onRow: (verdicts: readonly RowVerdict[]) => void;
  /** The beginning of a line. */
  #held: Buffer = Buffer.alloc(0);

  constructor(options: VerdictReaderOptions, onRow: (verdicts: readonly RowVerdict[]) => void) {
    this.#options = options;
    this.#refused = Buffer.from(`{${JSON.stringify(options.verdictField)}:`);
    this.#isPlain = options.agents.length === 1 && !options.explain;
    this.#onRow = onRow;
  }

  /** Reads the lines that are complete. */
  read(chunk: Buffer): void {
    const bytes = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    let start = 0;
    for (let end = bytes.indexOf(LF); end >= 0; end = bytes.indexOf(LF, start)) {
      this.#onRow(this.#row(bytes, start, end));
      start = end + 1;
    }
    this.#held = Buffer.from(bytes.subarray(start));
  }

  #row(bytes: Buffer, start: number, end: number): readonly RowVerdict[] {
    if (this.#isPlain && !this.#isRefused(bytes, start)) {
      const verdict = BY_LAST_LETTER.get(bytes[end - TAIL_BYTES] ?? 0);
      if (verdict !== undefined) return verdict;
    }
    return this.#parse(bytes.toString('utf8', start, end));
  }

  #isRefused(bytes: Buffer, start: number): boolean {
    const { length } = this.#refused;
    return bytes.compare(this.#refused, 0, length, start, start + length) === 0;
  }

  #parse(line: string): RowVerdict[] {
    const { agents, explain, verdictField } = this.#options;
    const row = JSON.parse(line) as AnnotatedRow;
    const isOne = agents.length === 1;
    return agents.map(({ name }) => {
      const told = row[verdictField] as Verdict | Readonly<Record<string, Verdict>>;
      const verdict = typeof told === 'string' ? told : (told[name] as Verdict);
      if (!explain) return { verdict };
      const rule = isOne ? row.rule : row.rules?.[name];
      const reason = isOne ? row.reason : row.reasons?.[name];
      return { verdict, reason, rule: rule?.text, line: rule?.line };
    });
  }
}
