import { isEscape } from './bytes.js';

/** Whether a pattern in canonical form matches a canonical path. */
export type Matcher = (pattern: string, path: string) => boolean;

/**
 * Whether a pattern matches a path from its beginning (RFC 9309 sections 2.2.2 and 2.2.3): `*` is
 * any run of characters, including the empty one; a final `$` is the end; any other character is
 * itself. Keeps the set of all places in the path that the pattern read so far can have reached.
 */
export function matches(pattern: ArrayLike<string>, path: ArrayLike<string>): boolean {
  let reached = new Set([0]);
  for (let index = 0; index < pattern.length; index++) {
    const character = pattern[index];
    const next = new Set<number>();
    if (character === '*') {
      for (let place = Math.min(...reached); place <= path.length; place++) next.add(place);
    } else if (character === '$' && index === pattern.length - 1) {
      return reached.has(path.length);
    } else {
      for (const place of reached) if (path[place] === character) next.add(place + 1);
    }
    if (next.size === 0) return false;
    reached = next;
  }
  return true;
}

/** As `matches`, but with `%XX` as one character: a fault that the tests must notice. */
export function matchesWhole(pattern: string, path: string): boolean {
  return matches(withWholeEscapes(pattern), withWholeEscapes(path));
}

function withWholeEscapes(bytes: string): string[] {
  const characters: string[] = [];
  for (let index = 0; index < bytes.length; ) {
    const length = isEscape(bytes, index) ? 3 : 1;
    characters.push(bytes.slice(index, index + length));
    index += length;
  }
  return characters;
}
