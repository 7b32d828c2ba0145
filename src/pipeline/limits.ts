/** Maximum number of threads that judge in one run. */
export const MAX_THREADS = 256;

/** Default length of the longest line that is judged, in bytes. */
export const DEFAULT_MAX_LINE_BYTES = 16 * 1024 * 1024;

/**
 * Greatest allowed length of the longest line, in bytes. A longer line and its output would not fit
 * into 4 GiB of memory.
 */
export const GREATEST_MAX_LINE_BYTES = 512 * 1024 * 1024;

/** The ending of names of outputs that are written as Parquet. */
export const PARQUET_ENDING = '.parquet';
