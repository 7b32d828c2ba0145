import type { InputFormat } from '../../pipeline/input/format.js';
import { writtenFormat } from '../../pipeline/output/conversion.js';
import type { LineLayout } from '../../pipeline/output/laid-out-lines.js';
import { type OutputTarget, openDisplay } from '../../pipeline/output/open-output.js';
import type { FilterOptions } from '../options/command-options.js';
import { outputFile, outputFormat, outputMode } from '../options/output-format.js';
import { STANDARD_OUTPUT_DESCRIPTOR } from '../process/standard-streams.js';
import { isColoured, isForPeople, paintOf } from '../report/colour.js';
import { RecordColumns, windowOfOutput } from '../report/record-columns.js';
import { alignedColumns, colouredVerdicts } from '../report/text-display.js';

/** Columns of text that `--explain` adds for each agent: REASON, LINE, RULE, AGENT and SOURCE. */
const EXPLANATION_COLUMNS = 5;

/** The layout of the filter's lines of text on standard output, for people. */
export class FilterDisplay {
  readonly #output: ReturnType<typeof outputFormat>;
  readonly #layOut: LineLayout;
  readonly #outputName: string;

  private constructor(
    output: ReturnType<typeof outputFormat>,
    layOut: LineLayout,
    outputName: string,
  ) {
    this.#output = output;
    this.#layOut = layOut;
    this.#outputName = outputName;
  }

  /**
   * @param agents number of agents
   * @param outputName the name of standard output in messages
   * @returns undefined if all records come out as they are
   */
  static of(options: FilterOptions, agents: number, outputName: string): FilterDisplay | undefined {
    if (outputFile(options) !== undefined || outputMode(options) !== 'annotate') return undefined;
    if (!isForPeople(STANDARD_OUTPUT_DESCRIPTOR)) return undefined;
    const { explain = false, preferences = false } = options;
    if (!explain && !isColoured(STANDARD_OUTPUT_DESCRIPTOR)) return undefined;
    const paint = paintOf(STANDARD_OUTPUT_DESCRIPTOR);
    const added = (explain ? EXPLANATION_COLUMNS : 0) + (preferences ? 1 : 0);
    const layOut = explain
      ? alignedColumns(new RecordColumns(paint, windowOfOutput), agents * added)
      : colouredVerdicts(paint);
    return new FilterDisplay(outputFormat(options), layOut, outputName);
  }

  /** Where the records of an input go; undefined if they do not come out as text. */
  targetFor(format: InputFormat): OutputTarget | undefined {
    if (writtenFormat(format, this.#output) !== 'text') return undefined;
    return () => openDisplay(STANDARD_OUTPUT_DESCRIPTOR, this.#outputName, this.#layOut);
  }
}
