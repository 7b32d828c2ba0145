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
