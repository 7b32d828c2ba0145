/** Writes Parquet: the rows of a Parquet input with verdicts, or a row for each record. */

import { Writable } from 'node:stream';
import { RobotsFilterError } from '../../base/errors.js';
import { REASON_BITS } from '../../kernel/layout.js';
import { readFrames } from '../../kernel/query.js';
import {
  CONVERTED_URL,
  JUDGED_AS,
  type OutputMode,
  outcomesOf,
} from '../../kernel/query-settings.js';
import { type AddedColumn, AddedValues, type ByteSink } from '../../parquet/chunk-writer.js';
import type { RowGroup } from '../../parquet/footer.js';
import type { ParquetFile } from '../../parquet/parquet-file.js';
import { ParquetWriter } from '../../parquet/parquet-writer.js';
import { type Partition, partitionsOf } from '../../parquet/partitions.js';
import { TextRowsWriter } from '../../parquet/rows-writer.js';
import type { Agent } from '../../protocol/agent.js';
import { ALL_REASONS, USE_WORDS, type Use, useQuestions } from '../../protocol/uses.js';
import { VERDICTS } from '../../protocol/verdict.js';
import type { FilterSettings } from '../filter.js';
import type { RecordSayings, Said, Saying } from './record-sayings.js';
import { columnValue, isChosen, refuseSameColumns, usedColumn } from './rows.js';

/** Writes a Parquet file: what the first input is decides which columns it has. */
export class ParquetOutput {
  readonly #target: ByteSink;
  readonly #settings: FilterSettings;
  #columns: ColumnRows | undefined;
  #urls: UrlRows | undefined;

  constructor(target: ByteSink, settings: FilterSettings) {
    this.#target = target;
    this.#settings = settings;
  }

  /** Rows written so far. */
  get rows(): number {
    return (this.#columns ?? this.#urls)?.rows ?? 0;
  }

  /**
   * A stream for what the kernel writes about the records of an input.
   *
   * @param file the input; `undefined` if it is not Parquet
   * @throws RobotsFilterError `input` if its columns cannot be written beside those before, `usage`
   *   if two columns would have the same name
   */
  async streamFor(name: string, file: ParquetFile | undefined): Promise<Writable> {
    if (file === undefined ? this.#columns !== undefined : this.#urls !== undefined) {
      throw new RobotsFilterError(
        'input',
        file === undefined
          ? `${name}: is not Parquet, but the inputs before are, and all their columns are written. Write one file for each input: -o DIR/`
          : `${name}: is Parquet, but the inputs before are not, so only URLs are written. Write one file for each input: -o DIR/`,
      );
    }
    if (file !== undefined) {
      this.#columns ??= new ColumnRows(this.#target, this.#settings);
      return this.#columns.streamFor(name, file);
    }
    this.#urls ??= new UrlRows(this.#target, this.#settings);
    return this.#urls.streamFor();
  }

  /** Writes the end of the file, after the last input. */
  async finish(): Promise<void> {
    await this.#columns?.finish();
    await this.#urls?.finish();
  }
}

/**
 * Maximum number of rows of a row group, whose verdicts are held in memory. Writers aim at a
 * million.
 */
const MAX_GROUP_ROWS = 2 ** 26;

/** An input on its way to the output. */
interface Source {
  readonly file: ParquetFile;
  /** Its row groups. */
  readonly groups: readonly RowGroup[];
  readonly partitions: readonly Partition[];
  readonly writer: ParquetWriter;
}

/** Writes the rows of Parquet inputs with all their columns and their verdicts. */
class ColumnRows {
  readonly #settings: FilterSettings;
  readonly #target: ByteSink;
  /** `undefined` before the first input. */
  #writer: ParquetWriter | undefined;
  /** The keys of the partitions that become columns: those that the files do not hold. */
  #keys: readonly string[] = [];
  /** Rows of the inputs, and rows with a verdict. */
  #expected = 0;
  #judged = 0;

  constructor(target: ByteSink, settings: FilterSettings) {
    this.#settings = settings;
    this.#target = target;
  }

  /** Rows written so far. */
  get rows(): number {
    return this.#writer?.rows ?? 0;
  }

  /**
   * A stream for the records of an input, in the order of its rows.
   *
   * @throws RobotsFilterError `input` if its columns cannot be written beside those before
   */
  async streamFor(name: string, file: ParquetFile): Promise<Writable> {
    const groups = file.footer.rowGroups;
    const large = groups.find(({ rows }) => rows > MAX_GROUP_ROWS);
    if (large !== undefined) {
      throw new RobotsFilterError(
        'input',
        `${name}: a row group has ${large.rows} rows; at most ${MAX_GROUP_ROWS} can be written. Write the file again with smaller row groups`,
      );
    }
    const partitions = this.#partitionsOf(name, file);
    const writer = this.#writerFor(name, partitions);
    await writer.begin(file);
    this.#expected += file.footer.rows;
    return this.#streamOf({ file, groups, partitions, writer });
  }

  /** Writes the end of the file, after the last input. */
  async finish(): Promise<void> {
    if (this.#judged !== this.#expected) {
      throw new Error(`${this.#judged} verdicts on ${this.#expected} rows`);
    }
    await this.#writer?.finish();
  }

  /** The partitions of an input that neither its columns nor the path of its output hold. */
  #partitionsOf(name: string, { footer }: ParquetFile): Partition[] {
    if (this.#settings.mirrors === true) return [];
    // To Spark and DuckDB, `Day` and `day` are the same column.
    const held = new Set(footer.leaves.map(({ path: [root = ''] }) => root.toLowerCase()));
    return partitionsOf(name).filter(([key]) => !held.has(key.toLowerCase()));
  }

  #writerFor(name: string, partitions: readonly Partition[]): ParquetWriter {
    const keys = partitions.map(([key]) => key);
    if (this.#writer === undefined) {
      this.#keys = keys;
      const own = keys.map((key) => ({ name: key, type: 'text' as const, nullable: true }));
      this.#writer = new ParquetWriter(this.#target, [...own, ...addedColumns(this.#settings)]);
    } else if (keys.join('/') !== this.#keys.join('/')) {
      throw new RobotsFilterError(
        'input',
        `${name}: its directories have other partitions (${keys.join(', ')}) than the inputs before (${this.#keys.join(', ')}). Write one file for each input: -o DIR/`,
      );
    }
    return this.#writer;
  }

  #streamOf({ file, groups, partitions, writer }: Source): Writable {
    const settings = this.#settings;
    const complete: { readonly group: RowGroup; readonly rows: VerdictRows }[] = [];
    let next = 0;
    let rows = new VerdictRows(settings);
    const { output, explain, dated = false, sayings } = settings;
    const layout = {
      outcomes: outcomesOf(settings),
      verdicts: settings.agents.length,
      explain: explain && output === 'annotate',
      dated,
      isNamed: settings.agentField !== undefined,
      hasUrl: false,
      hasOutcomes: true,
      sayings,
    };
    const reader = new RowReader(layout, (_bytes, _start, _end, verdicts, said) => {
      this.#judged++;
      rows.add(verdicts, said);
      const group = groups[next];
      if (group === undefined) throw new Error('more records than rows');
      if (rows.rows < group.rows) return;
      complete.push({ group, rows });
      rows = new VerdictRows(settings);
      next++;
    });
    const write = async (chunk: Buffer): Promise<void> => {
      reader.read(chunk);
      for (const { group, rows: done } of complete.splice(0)) {
        const added = partitions.map(([key, value]) => {
          const values = new AddedValues({ name: key, type: 'text', nullable: true });
          values.addMany(value ?? undefined, group.rows);
          return values;
        });
        await writer.group(file, group, done.keep, [...added, ...done.added]);
      }
    };
    return new Writable({
      write: (chunk: Buffer, _encoding, callback) => {
        write(chunk).then(() => callback(), callback);
      },
    });
  }
}

/** Bytes of the URLs of a page; a longer URL has a page of its own. */
const PAGE_BYTES = 1 << 20;
/** A row group ends after so many rows, or with a page that brings it to so many bytes of URLs. */
const GROUP_ROWS = 1 << 20;
const GROUP_BYTES = 1 << 27;

/** URLs that are complete as a page, and the verdicts of the row group that ends with them. */
interface Page {
  readonly rows: number;
  readonly urls: Buffer;
  readonly verdicts: VerdictRows | undefined;
}

/** Writes a row for each record of lines: the URL, and the verdicts. */
class UrlRows {
  readonly #settings: FilterSettings;
  readonly #writer: TextRowsWriter;
  #begun = false;
  #verdicts: VerdictRows;
  #groupRows = 0;
  #groupBytes = 0;
  #page = Buffer.allocUnsafeSlow(PAGE_BYTES);
  #used = 0;
  #pageRows = 0;
  /** Pages that wait to be written. */
  readonly #complete: Page[] = [];

  /** @throws RobotsFilterError `usage` if two columns would have the same name */
  constructor(target: ByteSink, settings: FilterSettings) {
    const url = { name: CONVERTED_URL, type: 'text' as const, nullable: false };
    const columns = [url, ...addedColumns(settings)];
    refuseSameColumns(columns.map(({ name }) => name));
    this.#settings = settings;
    this.#writer = new TextRowsWriter(target, columns);
    this.#verdicts = new VerdictRows(settings);
  }

  /** Rows written so far, in row groups that have ended. */
  get rows(): number {
    return this.#writer.rows;
  }

  /** A stream for the rows of an input, as the kernel writes them. */
  async streamFor(): Promise<Writable> {
    if (!this.#begun) await this.#writer.begin();
    this.#begun = true;
    const { explain, dated = false, output, sayings } = this.#settings;
    const hasOutcomes = output === 'annotate';
    const layout = {
      outcomes: outcomesOf(this.#settings),
      verdicts: this.#settings.agents.length,
      explain,
      dated,
      isNamed: this.#settings.agentField !== undefined,
      hasUrl: true,
      hasOutcomes,
      sayings,
    };
    const reader = new RowReader(layout, (bytes, start, end, verdicts, said) => {
      this.#add(bytes, start, end);
      if (hasOutcomes) this.#verdicts.add(verdicts, said);
      if (++this.#groupRows === GROUP_ROWS) this.#endPage(true);
    });
    const write = async (chunk: Buffer): Promise<void> => {
      reader.read(chunk);
      await this.#writePages();
    };
    return new Writable({
      write: (chunk: Buffer, _encoding, callback) => {
        write(chunk).then(() => callback(), callback);
      },
    });
  }

  /** Writes what is left, and the end of the file, after the last input. */
  async finish(): Promise<void> {
    this.#endPage(true);
    await this.#writePages();
    await this.#writer.finish();
  }

  /** Adds a URL, after its length, to the page. */
  #add(bytes: Buffer, start: number, end: number): void {
    const length = end - start;
    if (this.#used + length > this.#page.length) {
      this.#endPage(this.#groupBytes >= GROUP_BYTES);
      if (length > PAGE_BYTES) this.#page = Buffer.allocUnsafeSlow(length);
    }
    bytes.copy(this.#page, this.#used, start, end);
    this.#used += length;
    this.#pageRows++;
    this.#groupBytes += length;
  }

  /** Ends the page, and the row group with it or not. */
  #endPage(endsGroup: boolean): void {
    if (this.#groupRows === 0) return;
    this.#complete.push({
      rows: this.#pageRows,
      urls: this.#page.subarray(0, this.#used),
      verdicts: endsGroup ? this.#verdicts : undefined,
    });
    this.#page = Buffer.allocUnsafeSlow(PAGE_BYTES);
    this.#used = 0;
    this.#pageRows = 0;
    if (!endsGroup) return;
    this.#verdicts = new VerdictRows(this.#settings);
    this.#groupRows = 0;
    this.#groupBytes = 0;
  }

  async #writePages(): Promise<void> {
    for (const { rows, urls, verdicts } of this.#complete.splice(0)) {
      if (rows > 0) await this.#writer.page(rows, urls);
      if (verdicts !== undefined) await this.#writer.endGroup(verdicts.added);
    }
  }
}

/** Bytes before a URL, and before the text of a rule (kernel/layout.ts, CONVERT_PARQUET). */
const LENGTH_BYTES = 4;
const RULE_BYTES = 7;
/** Bytes of the time of a version, which stands before the rule's line. */
const VERSION_BYTES = 4;
/** Where the rule's line and the length of its text lie, after the time of the version. */
const RULE_LINE = 1;
const RULE_LENGTH = 5;
const NAME_LENGTH_BYTES = 2;

/** What the kernel was asked to write about each row. */
interface RowLayout {
  /** Outcomes of each row, and how many of them are verdicts, before answers about uses. */
  readonly outcomes: number;
  readonly verdicts: number;
  readonly explain: boolean;
  /** Whether an explanation has the time of the version. */
  readonly dated: boolean;
  /** Whether an explanation has the agent for which the record was judged. */
  readonly isNamed: boolean;
  /** Whether a row begins with its URL. */
  readonly hasUrl: boolean;
  /** Whether it ends with the outcomes. */
  readonly hasOutcomes: boolean;
  /** What is said beside verdicts: each row then lies in a frame. */
  readonly sayings?: RecordSayings | undefined;
}

/**
 * Called with a row: its URL after the URL's length, as Parquet has it, `start`–`end` of `bytes`;
 * what the run says for each agent; and what is said beside it, if that is wanted.
 */
type OnRow = (
  bytes: Buffer,
  start: number,
  end: number,
  verdicts: readonly RowVerdict[],
  said: readonly (Said | undefined)[],
) => void;

const NOTHING_SAID: readonly undefined[] = [];

/** Where the URL may not be fetched there is no answer. */
const USE_ANSWERS = USE_WORDS.map((word) => (word === '' ? undefined : word));

/** What is said of an outcome that no rule explains, by outcome. */
const PLAIN: readonly (readonly RowVerdict[])[] = outcomes(VERDICTS, () => ({}));
const REASONED = outcomes(VERDICTS, (reason) => ({ reason }));
/** The same of answers about uses. */
const PLAIN_USES = outcomes(USE_ANSWERS, () => ({}));
const REASONED_USES = outcomes(USE_ANSWERS, (reason) => ({ reason }));

function outcomes(
  words: readonly (string | undefined)[],
  more: (reason: string | undefined) => object,
): (readonly RowVerdict[])[] {
  return words.flatMap((verdict) =>
    Array.from({ length: 1 << REASON_BITS }, (_, index) => [
      { verdict, ...more(ALL_REASONS[index]) },
    ]),
  );
}

/** Reads the rows that the kernel writes for Parquet. */
class RowReader {
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
    const { outcomes: count, sayings } = this.#layout;
    const at =
      sayings === undefined
        ? this.#rows(bytes, NOTHING_SAID)
        : readFrames(bytes, count, ({ record, url, outcomes }) => {
            this.#rows(record, sayings.of(url, outcomes));
          });
    this.#held = Buffer.from(bytes.subarray(at));
  }

  /** Reads rows; returns the offset of the row that is not complete. */
  #rows(bytes: Buffer, said: readonly (Said | undefined)[]): number {
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
    const { outcomes, explain, dated, isNamed, hasUrl, hasOutcomes } = this.#layout;
    if (at + (hasUrl ? LENGTH_BYTES : 1) > bytes.length) return undefined;
    let end = this.#urlEnd(bytes, at);
    if (hasOutcomes && !explain) end += outcomes;
    for (let index = 0; hasOutcomes && explain && index < outcomes; index++) {
      if (dated) end += VERSION_BYTES;
      if (end + RULE_BYTES > bytes.length) return undefined;
      end += RULE_BYTES + bytes.readUInt16LE(end + RULE_LENGTH);
    }
    if (hasOutcomes && explain && isNamed) {
      if (end + NAME_LENGTH_BYTES > bytes.length) return undefined;
      end += NAME_LENGTH_BYTES + bytes.readUInt16LE(end);
    }
    return end <= bytes.length ? end : undefined;
  }

  #verdicts(bytes: Buffer, at: number): readonly RowVerdict[] {
    const { outcomes, verdicts, explain, dated, isNamed, hasOutcomes } = this.#layout;
    if (!hasOutcomes) return [];
    if (outcomes === 1 && !explain) return PLAIN[bytes[at] as number] as readonly RowVerdict[];
    const all: RowVerdict[] = [];
    for (let index = 0; index < outcomes; index++) {
      const outcome = bytes[at] as number;
      const isUse = index >= verdicts;
      const table = explain ? (isUse ? REASONED_USES : REASONED) : isUse ? PLAIN_USES : PLAIN;
      const [plain] = table[outcome] as [RowVerdict];
      if (!explain) {
        all.push(plain);
        at++;
        continue;
      }
      const since = dated ? bytes.readUInt32LE(at + 1) : 0;
      if (dated) at += VERSION_BYTES;
      const said = since === 0 ? plain : { ...plain, version: timeText(since) };
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
    if (explain && isNamed) {
      const length = bytes.readUInt16LE(at);
      at += NAME_LENGTH_BYTES;
      const judgedAs = length === 0 ? undefined : bytes.toString('latin1', at, at + length);
      return all.map((each) => ({ ...each, judgedAs }));
    }
    return all;
  }
}

/** A time in seconds since 1970, as `2025-03-10T12:00:00Z`. */
function timeText(seconds: number): string {
  return `${new Date(1000 * seconds).toISOString().slice(0, 19)}Z`;
}

/** The text whose inside of a JSON string this is. */
function unescaped(text: string): string {
  return text.includes('\\') ? (JSON.parse(`"${text}"`) as string) : text;
}

/** The columns of a Parquet output in addition to those of the input. */
interface VerdictColumnSettings {
  readonly agents: readonly Agent[];
  readonly uses?: readonly Use[] | undefined;
  readonly requireGrant?: boolean | undefined;
  /** Selects the rows that are written; verdicts are added only for `annotate`. */
  readonly output: OutputMode;
  readonly explain: boolean;
  /** Whether explanations have the time of the version. */
  readonly dated?: boolean;
  /** Where records name their agents; explanations then have the agent. */
  readonly agentField?: readonly string[] | undefined;
  /** The value of `--verdict-field`. */
  readonly verdictField: string | undefined;
  /** What is said beside verdicts; `undefined` for nothing. */
  readonly sayings?: RecordSayings | undefined;
}

/** The run's result for a row and an agent; perhaps about a use. */
interface RowVerdict {
  readonly verdict: string | undefined;
  readonly reason?: string | undefined;
  readonly rule?: string | undefined;
  readonly line?: number | undefined;
  /** The time from which the version of the robots.txt was in force. */
  readonly version?: string | undefined;
  /** The agent that the record names. */
  readonly judgedAs?: string | undefined;
}

const EXPLANATION = [
  { suffix: 'reason', type: 'text', nullable: false },
  { suffix: 'rule', type: 'text', nullable: true },
  { suffix: 'line', type: 'integer', nullable: true },
] as const;
const SIGNAL = EXPLANATION.map((column) =>
  column.suffix === 'rule' ? ({ ...column, suffix: 'signal' } as const) : column,
);
const VERSION = { suffix: 'version', type: 'text', nullable: true } as const;
const NAMED = { suffix: JUDGED_AS, type: 'text', nullable: true } as const;
const SAYINGS = {
  preferences: { suffix: 'preferences', type: 'text', nullable: true },
  crawl_delay: { suffix: 'crawl_delay', type: 'number', nullable: true },
} as const satisfies Record<Saying, object>;

/**
 * The columns that are added: for one agent `verdict`, with `explain` `reason`, `rule` and `line`,
 * with `dated` `version`, with `agentField` `judged_as`, and the name of each saying. For several
 * agents `_` and the agent follow. `--verdict-field NAME` makes them `NAME`, `NAME_reason` and so
 * on. The columns of uses follow: `use`, with `explain` `use_reason`, `use_signal` and `use_line`.
 */
function addedColumns(settings: VerdictColumnSettings): AddedColumn[] {
  const { agents, uses = [], output, explain, dated = false } = settings;
  const { verdictField, agentField, sayings } = settings;
  if (output !== 'annotate') return [];
  const ofAgents = agents.flatMap(({ name }) => {
    const ending = agents.length > 1 ? `_${name}` : '';
    const verdict = `${verdictField ?? 'verdict'}${ending}`;
    const columns: AddedColumn[] = [{ name: verdict, type: 'text', nullable: false }];
    const before = verdictField === undefined ? '' : `${verdictField}_`;
    const further = [
      ...(explain ? EXPLANATION : []),
      ...(explain && dated ? [VERSION] : []),
      ...(explain && agentField !== undefined ? [NAMED] : []),
      ...(sayings?.sayings ?? []).map((saying) => SAYINGS[saying]),
    ];
    for (const { suffix, type, nullable } of further) {
      columns.push({ name: `${before}${suffix}${ending}`, type, nullable });
    }
    return columns;
  });
  const ofUses = useQuestions(agents, uses).flatMap(({ name }): AddedColumn[] => [
    { name: usedColumn(verdictField, '', name), type: 'text', nullable: true },
    ...[...(explain ? SIGNAL : []), ...(explain && dated ? [VERSION] : [])].map(
      ({ suffix, type, nullable }) => {
        return { name: usedColumn(verdictField, `_${suffix}`, name), type, nullable };
      },
    ),
  ]);
  return [...ofAgents, ...ofUses];
}

/** The verdicts of a row group, row by row. */
class VerdictRows {
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

  /** Adds a row, with the run's result and what is said beside it for each agent. */
  add(verdicts: readonly RowVerdict[], said: readonly (Said | undefined)[]): void {
    this.rows++;
    if (this.#kept !== undefined) {
      const words = verdicts.map(({ verdict }) => verdict);
      this.#kept.push(isChosen(words, this.#settings) ? 1 : 0);
      return;
    }
    let column = 0;
    const { agents, explain, dated = false, agentField, sayings } = this.#settings;
    const count = sayings?.sayings.length ?? 0;
    for (const [index, row] of verdicts.entries()) {
      const { verdict, reason, rule, line, version, judgedAs } = row;
      this.added[column++]?.add(verdict);
      if (explain) {
        this.added[column++]?.add(reason);
        this.added[column++]?.add(rule);
        this.added[column++]?.add(line);
        if (dated) this.added[column++]?.add(version);
        if (agentField !== undefined) this.added[column++]?.add(judgedAs);
      }
      for (let saying = 0; saying < count && index < agents.length; saying++) {
        this.added[column++]?.add(columnValue(said[saying * agents.length + index]));
      }
    }
  }
}
