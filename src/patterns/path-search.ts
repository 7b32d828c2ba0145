/**
 * Searches paths of URLs, shortest first, by following several lists of rules byte by byte.
 *
 * A search that comes to its end has tried every path: what it did not find is nowhere.
 */

import { Buffer } from 'node:buffer';
import { DELETE, DOT, QUESTION_MARK, SLASH, SPACE } from '../base/ascii.js';
import {
  DEAD,
  isAllow,
  languageOf,
  MATCHED,
  type PatternAutomaton,
  type RankedRule,
} from './rules.js';

/** A rule of some lists: list `i` has it if bit `i` of `lists` is 1. */
export interface SharedRule {
  readonly rule: RankedRule;
  readonly lists: number;
}

/** What is sought by several lists of rules, of which each allows a path or denies it. */
export interface PathQuestion {
  /** The rules of each list. */
  readonly lists: readonly (readonly RankedRule[])[];
  /** Rules that win over all others. */
  readonly first: readonly SharedRule[];
  /** The lists that allow what none of their rules matches: list `i` has bit `i`. */
  readonly unmatched: number;
  /**
   * If it is sought where the second half of the lists answers otherwise than the first half: the
   * lists of a half on which its answer depends. Otherwise 0.
   */
  readonly compared: number;
  /** Whether a path is sought which exactly these lists allow. */
  isSought(allowing: number): boolean;
  /**
   * Whether a path that is sought may begin with a path which exactly these lists allow, while
   * those of `undecided` may say otherwise of what follows.
   */
  mayFollow(allowing: number, undecided: number): boolean;
}

/** Paths that were found. */
export interface FoundPaths {
  readonly paths: readonly string[];
  /** Whether every path was tried, so that there is no other. */
  readonly isComplete: boolean;
}

/** The rules of several lists, each once, the one that wins first. */
export function sharedRules(lists: readonly (readonly RankedRule[])[]): SharedRule[] {
  const shared = new Map<string, SharedRule>();
  lists.forEach((rules, index) => {
    for (const rule of rules) {
      const key = `${rule.rank} ${languageOf(rule)}`;
      const known = shared.get(key) ?? { rule, lists: 0 };
      shared.set(key, { ...known, lists: known.lists | (1 << index) });
    }
  });
  return [...shared.values()].sort((a, b) => b.rule.rank - a.rule.rank);
}

/** The search takes so many steps, and so many for each rule, up to a limit: time is linear. */
const STEPS = 1 << 18;
const STEPS_PER_RULE = 1 << 8;
const MOST_STEPS = 1 << 24;

/** The search takes no rules with more bytes in all. */
const MOST_STATES = 1 << 22;

/** Binary logarithm of the numbers below which an integer is small in V8. */
const SMALL_BITS = 30;

/** Bytes that stand for those that no rule asks for: they mean nothing in a path. */
const OTHER_BYTES = Buffer.from(
  "xyzqwvkjugrstlnmhiopXYZQWVKJUGRSTLNMHIOP-_~!&'()+,;:=@[]abcdefABCDEF0123456789",
);

const SLASH_AND_DOT = Buffer.from('/.');

/** A pattern of a rule. Its states are numbered from `first` among those of all patterns. */
interface SearchedPattern {
  readonly automaton: PatternAutomaton;
  readonly first: number;
  readonly isAllow: boolean;
  /** The lists that have the rule. */
  readonly lists: number;
}

/** What decides on some paths, and on whatever they go on with. */
interface Junction {
  /** The states of rules that may still decide, in the order of the rules, with their lists. */
  readonly open: readonly number[];
  /** The lists in which the path is allowed if none of these decides. */
  readonly allowing: number;
  /** The lists in which one of these would decide otherwise. */
  readonly undecided: number;
  /** Where in a URL the path goes on: PATH_START in the google profile, which takes any path. */
  readonly place: number;
  /** The shortest of the paths: a byte after another path. */
  readonly parent: Junction | undefined;
  readonly byte: number;
}

/**
 * Searches for paths, shortest first, by following all lists byte by byte. Paths after which every
 * rule has come as far are followed once. A rule is dropped as soon as it cannot change the
 * verdict, and a path as soon as no path that is sought can follow.
 */
export class PathSearch {
  readonly #question: PathQuestion;
  readonly #google: boolean;
  readonly #searched: readonly SearchedPattern[];
  /** By state, the index of its pattern. */
  readonly #owners: Int32Array;
  /** An open state has a bit for each list below it. */
  readonly #shift: number;
  /** All lists. */
  readonly #all: number;
  readonly #significant: number;
  /** Whether a path must be followed into the query, where dot segments stay. */
  readonly #needsQuery: boolean;
  readonly #marks = new Uint8Array(256);
  readonly #budget: { left: number };
  /** Whether no path has been left out so far. */
  #isComplete: boolean;

  private constructor(question: PathQuestion, rules: readonly SharedRule[], google: boolean) {
    const literals = rules.flatMap(({ rule }) =>
      rule.patterns.flatMap(({ prefix, segments }) => [prefix, ...segments]),
    );
    this.#question = question;
    this.#google = google;
    this.#shift = question.lists.length;
    this.#all = (1 << this.#shift) - 1;
    const searched: SearchedPattern[] = [];
    let states = 0;
    for (const { rule, lists } of rules) {
      for (const { automaton, states: own } of rule.patterns) {
        searched.push({ automaton, first: states, isAllow: isAllow(rule), lists });
        states += own;
      }
    }
    this.#searched = searched;
    this.#owners = new Int32Array(states);
    for (const [index, { first }] of searched.entries()) this.#owners.fill(index, first);
    this.#significant = significantPlaces(literals);
    this.#needsQuery =
      !google && literals.some((literal) => Buffer.from(literal).includes(SLASH_AND_DOT));
    this.#budget = { left: Math.min(STEPS + STEPS_PER_RULE * rules.length, MOST_STEPS) };
    this.#isComplete = rules.every(({ rule }) => rule.isWhole);
  }

  /**
   * Finds at most so many paths, as rules see them.
   *
   * @param rules those of the lists of the question, without `first`; the one that wins first
   * @param google whether the rules are for the google profile
   */
  static find(
    question: PathQuestion,
    rules: readonly SharedRule[],
    google: boolean,
    most: number,
  ): FoundPaths {
    const all = [...question.first, ...rules];
    const patterns = all.flatMap(({ rule }) => rule.patterns);
    const states = patterns.reduce((sum, { states }) => sum + states, 0);
    if (states > Math.min(MOST_STATES, 2 ** (SMALL_BITS - question.lists.length))) {
      return { paths: [], isComplete: false };
    }
    return new PathSearch(question, all, google).#find(most);
  }

  #find(most: number): FoundPaths {
    const question = this.#question;
    const paths: string[] = [];
    const start = this.#start();
    const queue = start === undefined ? [] : [start];
    const seen = new Set<string>(queue.map(keyOf));
    for (const junction of queue) {
      const verdicts = this.#verdictsAt(junction);
      if (verdicts !== undefined && question.isSought(verdicts)) {
        paths.push(pathTo(junction));
        if (paths.length === most) break;
      }
      // What was found meanwhile may not be sought any more.
      if (!question.mayFollow(junction.allowing, junction.undecided)) continue;
      const bytes = this.#bytesAfter(junction);
      for (const byte of bytes) {
        const next = this.#after(junction, byte);
        if (this.#budget.left <= 0) return { paths, isComplete: false };
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
    let allowing = this.#question.unmatched;
    for (const { automaton, first, isAllow, lists } of this.#searched) {
      const left = lists & ~matched;
      if (left === 0) continue;
      if (automaton.start === MATCHED) {
        allowing = isAllow ? allowing | left : allowing & ~left;
        matched |= left;
      } else {
        open.push(this.#opened(first + automaton.start, left));
      }
    }
    const root = {
      open,
      allowing,
      undecided: this.#all,
      place: PATH_START,
      parent: undefined,
      byte: 0,
    };
    const start = this.#follow(root, SLASH, PATH_START & this.#significant);
    return start && { ...start, parent: undefined };
  }

  #opened(state: number, lists: number): number {
    return (state << this.#shift) + lists;
  }

  #after(junction: Junction, byte: number): Junction | undefined {
    if (this.#google) return this.#follow(junction, byte, PATH_START);
    const place = nextPlace(junction.place, byte);
    return place === NO_PATH ? undefined : this.#follow(junction, byte, place & this.#significant);
  }

  /** Follows the rules over a byte; `undefined` if nothing that is sought can follow. */
  #follow(from: Junction, byte: number, place: number): Junction | undefined {
    const all = this.#all;
    const open: number[] = [];
    let { allowing } = from;
    let matched = 0;
    this.#budget.left--;
    for (const each of from.open) {
      const lists = each & all & ~matched;
      if (lists === 0) {
        this.#budget.left--;
        continue;
      }
      const { automaton, first, isAllow } = this.#ownerOf(each);
      const state = automaton.step((each >> this.#shift) - first, byte, this.#budget);
      if (state === DEAD) continue;
      if (state === MATCHED) {
        // No rule after this one decides any more.
        allowing = isAllow ? allowing | lists : allowing & ~lists;
        matched |= lists;
        if (matched === all) break;
      } else {
        open.push(this.#opened(first + state, lists));
      }
    }
    const undecided = this.#dropIdle(open, allowing);
    const { compared } = this.#question;
    if (compared !== 0 && this.#areHalvesAlike(open, allowing, compared)) return undefined;
    if (!this.#question.mayFollow(allowing, undecided)) return undefined;
    return { open, allowing, undecided, place, parent: from, byte };
  }

  /** Whether both halves of the lists answer the same, whatever follows. */
  #areHalvesAlike(open: readonly number[], allowing: number, compared: number): boolean {
    const half = this.#shift >> 1;
    const isAlike = (lists: number): boolean => ((lists ^ (lists >> half)) & compared) === 0;
    return isAlike(allowing) && open.every((each) => isAlike(each & this.#all));
  }

  /**
   * Drops the last rules of each list that say what is said without them.
   *
   * @returns the lists in which a rule that is left says otherwise
   */
  #dropIdle(open: number[], allowing: number): number {
    const all = this.#all;
    let idle = all;
    for (let index = open.length - 1; index >= 0 && idle !== 0; index--) {
      const each = open[index] as number;
      const same = this.#ownerOf(each).isAllow ? allowing : ~allowing;
      open[index] = each & ~(idle & same);
      idle &= ~(each & all & ~same);
    }
    let kept = 0;
    for (const each of open) if ((each & all) !== 0) open[kept++] = each;
    open.length = kept;
    return all & ~idle;
  }

  #ownerOf(open: number): SearchedPattern {
    return this.#searched[this.#owners[open >> this.#shift] as number] as SearchedPattern;
  }

  /** The lists that allow the path that ends here; `undefined` if no path of a URL ends here. */
  #verdictsAt({ open, allowing, place }: Junction): number | undefined {
    if (!this.#google && !endsAt(place)) return undefined;
    let verdicts = allowing;
    let decided = 0;
    for (const each of open) {
      const { automaton, first, isAllow } = this.#ownerOf(each);
      if (!automaton.endsAt((each >> this.#shift) - first)) continue;
      const lists = each & this.#all & ~decided;
      verdicts = isAllow ? verdicts | lists : verdicts & ~lists;
      decided |= lists;
    }
    return verdicts;
  }

  /** The bytes that some rule asks for, and one that none does. */
  #bytesAfter({ open }: Junction): readonly number[] {
    const marks = this.#marks.fill(0);
    for (const each of open) {
      const { automaton, first } = this.#ownerOf(each);
      automaton.mark((each >> this.#shift) - first, marks, this.#budget);
    }
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

// ---- The paths that URLs have as rules see them: in canonical form
// (kernel/assembly/canonical.ts). The kernel decodes each escape once, so an escape may come out of
// decoding: `/%2%61` becomes `/%2a`, which is compared as it is. Hence every text is such a path
// that begins with a slash, holds no byte that is always encoded, and has no dot segment before its
// query.

/** No URL has such a path. */
const NO_PATH = -1;

/** After the first slash of a path. */
const PATH_START = 2;

/*
 * A place in a path, as far as the bytes after it depend on it:
 * 1 × whether it is in the query
 * 2 × the segment so far: 0 for any other text, else 1 + its length: nothing, one dot, two dots
 */
const IN_QUERY = 1;
const ONE_DOT = 2;
const TWO_DOTS = 3;
const ALL = ~0;

const ENCODED: ReadonlySet<number> = new Set(Buffer.from('"#$*<>\\^`{|}'));

/** What of a place is significant for some patterns: a mask of places. */
function significantPlaces(literals: readonly Uint8Array[]): number {
  return literals.some((bytes) => bytes.includes(DOT)) ? ALL : 0;
}

/** The place after one more byte; NO_PATH if no URL's path goes on so. */
function nextPlace(place: number, byte: number): number {
  if (mustEncode(byte)) return NO_PATH;
  if ((place & IN_QUERY) !== 0) return IN_QUERY;
  const segment = place >> 1;
  if (byte === SLASH || byte === QUESTION_MARK) {
    if (segment >= ONE_DOT) return NO_PATH;
    return byte === SLASH ? PATH_START : IN_QUERY;
  }
  const dots = byte === DOT && segment !== 0 && segment !== TWO_DOTS ? segment + 1 : 0;
  return dots << 1;
}

/** Whether a path may end at a place. */
function endsAt(place: number): boolean {
  return place >> 1 < ONE_DOT;
}

/** Whether a URL can have a path as rules see it. */
export function isUrlPath(path: string): boolean {
  let place = PATH_START;
  for (let at = 1; at < path.length && place !== NO_PATH; at++) {
    place = nextPlace(place, path.charCodeAt(at));
  }
  return place !== NO_PATH && endsAt(place) && path.charCodeAt(0) === SLASH;
}

function mustEncode(byte: number): boolean {
  return byte <= SPACE || byte >= DELETE || ENCODED.has(byte);
}
