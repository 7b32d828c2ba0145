import { ASTERISK, DOLLAR } from '../ascii.js';
import type { Rule } from '../protocol/robots-file.js';
import { isWholeText } from '../table/display-text.js';
import { AutomatonView } from './automaton-view.js';
import type { MergedGroup, TablePattern } from './table-content.js';
import type { TableView } from './table-view.js';
import { MAX_PATTERN_BYTES } from './verify/limits.js';

const encoder = new TextEncoder();

/**
 * The rules of a group in the order of the file, with patterns to match with. A table keeps texts
 * for display: where a text lacks bytes of its pattern, the rule has the canonical pattern.
 */
export function groupRules(view: TableView, group: MergedGroup): Rule[] {
  let patterns: ReadonlyMap<string, TablePattern> | undefined;
  let left = MAX_PATTERN_BYTES;
  return view.rules(group).map(({ allow, text, bytes, line }) => {
    const written = JSON.parse(`"${text}"`) as string;
    if (isWholeText(written)) return { allow, pattern: encoder.encode(written), line };
    patterns ??= patternsOf(view, group);
    left -= bytes;
    const pattern = patterns.get(keyOf(line, 2 * bytes + (allow ? 1 : 0)));
    if (pattern === undefined || bytes < literalBytes(pattern) || left < 0) {
      throw view.reader.damaged(`the rule on line ${line} has no pattern`);
    }
    return { allow, pattern: canonicalPattern(pattern), line };
  });
}

/** Identifies a rule: in the google profile, a line may have two rules of different rank. */
function keyOf(line: number, rank: number): string {
  return `${line} ${rank}`;
}

/** The canonical patterns of a group's rules, by key. */
function patternsOf(view: TableView, { groups }: MergedGroup): ReadonlyMap<string, TablePattern> {
  const patterns = new Map<string, TablePattern>();
  for (const { automaton, firstLine } of groups) {
    if (automaton === 0) continue;
    for (const pattern of new AutomatonView(view.reader, automaton).patterns()) {
      patterns.set(keyOf(firstLine + pattern.line, pattern.rank), pattern);
    }
  }
  return patterns;
}

/** Length of the literals of a pattern, with the `*` before each segment and the final `$`. */
function literalBytes({ prefix, first, isEnd }: TablePattern): number {
  const start = prefix.length + (isEnd ? 1 : 0);
  return first.reduce((sum, segment) => sum + 1 + segment.length, start);
}

/**
 * Writes a canonical pattern. A pattern with some `*` side by side, or at its end, is longer than
 * its literals. These `*` are written where they change no match: after the prefix if the pattern
 * ends in `$`, else at the end.
 */
function canonicalPattern(pattern: TablePattern): Uint8Array {
  const { rank, prefix, first, isEnd } = pattern;
  const bytes = new Uint8Array(rank >>> 1).fill(ASTERISK);
  bytes.set(prefix);
  let at = prefix.length;
  if (isEnd) {
    at += bytes.length - literalBytes(pattern);
    bytes[bytes.length - 1] = DOLLAR;
  }
  for (const segment of first) {
    bytes.set(segment, at + 1);
    at += 1 + segment.length;
  }
  return bytes;
}
