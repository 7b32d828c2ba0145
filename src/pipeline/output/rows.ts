/**
 * What comes out for each record besides the kernel's bytes: the header, sayings, conversions.
 */

import { Buffer } from 'node:buffer';
import { CR, LF } from '../../base/ascii.js';
import { csvField } from '../../base/control-characters.js';
import { RobotsFilterError } from '../../base/errors.js';
import { type Frame, readFrames } from '../../kernel/query.js';
import {
  addedField,
  CONVERTED_URL,
  type Conversion,
  JUDGED_AS,
  NOTATIONS,
  type OutputMode,
  type RecordFormat,
  useField,
} from '../../kernel/query-settings.js';
import type { Agent } from '../../protocol/agent.js';
import { type Use, useQuestions } from '../../protocol/uses.js';
import { fieldsOfRow } from '../input/columns.js';
import type { Rewriter } from './output.js';
import type { Said, Saying } from './record-sayings.js';

interface HeaderSettings {
  readonly agents: readonly Agent[];
  readonly uses?: readonly Use[] | undefined;
  readonly output: OutputMode;
  readonly explain: boolean;
  /** Whether explanations have the time of the version. */
  readonly dated?: boolean;
  /** Where records name their agents; explanations then have the agent. */
  readonly agentField?: readonly string[] | undefined;
  /** Name of the column of verdicts; `undefined` for `verdict`. */
  readonly verdictField: string | undefined;
  /** What adds a column for each agent. */
  readonly sayings?: { readonly sayings: readonly Saying[] } | undefined;
  /** Whether verdicts alone begin with a row that names the agents. */
  readonly outputHeader: boolean;
}

/** An input whose records come next. */
interface HeaderInput {
  readonly name: string;
  readonly format: RecordFormat;
  /** What its records become; `undefined` if they come out in their own format. */
  readonly conversion: Conversion | undefined;
  /** The header of rows; `undefined` if they have none, empty if there is no row. */
  readonly header?: Buffer | undefined;
}

/** Endings of the names of the columns that `--explain` adds for an agent. */
const EXPLANATIONS = ['_reason', '_line', '_rule', '_agent', '_source'];
const DATED_EXPLANATIONS = [...EXPLANATIONS, '_version'];

/** Endings that have another name where a use is explained. */
const SIGNAL_ENDINGS: Readonly<Record<string, string>> = { _rule: '_signal' };

/**
 * The column of an answer about a use, or of a part of its explanation: `use`, `use_train`,
 * `use_GPTBot_train`, `use_reason_train`.
 *
 * @param ending that of the part, or nothing
 * @param question as UseQuestion.name
 */
export function usedColumn(
  verdictField: string | undefined,
  ending: string,
  question: string,
): string {
  const words = question === '' ? '' : `_${question.split(' ').join('_')}`;
  return `${useField(verdictField)}${ending}${words}`;
}

/**
 * Refuses columns of which two have the same name: a reader would take one for the other.
 *
 * @throws RobotsFilterError `usage`
 */
export function refuseSameColumns(names: readonly string[]): void {
  const known = new Set<string>();
  for (const name of names) {
    if (known.has(name)) {
      throw new RobotsFilterError(
        'usage',
        `the output would have two columns called "${name}". Choose another name for the added ones: --verdict-field NAME; or ask for fewer agents and uses at once`,
      );
    }
    known.add(name);
  }
}

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
   *   would have the name of an added one; `usage` as `refuseSameColumns`
   */
  of(input: HeaderInput): Uint8Array | undefined {
    const { output } = this.#settings;
    if (output === 'verdicts' || output === 'mask-ndjson') return this.#agentsRow();
    const { name, format, conversion } = input;
    const notation = NOTATIONS[conversion ?? format];
    if (notation === 'text' || notation === 'json') return undefined;
    const header = conversion === undefined ? input.header : Buffer.from(`${CONVERTED_URL}\n`);
    if (header?.length === 0) return undefined;
    if (this.#first !== undefined) {
      if (this.#isFirst(header)) return undefined;
      throw new RobotsFilterError(
        'input',
        `${name}: has another header than the first input, so the columns of the output would be mixed. Write one output for each input: -o DIR/`,
      );
    }
    this.#first = header ?? null;
    if (header === undefined) return undefined;
    const row = withoutLineEnd(header);
    const lineEnd = header.subarray(row.length).toString() || '\n';
    if (output !== 'annotate') return Buffer.concat([row, Buffer.from(lineEnd)]);
    const names = this.#addedNames();
    refuseSameColumns(names);
    const clash = fieldsOfRow(header, notation.charCodeAt(0)).find((field) =>
      names.includes(field),
    );
    if (clash !== undefined) {
      throw new RobotsFilterError(
        'input',
        `${name}: has a column called ${clash}, the name of an added column. Choose another name: --verdict-field NAME`,
      );
    }
    const added = names.map((field) => notation + addedField(notation, field)).join('');
    return Buffer.concat([row, Buffer.from(`${added}${lineEnd}`)]);
  }

  /** The agents of the columns of verdicts alone, once, if that is asked for. */
  #agentsRow(): Uint8Array | undefined {
    const { agents, output, outputHeader } = this.#settings;
    if (!outputHeader || output !== 'verdicts' || this.#first !== undefined) return undefined;
    this.#first = null;
    const { uses = [], verdictField } = this.#settings;
    const names = [
      ...agents.map(({ name }) => name),
      ...useQuestions(agents, uses).map(({ name }) => usedColumn(verdictField, '', name)),
    ];
    refuseSameColumns(names);
    return Buffer.from(`${names.map((name) => csvField(name, '\t')).join(',')}\n`);
  }

  /** Whether a header is that of the first input. Their line ends may differ. */
  #isFirst(header: Buffer | undefined): boolean {
    const first = this.#first ?? undefined;
    if (first === undefined || header === undefined) return first === header;
    return withoutLineEnd(first).equals(withoutLineEnd(header));
  }

  #addedNames(): string[] {
    const { agents, uses = [], explain, dated, agentField, sayings } = this.#settings;
    const { verdictField: asked, verdictField = 'verdict' } = this.#settings;
    const questions = useQuestions(agents, uses);
    const of = (name: string, agent: string) => (agents.length > 1 ? `${name}_${agent}` : name);
    const verdicts = agents.map(({ name }) => of(verdictField, name));
    const explained = dated === true ? DATED_EXPLANATIONS : EXPLANATIONS;
    const endings = explain ? explained : [];
    const named = explain && agentField !== undefined ? [`${verdictField}_${JUDGED_AS}`] : [];
    return [
      ...verdicts,
      ...questions.map(({ name }) => usedColumn(asked, '', name)),
      ...agents.flatMap((agent) =>
        endings.map((ending) => of(`${verdictField}${ending}`, agent.name)),
      ),
      ...questions.flatMap(({ name }) =>
        endings.map((ending) => usedColumn(asked, SIGNAL_ENDINGS[ending] ?? ending, name)),
      ),
      ...named,
      ...(sayings?.sayings ?? []).flatMap((saying) =>
        agents.map(({ name }) => of(`${verdictField}_${saying}`, name)),
      ),
    ];
  }
}

function withoutLineEnd(row: Buffer): Buffer {
  if (row.at(-1) !== LF) return row;
  return row.subarray(0, row.at(-2) === CR ? -2 : -1);
}

/**
 * Whether a record comes out, as the kernel chooses records (kernel/assembly/batch.ts).
 *
 * @param words the verdict of each agent, then the answers about uses
 */
export function isChosen(
  words: readonly (string | undefined)[],
  { agents, output, requireGrant = false }: ChoiceSettings,
): boolean {
  const isRefused = (answer: string | undefined): boolean =>
    answer === 'refused' || (requireGrant && answer === 'unstated');
  return output === 'allowed'
    ? words.every((word, index) => (index < agents.length ? word === 'allow' : !isRefused(word)))
    : words.some((word, index) => (index < agents.length ? word === 'deny' : isRefused(word)));
}

/** What chooses records. */
interface ChoiceSettings {
  readonly agents: readonly Agent[];
  readonly output: OutputMode;
  readonly requireGrant?: boolean | undefined;
}

/** What an output can hold. */
export type OutputFormat = 'text' | 'ndjson' | 'csv' | 'tsv' | 'parquet' | 'warc';

/** What may be asked of an output: a format, or `own` for that of each input. */
export type AskedFormat = OutputFormat | 'own';

/** What comes out: a format that can be asked for, or one in which records stay as they came. */
type WrittenFormat = OutputFormat | 'cdx' | 'cdxj' | 'log';

/** The format in which the records of an input come out whole, as lines. */
const OWN: Record<RecordFormat, WrittenFormat> = {
  text: 'text',
  ndjson: 'ndjson',
  json: 'ndjson',
  csv: 'csv',
  tsv: 'tsv',
  parquet: 'ndjson',
  cdxj: 'cdxj',
  cdx: 'cdx',
  warc: 'ndjson',
  log: 'log',
};

/**
 * The format in which the records of an input come out.
 *
 * @param output `undefined` for the input's own format, as lines: Parquet and WARC become NDJSON
 */
export function writtenFormat(input: RecordFormat, output: AskedFormat | undefined): WrittenFormat {
  if (output === 'own') return input === 'parquet' || input === 'warc' ? input : OWN[input];
  return output ?? OWN[input];
}

/**
 * What the kernel writes for the records of an input. Parquet keeps its columns in Parquet, and
 * WARC its records in WARC, so only the outcomes are needed.
 *
 * @param output `undefined` for the input's own format
 * @returns `undefined` for the records themselves
 */
export function conversionOf(
  input: RecordFormat,
  output: AskedFormat | undefined,
): Conversion | undefined {
  const written = writtenFormat(input, output);
  const isOwn = written === writtenFormat(input, undefined);
  if (isOwn || written === 'cdx' || written === 'cdxj' || written === 'log') return undefined;
  if (written === 'warc') return 'outcomes';
  return written === 'parquet' && input === 'parquet' ? 'outcomes' : written;
}

/** How an output of frames is read. */
interface FramedRecordsOptions {
  /** Outcomes of each record. */
  readonly outcomes: number;
  /** Bytes before all records. */
  readonly preamble: Uint8Array | undefined;
  /** What is added to a record. */
  readonly add: (frame: Frame) => Addition;
}

/** Takes frames (kernel/layout.ts, QUERY_FRAMES), and returns their records with an addition. */
export class FramedRecords implements Rewriter {
  readonly #options: FramedRecordsOptions;
  /** What comes before the next record. */
  readonly #before: Uint8Array[];
  /** The beginning of a frame. */
  #held: Buffer = Buffer.alloc(0);

  constructor(options: FramedRecordsOptions) {
    this.#options = options;
    this.#before = options.preamble === undefined ? [] : [options.preamble];
  }

  rewrite(bytes: Uint8Array): Buffer {
    const { outcomes, add } = this.#options;
    const chunk = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const frames = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    const parts = this.#before.splice(0);
    const end = readFrames(frames, outcomes, (frame) => {
      const { record } = frame;
      const { at, text } = add(frame);
      parts.push(record.subarray(0, at), Buffer.from(text), record.subarray(at));
    });
    // The ring's memory is used again, so what is left is copied.
    this.#held = Buffer.from(frames.subarray(end));
    return Buffer.concat(parts);
  }

  rest(): Buffer {
    return Buffer.concat(this.#before);
  }
}

/** An addition to a record: its place and its text. */
interface Addition {
  readonly at: number;
  readonly text: string;
}

/** What sayings add to records of a format, which end with a line end. */
export function sayingAdder(
  format: Exclude<WrittenFormat, 'parquet' | 'warc'>,
  agents: readonly Agent[],
  sayings: readonly Saying[],
): (record: Buffer, said: readonly (Said | undefined)[]) => Addition {
  const notation = NOTATIONS[format];
  if (notation === 'json') {
    // After the object, there is only white space.
    return (record, said) => ({
      at: record.lastIndexOf('}'),
      text: membersOf(said, agents, sayings),
    });
  }
  const field = (each: Said | undefined): string => {
    const value = columnValue(each) ?? '';
    return notation === 'text' ? `\t${value}` : notation + addedField(notation, value);
  };
  return (record, said) => ({ at: lineEndOf(record), text: said.map(field).join('') });
}

/** The members of JSON records, which are called like the sayings. */
function membersOf(
  said: readonly (Said | undefined)[],
  agents: readonly Agent[],
  sayings: readonly Saying[],
): string {
  const values = said.map((each) => each?.json ?? 'null');
  const members = sayings.map((saying, at) => {
    const first = at * agents.length;
    if (agents.length === 1) return `,"${saying}":${values[first]}`;
    const ofAgents = agents.map(
      ({ name }, index) => `${JSON.stringify(name)}:${values[first + index]}`,
    );
    return `,"${saying}":{${ofAgents.join(',')}}`;
  });
  return members.join('');
}

/** The value of a column: empty where nothing is said. */
export function columnValue(said: Said | undefined): string | undefined {
  return said === undefined || said.isEmpty ? undefined : said.json;
}

/** Offset of the line end of a record. */
function lineEndOf(record: Buffer): number {
  if (record.at(-1) !== LF) return record.length;
  return record.at(-2) === CR ? record.length - 2 : record.length - 1;
}
