import { ReplacementFile } from '../../files/replacement-file.js';

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
