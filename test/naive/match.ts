/**
 * Whether a pattern matches a path from its beginning on (RFC 9309 sections 2.2.2 and 2.2.3):
 * `*` is any run of units, the empty one too; `$` is the end where it stands last; any other is itself.
 * Keeps the set of all places in the path that the pattern read so far can have reached.
 */
export function matches(pattern: readonly string[], path: readonly string[]): boolean {
  let reached = new Set([0]);
  for (const [index, unit] of pattern.entries()) {
    const next = new Set<number>();
    if (unit === '*') {
      for (let place = Math.min(...reached); place <= path.length; place++) next.add(place);
    } else if (unit === '$' && index === pattern.length - 1) {
      return reached.has(path.length);
    } else {
      for (const place of reached) if (path[place] === unit) next.add(place + 1);
    }
    if (next.size === 0) return false;
    reached = next;
  }
  return true;
}
