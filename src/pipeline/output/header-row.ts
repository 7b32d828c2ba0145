import { CR, LF } from '../../ascii.js';
import { RobotsFilterError } from '../../errors.js';
import type { OutputMode } from '../../kernel/query.js';
import type { Agent } from '../../protocol/agent.js';
import { fieldsOf } from '../input/csv/first-row.js';
import type { InputFormat } from '../input/format.js';

interface HeaderSettings {
  readonly agents: readonly Agent[];
  readonly output: OutputMode;
  readonly explain: boolean;
  /** Name of the column of verdicts; `undefined` for `verdict`. */
  readonly verdictField: string | undefined;
}

/** Endings of the names of the columns that `--explain` adds for an agent. */
const EXPLANATIONS = ['_reason', '_line', '_rule', '_agent', '_source'];

/** The header of the output, which is written once for all inputs. */
export class HeaderRow {
  readonly #settings: HeaderSettings;
  /** The header of the first input of rows; `null` if it has none. */
  #first: Buffer | null | undefined;

  constructor(settings: HeaderSettings) {
    this.#settings = settings;
  }

  /**
   * Returns the bytes to write before the rows of an input; `undefined` for none.
   *
   * @param header the input's header; `undefined` if it has none, empty if the input has no row
   * @throws RobotsFilterError `input` if the header differs from the header of the first input, or
   *   if a column has the name of an added column
   */
  of(header: Buffer | undefined, format: InputFormat, input: string): Uint8Array | undefined {
    const { output } = this.#settings;
    if (output === 'verdicts' || output === 'mask-ndjson' || header?.length === 0) return undefined;
    if (this.#first !== undefined) {
      if (this.#isFirst(header)) return undefined;
      throw new RobotsFilterError(
        'input',
        `${input}: has another header than the first input, so the columns of the output would be mixed. Filter it alone`,
      );
    }
    this.#first = header ?? null;
    if (header === undefined) return undefined;
    const row = withoutLineEnd(header);
    const lineEnd = header.subarray(row.length).toString() || '\n';
    if (output !== 'annotate') return Buffer.concat([row, Buffer.from(lineEnd)]);
    const delimiter = format === 'tsv' ? '\t' : ',';
    const names = this.#addedNames();
    const clash = fieldsOf(header, delimiter.charCodeAt(0)).find((name) => names.includes(name));
    if (clash !== undefined) {
      throw new RobotsFilterError(
        'input',
        `${input}: has a column called ${clash}, as has the output. Name the added column: --verdict-field NAME`,
      );
    }
    const added = names.map((name) => `${delimiter}${quotedField(name)}`).join('');
    return Buffer.concat([row, Buffer.from(`${added}${lineEnd}`)]);
  }

  /** Whether a header equals the header of the first input. Their line ends may differ. */
  #isFirst(header: Buffer | undefined): boolean {
    const first = this.#first ?? undefined;
    if (first === undefined || header === undefined) return first === header;
    return withoutLineEnd(first).equals(withoutLineEnd(header));
  }

  #addedNames(): string[] {
    const { agents, explain, verdictField = 'verdict' } = this.#settings;
    const of = (name: string, agent: string) => (agents.length > 1 ? `${name}_${agent}` : name);
    const verdicts = agents.map(({ name }) => of(verdictField, name));
    if (!explain) return verdicts;
    return [
      ...verdicts,
      ...agents.flatMap((agent) =>
        EXPLANATIONS.map((ending) => of(`${verdictField}${ending}`, agent.name)),
      ),
    ];
  }
}

function withoutLineEnd(row: Buffer): Buffer {
  if (row.at(-1) !== LF) return row;
  return row.subarray(0, row.at(-2) === CR ? -2 : -1);
}

/** A field of CSV or TSV, in quotes if it needs them. */
function quotedField(text: string): string {
  const needsQuotes = ['"', ',', '\t', '\n', '\r'].some((mark) => text.includes(mark));
  return needsQuotes ? `"${text.replaceAll('"', '""')}"` : text;
}
