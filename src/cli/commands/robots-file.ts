import { readFile } from 'node:fs/promises';
import { isatty } from 'node:tty';
import { RobotsFilterError } from '../../errors.js';
import { STANDARD_INPUT } from '../../files/standard-input.js';
import { errorCode, errorText } from '../../files/system-error.js';
import { openRawPath } from '../../pipeline/input/raw-input.js';
import { Diagnostics } from '../report/diagnostics.js';

/** How each command that reads one robots.txt is called, after its name. */
const ARGUMENTS = { check: '- AGENT URL...', lint: '-', records: '-' } as const;

const SPELLING = 'Check the spelling and the working directory.';

/** Advice if there is no file of that name. */
const MISSING = {
  check: 'The robots.txt comes first, then the agent, then the URLs.',
  lint: SPELLING,
  records: SPELLING,
};

/**
 * Reads a robots.txt from a file or standard input.
 *
 * @throws RobotsFilterError `input`
 */
export async function readRobotsFile(
  file: string,
  command: keyof typeof ARGUMENTS,
  diagnostics = new Diagnostics(false),
): Promise<Uint8Array> {
  if (file === STANDARD_INPUT) {
    if (isatty(0))
      diagnostics.note('reading a robots.txt from standard input; press Ctrl-D to end');
    const { chunks } = await openRawPath(file);
    return Buffer.concat(await chunks.stream().toArray());
  }
  try {
    return await readFile(file);
  } catch (cause) {
    const remedy = remedyFor(file, command, cause);
    throw new RobotsFilterError('input', `${file}: ${remedy}`, { cause });
  }
}

function remedyFor(file: string, command: keyof typeof ARGUMENTS, cause: unknown): string {
  if (file.startsWith('http://') || file.startsWith('https://')) {
    return `${command} does not fetch. Type: curl -s ${file} | robots-filter ${command} ${ARGUMENTS[command]}`;
  }
  switch (errorCode(cause)) {
    case 'ENOENT':
    case 'ENOTDIR':
      return `no such file. ${MISSING[command]}`;
    case 'EISDIR':
      return 'is a directory. Name the robots.txt in it.';
    default:
      return `cannot be read (${errorText(cause)}). Make it readable, or pipe it in and name it -.`;
  }
}
