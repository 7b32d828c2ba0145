import type { Compression } from './compression.js';
import { TrailingBytesError } from './gunzip.js';
import { errorText } from './system-error.js';
import { UnsupportedZstdError } from './zstd/frame-scanner.js';

/** What is wrong with compressed data, in the words of a message. */
export interface CompressionFault {
  /** What was found: `the gzip data is damaged or truncated (…)`. */
  readonly what: string;
  /** What to do, if another copy of the data would not help. */
  readonly remedy: string | undefined;
}

/** Describes an error that `Compression.isDamage` accepts. */
export function compressionFault(
  { name, command }: Pick<Compression, 'name' | 'command'>,
  error: unknown,
): CompressionFault {
  if (error instanceof TrailingBytesError) {
    return { what: error.message, remedy: `Drop them: ${command} FILE prints what comes before` };
  }
  if (error instanceof UnsupportedZstdError) {
    return { what: `the zstd data is not supported: ${error.message}`, remedy: error.remedy };
  }
  return {
    what: `the ${name} data is damaged or truncated (${errorText(error)})`,
    remedy: undefined,
  };
}
