import { Buffer } from 'node:buffer';
import { QUESTION_MARK, SLASH } from '../ascii.js';
import { DEAD, LiteralMatchers, MATCHED, statesOf } from './literal-matchers.js';
import { isAllow, type RankedRule } from './reach.js';
import { endsAt, NO_PATH, nextPlace, PATH_START, significantPlaces } from './url-path.js';

/** A rule of one list of rules, or of both. */
export interface SharedRule {
  readonly rule: RankedRule;
  /** ONE, OTHER, or both. */
  readonly lists: number;
}

export const ONE = 1;
export const OTHER = 2;
const BOTH = ONE | OTHER;

/** The search takes so many steps, and so many for each rule, up to a limit: time is linear. */
const STEPS = 1 << 18;
const STEPS_PER_RULE = 1 << 8;
const MOST_STEPS = 1 << 24;

/** The search takes no rules with more bytes in all. */
const MOST_STATES = 1 << 22;

/** Bytes that stand for those that no rule asks for: they mean nothing in a path. */
const OTHER_BYTES = Buffer.from(
  "xyzqwvkjugrstlnmhiopXYZQWVKJUGRSTLNMHIOP-_~!&'()+,;:=@[]abcdefABCDEF0123456789",
);

const SLASH_AND_DOT = Buffer.from('/.');

/** Paths on which two lists of rules disagree. */
export interface FoundPaths {
  readonly paths: readonly string[];
  /** Whether every path was tried, so that the lists agree if `paths` is empty. */
  readonly isComplete: boolean;
}

/** What decides on some paths, and on whatever they go on with. */
interface Junction {
  /** The states of rules that may still decide, in the order of the rules: 4 × state + lists. */
  readonly open: readonly number[];
  /** The lists in which the path is allowed if none of these decides. */
  readonly allowing: number;
  /** As of url-path.ts; PATH_START in the google profile, which takes any path. */
  readonly place: number;
  /** The shortest of the paths: a byte after another path. */
  readonly parent: Junction | undefined;
  readonly byte: number;
}

/**
 * Searches for paths on which two lists of rules disagree, shortest first, by following both lists
 * byte by byte. Paths after which every rule has come as far are followed once. A rule is dropped
 * as soon as it cannot change the verdict, and a path as soon as the lists must agree on whatever
 * follows. So a search that comes to its end without a path proves that there is none.
 */
export class PathSearch {
  readonly #rules: readonly SharedRule[];
  readonly #google: boolean;
  readonly #matchers: LiteralMatchers;
  readonly #isAllow: readonly boolean[];
  readonly #significant: number;
  /** Whether a path must be followed into the query, where dot segments stay. */
  readonly #needsQuery: boolean;
  readonly #marks = new Uint8Array(256);
  #steps: number;
  /** Whether no path has been left out so far. */
  #isComplete: boolean;

  /**
   * @param rules the one that wins first
   * @param google whether the rules are for the google profile
   */
  constructor(rules: readonly SharedRule[], google: boolean) {
    const ranked = rules.map(({ rule }) => rule);
    const literals = ranked.flatMap(({ readings }) =>
      readings.flatMap(({ prefix, segments }) => [prefix, ...segments]),
    );
    this.#rules = rules;
    this.#google = google;
    this.#matchers = new LiteralMatchers(ranked);
    this.#isAllow = ranked.map(isAllow);
    this.#significant = significantPlaces(literals);
    this.#needsQuery =
      !google && literals.some((literal) => Buffer.from(literal).includes(SLASH_AND_DOT));
    this.#steps = Math.min(STEPS + STEPS_PER_RULE * rules.length, MOST_STEPS);
    this.#isComplete = ranked.every(({ isWhole }) => isWhole);
  }

  /** Whether some rules can be searched. */
  static accepts(rules: readonly SharedRule[]): boolean {
    return statesOf(rules.map(({ rule }) => rule)) <= MOST_STATES;
  }

  /** Finds at most so many paths. */
  find(most: number): FoundPaths {
    const paths: string[] = [];
    const start = this.#start();
    const queue = start === undefined ? [] : [start];
    const seen = new Set<string>(queue.map(keyOf));
    for (const junction of queue) {
      if (this.#disagreesAt(junction)) {
        paths.push(pathTo(junction));
        if (paths.length === most) break;
      }
      const bytes = this.#bytesAfter(junction);
      for (const byte of bytes) {
        const next = this.#after(junction, byte);
        if (this.#steps <= 0) return { paths, isComplete: false };
        if (next === undefined) continue;
        const key = keyOf(next);
        if (seen.has(key)) continue;
        seen.add(key);
        queue.push(next);
      }
    }
    return { paths, isComplete: this.#isComplete };
  }

  /** The junction of `/`. */
  #start(): Junction | undefined {
    const open: number[] = [];
    let matched = 0;
    let allowing = BOTH;
    this.#rules.forEach(({ rule, lists }, owner) => {
      for (const reading of rule.readings) {
        const state = this.#matchers.add(reading, owner);
        const left = lists & ~matched;
        if (left === 0) continue;
        if (state === MATCHED) {
          allowing = isAllow(rule) ? allowing | left : allowing & ~left;
          matched |= left;
        } else {
          open.push(4 * state + left);
        }
      }
    });
    const root = { open, allowing, place: PATH_START, parent: undefined, byte: 0 };
    const start = this.#follow(root, SLASH, PATH_START & this.#significant);
    return start && { ...start, parent: undefined };
  }

  #after(junction: Junction, byte: number): Junction | undefined {
    if (this.#google) return this.#follow(junction, byte, PATH_START);
    const place = nextPlace(junction.place, byte);
    return place === NO_PATH ? undefined : this.#follow(junction, byte, place & this.#significant);
  }

  /** Follows the rules over a byte; `undefined` if the lists agree on whatever follows. */
  #follow(from: Junction, byte: number, place: number): Junction | undefined {
    const open: number[] = [];
    let { allowing } = from;
    let matched = 0;
    this.#steps -= from.open.length + 1;
    for (const each of from.open) {
      const lists = each & BOTH & ~matched;
      if (lists === 0) continue;
      const state = this.#matchers.step(each >> 2, byte);
      if (state === DEAD) continue;
      if (state === MATCHED) {
        // No rule after this one decides any more.
        allowing = this.#allows(each) ? allowing | lists : allowing & ~lists;
        matched |= lists;
        if (matched === BOTH) break;
      } else {
        open.push(4 * state + lists);
      }
    }
    this.#dropIdle(open, allowing);
    const agrees = allowing === 0 || allowing === BOTH;
    if (agrees && open.every((each) => (each & BOTH) === BOTH)) return undefined;
    return { open, allowing, place, parent: from, byte };
  }

  /** Drops the last rules of each list that say what is said without them. */
  #dropIdle(open: number[], allowing: number): void {
    let idle = BOTH;
    for (let index = open.length - 1; index >= 0 && idle !== 0; index--) {
      const each = open[index] as number;
      const same = this.#allows(each) ? allowing : ~allowing;
      open[index] = each & ~(idle & same);
      idle &= ~(each & BOTH & ~same);
    }
    let kept = 0;
    for (const each of open) if ((each & BOTH) !== 0) open[kept++] = each;
    open.length = kept;
  }

  #allows(open: number): boolean {
    return this.#isAllow[this.#matchers.owners[open >> 2] as number] === true;
  }

  /** Whether the lists disagree on the path that ends here. */
  #disagreesAt({ open, allowing, place }: Junction): boolean {
    if (!this.#google && !endsAt(place)) return false;
    let verdicts = allowing;
    let decided = 0;
    for (const each of open) {
      if (!this.#matchers.endsAt(each >> 2)) continue;
      const lists = each & BOTH & ~decided;
      verdicts = this.#allows(each) ? verdicts | lists : verdicts & ~lists;
      decided |= lists;
    }
    return verdicts === ONE || verdicts === OTHER;
  }

  /** The bytes that some rule asks for, and one that none does. */
  #bytesAfter({ open }: Junction): readonly number[] {
    const marks = this.#marks.fill(0);
    for (const each of open) this.#steps -= this.#matchers.mark(each >> 2, marks);
    if (this.#needsQuery) marks[QUESTION_MARK] = 1;
    const bytes: number[] = [];
    const other = OTHER_BYTES.find((byte) => marks[byte] === 0);
    if (other === undefined) this.#isComplete = false;
    else bytes.push(other);
    for (let byte = 1; byte < marks.length; byte++) if (marks[byte] === 1) bytes.push(byte);
    return bytes;
  }
}

/** The same text for junctions with the same continuations. */
function keyOf({ open, allowing, place }: Junction): string {
  const { buffer } = Int32Array.from(open);
  return `${allowing} ${place} ${Buffer.from(buffer).toString('latin1')}`;
}

function pathTo(end: Junction): string {
  const bytes: number[] = [];
  for (let at: Junction | undefined = end; at !== undefined; at = at.parent) bytes.push(at.byte);
  return Buffer.from(bytes.reverse()).toString('latin1');
}
