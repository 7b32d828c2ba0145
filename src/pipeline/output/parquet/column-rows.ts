import { Writable } from 'node:stream';
import { RobotsFilterError } from '../../../errors.js';
import { AddedValues } from '../../../parquet/added-column.js';
import type { ByteSink } from '../../../parquet/chunk-writer.js';
import type { RowGroup } from '../../../parquet/footer.js';
import type { ParquetFile } from '../../../parquet/parquet-file.js';
import { ParquetWriter } from '../../../parquet/parquet-writer.js';
import { type Partition, partitionsOf } from '../../../parquet/partitions.js';
import type { FilterSettings } from '../../filter.js';
import { RowReader } from './row-reader.js';
import { addedColumns, VerdictRows } from './verdict-columns.js';

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
export class ColumnRows {
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

  /** The partitions of an input that its columns do not hold. */
  #partitionsOf(name: string, { footer }: ParquetFile): Partition[] {
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
        `${name}: its directories have other partitions (${keys.join(', ')}) than the inputs before (${this.#keys.join(', ')}). Write them to two files`,
      );
    }
    return this.#writer;
  }

  #streamOf({ file, groups, partitions, writer }: Source): Writable {
    const settings = this.#settings;
    const complete: { readonly group: RowGroup; readonly rows: VerdictRows }[] = [];
    let next = 0;
    let rows = new VerdictRows(settings);
    const { agents, output, explain, preferences } = settings;
    const layout = {
      agents: agents.length,
      explain: explain && output === 'annotate',
      hasUrl: false,
      hasOutcomes: true,
      preferences,
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
