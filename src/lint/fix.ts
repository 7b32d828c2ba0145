import type { LintReport } from './lint.js';

/** A body after its safe edits. */
export interface FixedBody {
  readonly body: Uint8Array;
  /** Number of edits that were made. */
  readonly edits: number;
}

/**
 * Makes the safe edits of a report: no verdict of the `rfc9309` profile changes by them. Of edits
 * that overlap the first is made. A file in UTF-16, and one
 * of which only the beginning counts, are left as they are.
 *
 * @param body the body that the report is about
 */
export function fixBody(body: Uint8Array, { document, edits }: LintReport): FixedBody {
  if (document.utf16 || document.ignoredBytes > 0) return { body, edits: 0 };
  const sorted = [...edits].sort((a, b) => a.start - b.start || b.end - a.end);
  const pieces: Uint8Array[] = [];
  let kept = 0;
  let count = 0;
  for (const { start, end, text } of sorted) {
    if (start < kept) continue;
    pieces.push(body.subarray(kept, start), Buffer.from(text));
    kept = end;
    count++;
  }
  pieces.push(body.subarray(kept));
  return { body: Buffer.concat(pieces), edits: count };
}
