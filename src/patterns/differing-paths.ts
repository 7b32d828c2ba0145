/**
 * Finds paths on which two lists of rules disagree, or proves that there are none.
 *
 * Only rules that one list lacks need to be tried first. If the lists disagree on a path, its
 * winners differ, and the winner of the higher rank is not in the other list: it would win there
 * as well. Most changes show on the witness of such a rule (rules.ts). A change may also show only
 * where a wildcard rule meets another rule, which lies in both lists: then all paths are searched.
 */

import { Buffer } from 'node:buffer';
import {
  DELETE,
  DIGIT_0,
  DOT,
  LOWER_A,
  LOWER_CASE_BIT,
  LOWER_F,
  PERCENT,
  QUESTION_MARK,
  SLASH,
  SPACE,
} from '../base/ascii.js';
import { isDigit } from '../base/characters.js';
import { isUnreserved } from '../protocol/agent.js';
import {
  ANYTHING,
  DEAD,
  FILE_WORK,
  isAllow,
  languageOf,
  MATCHED,
  type PatternAutomaton,
  type RankedRule,
  ROBOTS_TXT,
  ROBOTS_TXT_RULE,
  RuleList,
  type WorkBudget,
  witnessesOf,
} from './rules.js';

/** As many are found: the first one on which the verdicts of the tables differ is shown. */
const MOST_PATHS = 4;

const ANY_TEXT = String.fromCharCode(ANYTHING);

/** Texts to try in place of "any text" in a witness, until the rules disagree on the path. */
const ANY_TEXTS = ['', 'any', 'zq', '~', '-/'];

/**
 * Finds paths of URLs on which two lists of rules disagree.
 *
 * @param google whether the rules are for the google profile
 */
export function differingPaths(
  one: readonly RankedRule[],
  other: readonly RankedRule[],
  google: boolean,
): FoundPaths {
  const { paths, isComplete } = comparedPaths(one, other, google);
  // The google profile takes URLs as they stand.
  return { paths: google ? paths : paths.map(writtenPath), isComplete };
}

/** As `differingPaths`, with paths as rules see them. */
function comparedPaths(
  one: readonly RankedRule[],
  other: readonly RankedRule[],
  google: boolean,
): FoundPaths {
  const shared = sharedRules(one, other);
  const paths = [...pathsOfWitnesses(one, other, shared, google)];
  if (paths.length > 0) return { paths, isComplete: false };
  const rules = google ? shared : [{ rule: ROBOTS_TXT_RULE, lists: BOTH }, ...shared];
  if (!PathSearch.accepts(rules)) return { paths, isComplete: false };
  return new PathSearch(rules, google).find(MOST_PATHS);
}

/** The rules of both lists, each once, the one that wins first. */
function sharedRules(one: readonly RankedRule[], other: readonly RankedRule[]): SharedRule[] {
  const shared = new Map<string, SharedRule>();
  for (const [rules, list] of [
    [one, ONE],
    [other, OTHER],
  ] as const) {
    for (const rule of rules) {
      const key = `${rule.rank} ${languageOf(rule)}`;
      const known = shared.get(key) ?? { rule, lists: 0 };
      shared.set(key, { ...known, lists: known.lists | list });
    }
  }
  return [...shared.values()].sort((a, b) => b.rule.rank - a.rule.rank);
}

/** Paths in place of the witnesses of the rules that only one list has. */
function pathsOfWitnesses(
  one: readonly RankedRule[],
  other: readonly RankedRule[],
  shared: readonly SharedRule[],
  google: boolean,
): Set<string> {
  const budget: WorkBudget = { left: FILE_WORK };
  const lists = [new RuleList(one), new RuleList(other)];
  const disagree = (path: Buffer): boolean => {
    const [first, second] = lists.map((list) => {
      const winner = list.winner(path, budget);
      return winner === undefined || isAllow(winner);
    });
    return budget.left >= 0 && first !== second;
  };
  const found = new Set<string>();
  for (const { rule, lists: holders } of shared) {
    if (holders === BOTH) continue;
    for (const witness of witnessesOf(rule)) {
      if (budget.left < 0) return found;
      if (!disagree(witness)) continue;
      const text = ANY_TEXTS.find((each) => {
        const path = pathOf(witness, each);
        if (!google && (!isUrlPath(path) || ROBOTS_TXT.equals(Buffer.from(path)))) return false;
        return disagree(Buffer.from(path));
      });
      if (text === undefined) continue;
      found.add(pathOf(witness, text));
      if (found.size === MOST_PATHS) return found;
    }
  }
  return found;
}

/** The path of a witness, with `text` where the witness stands for any text. */
function pathOf(witness: Buffer, text: string): string {
  return witness.toString('latin1').replaceAll(ANY_TEXT, text);
}

/** A rule of one list of rules, or of both. */
interface SharedRule {
  readonly rule: RankedRule;
  /** ONE, OTHER, or both. */
  readonly lists: number;
}

const ONE = 1;
const OTHER = 2;
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
interface FoundPaths {
  readonly paths: readonly string[];
  /** Whether every path was tried, so that the lists agree if `paths` is empty. */
  readonly isComplete: boolean;
}

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
  /** The states of rules that may still decide, in the order of the rules: 4 × state + lists. */
  readonly open: readonly number[];
  /** The lists in which the path is allowed if none of these decides. */
  readonly allowing: number;
  /** Where in a URL the path goes on: PATH_START in the google profile, which takes any path. */
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
class PathSearch {
  readonly #google: boolean;
  readonly #searched: readonly SearchedPattern[];
  /** By state, the index of its pattern. */
  readonly #owners: Int32Array;
  readonly #significant: number;
  /** Whether a path must be followed into the query, where dot segments stay. */
  readonly #needsQuery: boolean;
  readonly #marks = new Uint8Array(256);
  readonly #budget: WorkBudget;
  /** Whether no path has been left out so far. */
  #isComplete: boolean;

  /**
   * @param rules the one that wins first
   * @param google whether the rules are for the google profile
   */
  constructor(rules: readonly SharedRule[], google: boolean) {
    const literals = rules.flatMap(({ rule }) =>
      rule.patterns.flatMap(({ prefix, segments }) => [prefix, ...segments]),
    );
    this.#google = google;
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

  static accepts(rules: readonly SharedRule[]): boolean {
    const patterns = rules.flatMap(({ rule }) => rule.patterns);
    return patterns.reduce((sum, { states }) => sum + states, 0) <= MOST_STATES;
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
    let allowing = BOTH;
    for (const { automaton, first, isAllow, lists } of this.#searched) {
      const left = lists & ~matched;
      if (left === 0) continue;
      if (automaton.start === MATCHED) {
        allowing = isAllow ? allowing | left : allowing & ~left;
        matched |= left;
      } else {
        open.push(4 * (first + automaton.start) + left);
      }
    }
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
    this.#budget.left--;
    for (const each of from.open) {
      const lists = each & BOTH & ~matched;
      if (lists === 0) {
        this.#budget.left--;
        continue;
      }
      const { automaton, first, isAllow } = this.#ownerOf(each);
      const state = automaton.step((each >> 2) - first, byte, this.#budget);
      if (state === DEAD) continue;
      if (state === MATCHED) {
        // No rule after this one decides any more.
        allowing = isAllow ? allowing | lists : allowing & ~lists;
        matched |= lists;
        if (matched === BOTH) break;
      } else {
        open.push(4 * (first + state) + lists);
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
      const same = this.#ownerOf(each).isAllow ? allowing : ~allowing;
      open[index] = each & ~(idle & same);
      idle &= ~(each & BOTH & ~same);
    }
    let kept = 0;
    for (const each of open) if ((each & BOTH) !== 0) open[kept++] = each;
    open.length = kept;
  }

  #ownerOf(open: number): SearchedPattern {
    return this.#searched[this.#owners[open >> 2] as number] as SearchedPattern;
  }

  /** Whether the lists disagree on the path that ends here. */
  #disagreesAt({ open, allowing, place }: Junction): boolean {
    if (!this.#google && !endsAt(place)) return false;
    let verdicts = allowing;
    let decided = 0;
    for (const each of open) {
      const { automaton, first, isAllow } = this.#ownerOf(each);
      if (!automaton.endsAt((each >> 2) - first)) continue;
      const lists = each & BOTH & ~decided;
      verdicts = isAllow ? verdicts | lists : verdicts & ~lists;
      decided |= lists;
    }
    return verdicts === ONE || verdicts === OTHER;
  }

  /** The bytes that some rule asks for, and one that none does. */
  #bytesAfter({ open }: Junction): readonly number[] {
    const marks = this.#marks.fill(0);
    for (const each of open) {
      const { automaton, first } = this.#ownerOf(each);
      automaton.mark((each >> 2) - first, marks, this.#budget);
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
function isUrlPath(path: string): boolean {
  let place = PATH_START;
  for (let at = 1; at < path.length && place !== NO_PATH; at++) {
    place = nextPlace(place, path.charCodeAt(at));
  }
  return place !== NO_PATH && endsAt(place) && path.charCodeAt(0) === SLASH;
}

/**
 * Writes a path, as rules see it, for a URL. An escape that would change has its last digit
 * encoded: `/%2a` is written `/%2%61`.
 */
function writtenPath(path: string): string {
  let written = '';
  let inQuery = false;
  for (let at = 0; at < path.length; at++) {
    inQuery ||= path.charCodeAt(at) === QUESTION_MARK;
    if (changes(path, at, inQuery)) {
      written += `${path.slice(at, at + 2)}%${path.charCodeAt(at + 2).toString(16)}`;
      at += 2;
    } else {
      written += path.charAt(at);
    }
  }
  return written;
}

/** Whether an escape stands at a place of a path whose canonical form is another. */
function changes(path: string, at: number, inQuery: boolean): boolean {
  if (path.charCodeAt(at) !== PERCENT) return false;
  const [high, low] = [path.charCodeAt(at + 1), path.charCodeAt(at + 2)];
  const value = (hexDigit(high) << 4) | hexDigit(low);
  if (value < 0) return false;
  return (
    high >= LOWER_A || low >= LOWER_A || isUnreserved(value) || (inQuery && isFreeInQuery(value))
  );
}

/** The value of a hex digit; -1 for any other byte. */
function hexDigit(byte: number): number {
  if (isDigit(byte)) return byte - DIGIT_0;
  const lower = byte | LOWER_CASE_BIT;
  return lower >= LOWER_A && lower <= LOWER_F ? lower - LOWER_A + 10 : -1;
}

/** Bytes that have no role in a query: spec note A. */
function isFreeInQuery(byte: number): boolean {
  return '/:?@[]'.includes(String.fromCharCode(byte));
}

function mustEncode(byte: number): boolean {
  return byte <= SPACE || byte >= DELETE || ENCODED.has(byte);
}
