import type { Random } from '../random/random.js';
import { ENCODED, ESCAPED_DELIMITERS, INDEXES, piece, respelt, words } from './pieces.js';

const BARE = ['', '', ...words('/ * /* /$ *$ $ a %2Fa')];
const STARTS = words('/ / / / / / / / * /* x %2F');
const HEAVY = words('*a *b **a *aa');

/** A rule's pattern: a new pattern, or one similar to the existing patterns of the file. */
export function hostilePattern(random: Random, patterns: readonly string[]): string {
  if (patterns.length > 0 && random.chance(0.35)) return akin(random, random.pick(patterns));
  if (random.chance(0.04)) return random.pick(BARE);
  if (random.chance(0.03)) {
    return `/${random.run(HEAVY, 3, 12)}${random.pick(['', '$', '*', 'b$'])}`;
  }
  // A counterweight: matches everything, and has any length.
  if (random.chance(0.05)) return `/${'*'.repeat(random.between(1, 14))}`;
  if (random.chance(0.12)) return noteAPattern(random);
  if (random.chance(0.12)) return partedPattern(random);
  if (random.chance(0.06)) return random.pick(words('/ /* */ /a/')) + random.pick(INDEXES);

  let pattern = random.pick(STARTS);
  const starred = random.chance(0.4);
  for (let count = random.pick([0, 1, 1, 2, 2, 3, 4, 6]); count > 0; count--) {
    pattern += piece(random);
    if (starred && random.chance(0.4)) pattern += random.pick(words('* * * ** ***'));
  }
  return pattern + (random.chance(0.2) ? random.pick(words('$ $ $ $$ *$')) : '');
}

/**
 * A pattern in which a `*` may have matched the `?` that makes delimiters equal (docs/verdicts.md,
 * note A).
 */
function noteAPattern(random: Random): string {
  const around = ['', '', ...words('a u= * & b* ? / %3a %26')];
  const start = random.pick(['', ...words('/ / /a /%2F /:')]);
  const before = random.run(around, 0, 2);
  const after = random.run([...around, ...ESCAPED_DELIMITERS], 0, 2);
  const end = random.chance(0.25) ? '$' : '';
  return `${start}*${before}${random.pick(ESCAPED_DELIMITERS)}${after}${end}`;
}

/** A pattern that ends, or has a `*`, within an encoded byte. */
function partedPattern(random: Random): string {
  const start =
    random.pick(words('/ / / /* /a /a* /? /*/ *')) + random.pick(['', '', piece(random)]);
  const [one, other] = [random.pick(ENCODED), random.pick(ENCODED)];
  const head = one.slice(0, random.between(1, one.length - 1));
  const tail = other.slice(random.between(1, other.length - 1));
  const end = random.pick(['', '', ...words('$ * a %20')]);
  switch (random.between(0, 4)) {
    case 0:
    case 1:
      return start + head + random.pick(['', '', '', ...words('$ * *$')]);
    case 2:
      return `${start}*${tail}${end}`;
    case 3:
      return `${start}${head}*${tail}${end}`;
    default:
      // The two parts of one byte.
      return `${start}${head}*${one.slice(head.length)}${end}`;
  }
}

/** A pattern of about the same weight as another, which matches about the same paths. */
function akin(random: Random, pattern: string): string {
  const place = random.between(0, pattern.length);
  const before = pattern.slice(0, place);
  switch (random.between(0, 6)) {
    case 0:
      return pattern;
    case 1:
      return respelt(random, pattern);
    case 2:
      return `${before}*${pattern.slice(place + 1)}`;
    case 3:
      return pattern + random.pick(words('$ * a / ?'));
    case 4:
      return before;
    case 5:
      // Matches the same paths as the other pattern, and weighs a little more.
      return pattern.includes('*')
        ? pattern.replace('*', '*'.repeat(random.between(2, 4)))
        : before;
    default:
      return before + piece(random) + pattern.slice(place);
  }
}
