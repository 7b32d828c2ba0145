/**
 * A line in flight. Lines are looked up in groups, so that their cache misses overlap; what one
 * phase finds, the next reads here. Layout of an entry, 32-bit words:
 *
 *      0 start of the line           4 its end, before the line's end octets
 *      8 its number in the batch
 *     12 outcome, or PENDING         16 start of the URL        20 its end
 *     24 start of the host           28 its octets              32 its hash
 *     36 scheme, a bit as in the table   40 port, 0 for the default
 *     44 start of path and query as they stand     48 their end, which may hold a fragment
 *     52 the bucket where the search for the host begins, then its slot, 0 if unknown
 *     56 authority entry, 0 if unknown
 *     60 robots record, 0 if unknown     64 closing brace of the object, 0 for a string
 *     68 1 if the URL's path lies in scratch memory and may be overwritten
 *     72 address of its newline, or the end of the input
 *     76 first address in the path that needs a closer look, or its end
 *     80 the list of groups that the first agent obeys, 0 for none; 84 the link of its chain that
 *     they name
 *     88 a word read for the cache's sake    92 the host's record
 */

import { WORKER_LINES } from '../layout';

export const LINE_START: usize = 0;
export const LINE_END: usize = 4;
export const LINE_NUMBER: usize = 8;
export const LINE_OUTCOME: usize = 12;
export const LINE_URL: usize = 16;
export const LINE_URL_END: usize = 20;
export const LINE_HOST: usize = 24;
export const LINE_HOST_OCTETS: usize = 28;
export const LINE_HASH: usize = 32;
export const LINE_SCHEME: usize = 36;
export const LINE_PORT: usize = 40;
export const LINE_PATH: usize = 44;
export const LINE_PATH_END: usize = 48;
export const LINE_SLOT: usize = 52;
export const LINE_AUTHORITY: usize = 56;
export const LINE_ROBOTS: usize = 60;
export const LINE_BRACE: usize = 64;
export const LINE_OWNED: usize = 68;
export const LINE_NEWLINE: usize = 72;
export const LINE_IRREGULAR: usize = 76;
export const LINE_LIST: usize = 80;
export const LINE_LINK: usize = 84;
export const LINE_TOUCHED: usize = 88;
export const LINE_RECORD: usize = 92;
export const LINE_OCTETS: usize = 96;

/** Outcome of a line whose URL is fine so far. */
export const PENDING: i32 = -1;
/** Outcome of a line without a record: nothing, or white space, stands on it. */
export const EMPTY: i32 = -2;

/** Octets set aside for the canonical host of each line in flight. */
export const HOST_SPACE: usize = 320;

/** The entry of the line with this index in its group. */
export function lineEntry(worker: usize, index: i32): usize {
  return worker + WORKER_LINES + <usize>index * LINE_OCTETS;
}
