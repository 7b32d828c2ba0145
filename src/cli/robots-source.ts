import { open, stat } from 'node:fs/promises';
import { HEADER_VERSION, MAGIC_HIGH, MAGIC_LOW } from '../compile/format.js';
import { RobotsFilterError } from '../errors.js';
import { isRecordsName } from '../pipeline/cache/layout.js';

/** What a path that was given in the wrong place is likely meant for. */
export type LikelyPurpose = 'robots-directory' | 'table' | 'records';

/** What the file at a path could be, beside a list of URLs. */
export async function likelyPurpose(path: string): Promise<LikelyPurpose | undefined> {
  try {
    if ((await stat(path)).isDirectory()) return 'robots-directory';
    if (await beginsAsTable(path)) return 'table';
    return isRecordsName(path) ? 'records' : undefined;
  } catch {
    return undefined; // whoever opens it says why that fails
  }
}

async function beginsAsTable(path: string): Promise<boolean> {
  const file = await open(path, 'r');
  try {
    const head = Buffer.alloc(HEADER_VERSION);
    await file.read(head, 0, head.length, 0);
    return head.readUInt32LE(0) === MAGIC_LOW && head.readUInt32LE(4) === MAGIC_HIGH;
  } finally {
    await file.close();
  }
}

/** The error for a filter that was given no robots.txt: it says what to type, as far as the files tell. */
export async function noRobotsError(files: readonly string[]): Promise<RobotsFilterError> {
  for (const file of files) {
    const purpose = await likelyPurpose(file);
    if (purpose === undefined || purpose === 'records') continue;
    const others = files.filter((other) => other !== file);
    const rest = others.length === 0 ? '[files...]' : others.join(' ');
    return purpose === 'table'
      ? usage(`${file} is a table. Type: robots-filter --table ${file} ${rest}`)
      : usage(
          `${file} is a directory. If it holds robots.txt files, type: robots-filter --robots-dir ${file} ${rest}`,
        );
  }
  const rest = files.length === 0 ? '[files...]' : files.join(' ');
  return usage(
    `no robots.txt files are given to decide by. Type one of\n` +
      `  robots-filter --robots-dir DIR ${rest}\n` +
      `  robots-filter --table FILE ${rest}    (robots-filter compile --robots-dir DIR -o FILE writes it)`,
  );
}

function usage(message: string): RobotsFilterError {
  return new RobotsFilterError('usage', message);
}
