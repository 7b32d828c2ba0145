import { CR, LF } from '../../ascii.js';
import { RobotsFilterError } from '../../errors.js';
import { CONVERTED_URL, type Conversion, type OutputMode } from '../../kernel/query-settings.js';
import type { Agent } from '../../protocol/agent.js';
import { fieldsOf } from '../input/csv/first-row.js';
import type { InputFormat } from '../input/format.js';
import { PREFERENCES_MEMBER } from './preference-columns.js';

interface HeaderSettings {
  readonly agents: readonly Agent[];
  readonly output: OutputMode;
  readonly explain: boolean;
  /** Name of the column of verdicts; `undefined` for `verdict`. */
  readonly verdictField: string | undefined;
  /** Whether a column of preferences is added for each agent. */
  readonly preferences?: unknown;
  /** Whether verdicts alone begin with a row that names the agents. */
  readonly outputHeader: boolean;
}

/** An input whose records come next. */
interface HeaderInput {
  readonly name: string;
  readonly format: InputFormat;
  /** What its records become; `undefined` if they come out in their own format. */
  readonly conversion: Conversion | undefined;
  /** The header of rows; `undefined` if they have none, empty if there is no row. */
  readonly header?: Buffer | undefined;
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
   * What to write before the records of an input; `undefined` for nothing.
   *
   * @throws RobotsFilterError `input` if the header is not that of the first input, or a column
   *   would have the name of an added one
   */
  of(input: HeaderInput): Uint8Array | undefined {
    const { output } = this.#settings;
    if (output === 'verdicts' || output === 'mask-ndjson') return this.#agentsRow();
    const { name, format, conversion } = input;
    const written = conversion ?? format;
    if (written !== 'csv' && written !== 'tsv') return undefined;
    const header = conversion === undefined ? input.header : Buffer.from(`${CONVERTED_URL}\n`);
    if (header?.length === 0) return undefined;
    if (this.#first !== undefined) {
      if (this.#isFirst(header)) return undefined;
      throw new RobotsFilterError(
        'input',
        `${name}: has another header than the first input, so the columns of the output would be mixed. Filter it alone`,
      );
    }
    this.#first = header ?? null;
    if (header === undefined) return undefined;
    const row = withoutLineEnd(header);
    const lineEnd = header.subarray(row.length).toString() || '\n';
    if (output !== 'annotate') return Buffer.concat([row, Buffer.from(lineEnd)]);
    const delimiter = written === 'tsv' ? '\t' : ',';
    const names = this.#addedNames();
    const clash = fieldsOf(header, delimiter.charCodeAt(0)).find((field) => names.includes(field));
    if (clash !== undefined) {
      throw new RobotsFilterError(
        'input',
        `${name}: has a column called ${clash}, the name of an added column. Choose another name: --verdict-field NAME`,
      );
    }
    const added = names.map((field) => `${delimiter}${quotedField(field)}`).join('');
    return Buffer.concat([row, Buffer.from(`${added}${lineEnd}`)]);
  }

  /** The agents of the columns of verdicts alone, once, if that is asked for. */
  #agentsRow(): Uint8Array | undefined {
    const { agents, output, outputHeader } = this.#settings;
    if (!outputHeader || output !== 'verdicts' || this.#first !== undefined) return undefined;
    this.#first = null;
    return Buffer.from(`${agents.map(({ name }) => quotedField(name)).join(',')}\n`);
  }

  /** Whether a header is that of the first input. Their line ends may differ. */
  #isFirst(header: Buffer | undefined): boolean {
    const first = this.#first ?? undefined;
    if (first === undefined || header === undefined) return first === header;
    return withoutLineEnd(first).equals(withoutLineEnd(header));
  }

  #addedNames(): string[] {
    const { agents, explain, preferences, verdictField = 'verdict' } = this.#settings;
    const of = (name: string, agent: string) => (agents.length > 1 ? `${name}_${agent}` : name);
    const verdicts = agents.map(({ name }) => of(verdictField, name));
    const endings = explain ? EXPLANATIONS : [];
    return [
      ...verdicts,
      ...agents.flatMap((agent) =>
        endings.map((ending) => of(`${verdictField}${ending}`, agent.name)),
      ),
      ...(preferences === undefined
        ? []
        : agents.map(({ name }) => of(`${verdictField}_${PREFERENCES_MEMBER}`, name))),
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
