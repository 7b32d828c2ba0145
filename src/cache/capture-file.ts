import { COMPRESSION_ENDINGS } from '../files/compressions.js';
import { isBlankLine, linesOf, splitBlocks } from '../files/lines.js';
import type { Capture } from '../warc/captures.js';
import { parseCaptureLine } from './capture-lines.js';
import type { CacheOptions, WarningEvent } from './entry.js';
import { hasEnding } from './layout.js';
import { readText } from './ndjson-file.js';

/** Maximum length of a line, in bytes: the longest body in base64, and its other members. */
const LONGEST_LINE = 128 * 1024 * 1024;

/** The name endings of files of captures. */
export const CAPTURE_FILE_ENDINGS = COMPRESSION_ENDINGS.map(
  (ending) => `.captures.ndjson${ending}`,
);

/** Whether a name is that of a file of captures, which `robots-filter captures` wrote. */
export function isCaptureFile(name: string): boolean {
  return CAPTURE_FILE_ENDINGS.some((ending) => hasEnding(name, ending));
}

/**
 * Passes on the captures of a file of captures.
 *
 * @param path the path for messages
 * @throws RobotsFilterError `input` if the file cannot be read to its end
 */
export async function readCaptureFile(
  descriptor: number,
  path: string,
  { asOf = Number.POSITIVE_INFINITY, maxBodyBytes }: CacheOptions,
  onEvent: (event: { kind: 'capture'; capture: Capture } | WarningEvent) => void,
): Promise<void> {
  const warn = (line: number, reason: string): void => {
    const message = `${reason}; skipped.`;
    onEvent({ kind: 'warning', warning: { code: 'bad-record', path, line, message } });
  };
  for await (const block of splitBlocks(readText(descriptor, path), LONGEST_LINE)) {
    for (const { number, bytes } of linesOf(block, LONGEST_LINE)) {
      if (bytes === undefined) {
        warn(number, 'The line is longer than 128 MiB');
        continue;
      }
      if (isBlankLine(bytes)) continue;
      const capture = parseCaptureLine(bytes);
      if (typeof capture === 'string') warn(number, capture);
      else if (capture !== undefined && Math.floor(capture.date) <= asOf) {
        onEvent({ kind: 'capture', capture: shortened(capture, maxBodyBytes) });
      }
    }
  }
}

/** The capture with as much of its body as counts, and one byte more if the body is longer. */
function shortened(capture: Capture, maxBodyBytes: number): Capture {
  const { outcome } = capture;
  if (outcome.kind !== 'body' || outcome.body.length <= maxBodyBytes) return capture;
  const body = outcome.body.subarray(0, maxBodyBytes + 1);
  return { ...capture, outcome: { ...outcome, body } };
}
