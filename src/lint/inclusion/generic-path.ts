import { SLASH } from '../../ascii.js';
import type { Pattern } from '../../compile/automaton/pattern.js';

/**
 * A byte that stands for all bytes that no pattern holds: canonical patterns hold no bytes outside
 * ASCII.
 */
export const OTHER_BYTE = 0xff;

/**
 * Paths of a pattern that stand for all of its paths: a rule matches all paths of the pattern if it
 * matches these, and misses some if it misses one of these.
 *
 * The generic path of a pattern that begins with `/` has OTHER_BYTE for each `*`, and at its end
 * unless `$` ends the pattern. Literals hold no such byte. So if a rule matches the generic path,
 * each of its literals lies within a literal of the pattern, in the same order; the first one at
 * the start, and one before a `$` at the end. Every path of the pattern holds its literals in this
 * order, so the rule matches it too.
 *
 * A pattern that begins with `*` matches a path in which its next literal stands anywhere, also at
 * the start. As all paths begin with `/`, that is two patterns: one that begins with `/*`, and, if
 * the literal begins with `/`, one without the first `*`. Each has its generic path.
 */
export function genericPaths({ prefix, segments, anchored }: Pattern): number[][] {
  const literals = segments.map(({ first }) => first);
  const [first, ...others] = literals;
  if (prefix.length > 0) return [genericPath([prefix, ...literals], anchored)];
  const anywhere = genericPath([[SLASH], ...literals], anchored);
  if (first?.[0] !== SLASH) return [anywhere];
  return [anywhere, genericPath([first, ...others], anchored)];
}

function genericPath(literals: readonly ArrayLike<number>[], anchored: boolean): number[] {
  const path: number[] = [];
  literals.forEach((literal, index) => {
    if (index > 0) path.push(OTHER_BYTE);
    for (let at = 0; at < literal.length; at++) path.push(literal[at] as number);
  });
  if (!anchored) path.push(OTHER_BYTE);
  return path;
}
