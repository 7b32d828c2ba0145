import { isatty } from 'node:tty';
import { LONGEST_BODY } from '../../cache/file.js';
import { describeArc } from '../../cache/file-chunks.js';
import { RobotsFilterError } from '../../errors.js';
import { readWhole } from '../../files/openings.js';
import { inputName, STANDARD_INPUT } from '../../files/standard-input.js';
import { describeSystemError, errorCode } from '../../files/system-error.js';
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
 * @throws RobotsFilterError `input` if the file cannot be read, or is an ARC file
 */
export async function readRobotsFile(
  file: string,
  command: keyof typeof ARGUMENTS,
  diagnostics = new Diagnostics(false),
): Promise<Uint8Array> {
  const body = await bytesOf(file, command, diagnostics);
  async function* chunks(): AsyncGenerator<Buffer> {
    if (body.length > 0) yield body;
  }
  const arc = await describeArc(chunks());
  if (arc !== undefined) throw new RobotsFilterError('input', `${inputName(file)}: ${arc}`);
  return body;
}

async function bytesOf(
  file: string,
  command: keyof typeof ARGUMENTS,
  diagnostics: Diagnostics,
): Promise<Buffer> {
  if (file === STANDARD_INPUT) {
    if (isatty(0))
      diagnostics.note('reading a robots.txt from standard input; press Ctrl-D to end');
    const { chunks } = await openRawPath(file);
    const pieces: Buffer[] = [];
    let bytes = 0;
    for await (const piece of chunks.stream() as AsyncIterable<Buffer>) {
      bytes += piece.length;
      if (bytes > LONGEST_BODY) throw tooLong(inputName(file));
      pieces.push(piece);
    }
    return Buffer.concat(pieces);
  }
  let body: Buffer | undefined;
  try {
    body = await readWhole(file, LONGEST_BODY);
  } catch (cause) {
    const remedy = remedyFor(file, command, cause);
    throw new RobotsFilterError('input', `${file}: ${remedy}`, { cause });
  }
  if (body === undefined) throw tooLong(file);
  return body;
}

function tooLong(name: string): RobotsFilterError {
  return new RobotsFilterError('input', `${name}: longer than 1 GiB. Name a robots.txt.`);
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
      return `cannot be read (${describeSystemError(cause)}). Make it readable, or pipe it in and name it -.`;
  }
}
