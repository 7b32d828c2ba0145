/** Most threads that judge in one run. */
export const MAX_THREADS = 256;

/** Longest line that is judged, in bytes, unless the caller gives another limit. */
export const DEFAULT_MAX_LINE_BYTES = 16 * 1024 * 1024;

/**
 * Greatest such limit, in bytes: a longer line and its output would not fit into 4 GiB of memory.
 */
export const GREATEST_MAX_LINE_BYTES = 512 * 1024 * 1024;

/** Outputs whose names end so are Parquet. */
export const PARQUET_ENDING = '.parquet';
