import { ReplacementFile } from '../../files/replacement-file.js';
import { usageError } from '../usage-error.js';

/** Forms of a report, by the ending of its file. */
export type ReportForm = 'html' | 'json';

/**
 * The form that the name of a report asks for.
 *
 * @throws RobotsFilterError `usage` for another ending
 */
export function reportForm(path: string): ReportForm {
  const name = path.toLowerCase();
  if (name.endsWith('.html') || name.endsWith('.htm')) return 'html';
  if (name.endsWith('.json')) return 'json';
  throw usageError(
    `--report ${JSON.stringify(path)} has another ending than .html and .json. Use --report report.html, or --report report.json`,
  );
}

/**
 * Writes a report. The file is replaced when the report is complete.
 *
 * @throws RobotsFilterError `output` if the file cannot be written; an old file then stays
 */
export async function writeReport(path: string, text: string): Promise<void> {
  const file = await ReplacementFile.create(path);
  try {
    await file.write(Buffer.from(text));
    await file.commit(false);
  } finally {
    await file.discard();
  }
}
