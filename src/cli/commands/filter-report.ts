import { printableJson } from '../../base/control-characters.js';
import { ReplacementFile } from '../../files/replacement.js';
import { type ReportForm, reportForm } from '../options/output-options.js';
import type { FilterFigures } from '../report/filter-figures.js';

/** The report of a run. Its file is replaced when the report is complete, or not at all. */
export class FilterReport {
  readonly #form: ReportForm;
  readonly #file: ReplacementFile;

  private constructor(form: ReportForm, file: ReplacementFile) {
    this.#form = form;
    this.#file = file;
  }

  /**
   * Creates the file beside the old one, before the run.
   *
   * @throws RobotsFilterError `usage` for another ending, `output` if the file cannot be created
   */
  static async create(path: string): Promise<FilterReport> {
    const form = reportForm(path);
    return new FilterReport(form, await ReplacementFile.create(path));
  }

  /**
   * Writes the report.
   *
   * @param run the statistics of the run
   * @throws RobotsFilterError `output` if the file cannot be written; an old file then stays
   */
  async write(figures: FilterFigures, run: object): Promise<void> {
    await this.#file.write(Buffer.from(await this.#text(figures, run)));
    await this.#file.commit(false);
  }

  /** Deletes what was not completed. */
  async discard(): Promise<void> {
    await this.#file.discard();
  }

  async #text(figures: FilterFigures, run: object): Promise<string> {
    if (this.#form === 'json') return `${printableJson({ ...figures, run })}\n`;
    const { filterPage } = await import('../report/report-pages.js');
    return filterPage(figures);
  }
}
