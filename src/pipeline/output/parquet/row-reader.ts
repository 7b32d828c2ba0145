import { readFrames } from '../../../kernel/frames.js';
import { REASONS, VERDICTS } from '../../../protocol/verdict.js';
import type { RecordPreferences, SaidPreferences } from '../record-preferences.js';
import type { RowVerdict } from './verdict-columns.js';

/** Bytes before a URL, and before the text of a rule (kernel/layout.ts, CONVERT_PARQUET). */
export const LENGTH_BYTES = 4;
const RULE_BYTES = 7;
/** Where the rule's line and the length of its text lie. */
const RULE_LINE = 1;
const RULE_LENGTH = 5;

/** What the kernel was asked to write about each row. */
export interface RowLayout {
  readonly agents: number;
  readonly explain: boolean;
  /** Whether a row begins with its URL. */
  readonly hasUrl: boolean;
  /** Whether it ends with the outcomes. */
  readonly hasOutcomes: boolean;
  /** The preferences that are wanted: each row then lies in a frame. */
  readonly preferences?: RecordPreferences | undefined;
}

/**
 * Called with a row: its URL after the URL's length, as Parquet has it, `start`–`end` of `bytes`;
 * what the run says for each agent; and the preferences for each agent, if they are wanted.
 */
export type OnRow = (
  bytes: Buffer,
  start: number,
  end: number,
  verdicts: readonly RowVerdict[],
  said: readonly (SaidPreferences | undefined)[],
) => void;

const NOTHING_SAID: readonly undefined[] = [];

/** What is said of an outcome that no rule explains, by outcome. */
const PLAIN: readonly (readonly RowVerdict[])[] = outcomes(() => ({}));
const REASONED = outcomes((reason) => ({ reason }));

function outcomes(more: (reason: string | undefined) => object): (readonly RowVerdict[])[] {
  return VERDICTS.flatMap((verdict) =>
    Array.from({ length: 16 }, (_, index) => [{ verdict, ...more(REASONS[index]) }]),
  );
}

/** Reads the rows that the kernel writes for Parquet. */
export class RowReader {
  readonly #layout: RowLayout;
  readonly #onRow: OnRow;
  /** The beginning of a row. */
  #held: Buffer = Buffer.alloc(0);

  constructor(layout: RowLayout, onRow: OnRow) {
    this.#layout = layout;
    this.#onRow = onRow;
  }

  /** Reads the rows that are complete. */
  read(chunk: Buffer): void {
    const bytes = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    const { agents, preferences } = this.#layout;
    const at =
      preferences === undefined
        ? this.#rows(bytes, NOTHING_SAID)
        : readFrames(bytes, agents, ({ record, url, outcomes }) => {
            this.#rows(record, preferences.of(url, outcomes));
          });
    this.#held = Buffer.from(bytes.subarray(at));
  }

  /** Reads rows; returns the offset of the row that is not complete. */
  #rows(bytes: Buffer, said: readonly (SaidPreferences | undefined)[]): number {
    let at = 0;
    for (let end = this.#rowEnd(bytes, at); end !== undefined; end = this.#rowEnd(bytes, at)) {
      const urlEnd = this.#urlEnd(bytes, at);
      this.#onRow(bytes, at, urlEnd, this.#verdicts(bytes, urlEnd), said);
      at = end;
    }
    return at;
  }

  #urlEnd(bytes: Buffer, at: number): number {
    return this.#layout.hasUrl ? at + LENGTH_BYTES + bytes.readUInt32LE(at) : at;
  }

  /** The end of the row at `at`; `undefined` if the row is not complete. */
  #rowEnd(bytes: Buffer, at: number): number | undefined {
    const { agents, explain, hasUrl, hasOutcomes } = this.#layout;
    if (at + (hasUrl ? LENGTH_BYTES : 1) > bytes.length) return undefined;
    let end = this.#urlEnd(bytes, at);
    if (hasOutcomes && !explain) end += agents;
    for (let agent = 0; hasOutcomes && explain && agent < agents; agent++) {
      if (end + RULE_BYTES > bytes.length) return undefined;
      end += RULE_BYTES + bytes.readUInt16LE(end + RULE_LENGTH);
    }
    return end <= bytes.length ? end : undefined;
  }

  #verdicts(bytes: Buffer, at: number): readonly RowVerdict[] {
    const { agents, explain, hasOutcomes } = this.#layout;
    if (!hasOutcomes) return [];
    if (agents === 1 && !explain) return PLAIN[bytes[at] as number] as readonly RowVerdict[];
    const all: RowVerdict[] = [];
    for (let agent = 0; agent < agents; agent++) {
      const outcome = bytes[at] as number;
      const [said] = (explain ? REASONED[outcome] : PLAIN[outcome]) as [RowVerdict];
      if (!explain) {
        all.push(said);
        at++;
        continue;
      }
      const length = bytes.readUInt16LE(at + RULE_LENGTH);
      const ruleAt = at + RULE_BYTES;
      if (length === 0) {
        all.push(said);
      } else {
        const rule = unescaped(bytes.toString('utf8', ruleAt, ruleAt + length));
        all.push({ ...said, rule, line: bytes.readUInt32LE(at + RULE_LINE) });
      }
      at = ruleAt + length;
    }
    return all;
  }
}

/** The text whose inside of a JSON string this is. */
function unescaped(text: string): string {
  return text.includes('\\') ? (JSON.parse(`"${text}"`) as string) : text;
}
