/**
 * What signals answer about a use on all paths that an agent may fetch, by proof.
 *
 * The rules of access and the signals are lists of rules, which are followed together over every
 * path (path-search.ts). In a list of signals a refusal is an allow rule (protocol/uses.ts). Such a
 * list says nothing where none of its rules matches, so it is followed twice: one copy allows what
 * no rule matches, the other denies it. Both allow a refusal, and both deny a grant. A line that
 * leaves the key out is an allow rule of the one copy, and a disallow rule of the other.
 *
 * /robots.txt itself is no content, and does not count.
 */

import type { UseAnswer, UseReason, Vocabulary } from '../protocol/uses.js';
import { differenceOf } from './differing-paths.js';
import { type FoundPaths, PathSearch, sharedRules } from './path-search.js';
import {
  byPrecedence,
  isAllow,
  languageOf,
  type RankedRule,
  ROBOTS_TXT,
  rankedRule,
} from './rules.js';

/** What says something about a use. */
export type Signal = Exclude<UseReason, 'no-signal' | 'not-allowed'>;

/** The signals, in the order in which they explain an answer. */
export const SIGNALS: readonly Signal[] = ['content-usage', 'content-signal', 'policy-token'];

/**
 * What is said about a use over all paths: one answer, proven for every path; or `part`, where
 * paths have different answers, or neither was proven.
 */
export type UseExtent = UseAnswer | 'part';

/** What is said about a use over all paths that an agent may fetch. */
export interface UseSummary {
  /** `undefined` if the agent may fetch nothing. */
  readonly extent: UseExtent | undefined;
  /**
   * The signals that give the answer of some path, in the order of SIGNALS. Where nothing was
   * proven, all that are there for the agent.
   */
  readonly signals: readonly Signal[];
}

/** What decides about a use for an agent. */
export interface UseRules {
  /** Reads the rules of access: they are seldom needed. */
  readonly access: () => readonly RankedRule[];
  /** The signals of the lines of each kind, as rules. */
  readonly lines: Readonly<Record<Vocabulary, readonly RankedRule[]>>;
  /** The paths of lines of Content-Usage that leave keys out: where they win, nothing is said. */
  readonly silent: readonly RankedRule[];
  /** The rules of the groups of the policy token; `undefined` without such a group. */
  readonly policy: readonly RankedRule[] | undefined;
}

/** Where nothing may be fetched. */
export const NOTHING_SAID: UseSummary = { extent: undefined, signals: [] };
/** Where no signal says anything. */
const UNSTATED: UseSummary = { extent: 'unstated', signals: [] };

/** What is said about a use over all paths that the rules of access allow. */
export function summariseUse(rules: UseRules, google: boolean): UseSummary {
  const present = signalsOf(rules);
  if (present === 0) return UNSTATED;
  // A signal of all paths says the same wherever the agent may fetch.
  const isSame = listsOf(rules, []).every((list) => list.every(isOfAll));
  const lists = listsOf(rules, isSame ? [] : rules.access());
  const outcomes = outcomesOf(rules);
  let seen = 0;
  // Once two answers are known, only signals are sought.
  const sought = (): number => (answerIn(seen) === 'part' ? ~(seen | ANSWERS) : ~seen);
  const { isComplete } = PathSearch.find(
    {
      lists,
      first: [{ rule: NO_ROBOTS_TXT, lists: FETCHABLE }],
      unmatched: UNMATCHED,
      compared: 0,
      isSought(allowing) {
        const outcome = outcomes.of(allowing);
        if ((outcome & sought()) === 0) return false;
        seen |= outcome;
        return true;
      },
      mayFollow: (allowing, undecided) => (outcomes.possible(allowing, undecided) & sought()) !== 0,
    },
    sharedRules(lists),
    google,
    OUTCOMES,
  );
  if (!isComplete) return { extent: 'part', signals: namesIn(seen | present) };
  return { extent: answerIn(seen), signals: namesIn(seen) };
}

/**
 * Finds paths that may be fetched by both rules of access, and on which the answers about a use
 * differ.
 */
export function differingAnswers(old: UseRules, next: UseRules, google: boolean): FoundPaths {
  const [before, after] = [outcomesOf(old), outcomesOf(next)];
  if (before === after && areAlike(listsOf(old, []), listsOf(next, []))) return NONE;
  return differenceOf(
    {
      lists: [...listsOf(old, old.access()), ...listsOf(next, next.access())],
      first: [{ rule: NO_ROBOTS_TXT, lists: FETCHABLE | (FETCHABLE << LISTS) }],
      unmatched: UNMATCHED | (UNMATCHED << LISTS),
      compared: before === after ? ALL_LISTS & ~FETCHABLE : 0,
      isSought(allowing) {
        const one = before.of(allowing & ALL_LISTS) & ANSWERS;
        const other = after.of(allowing >> LISTS) & ANSWERS;
        return one !== 0 && other !== 0 && one !== other;
      },
      mayFollow(allowing, undecided) {
        const one = before.possible(allowing & ALL_LISTS, undecided & ALL_LISTS) & ANSWERS;
        const other = after.possible(allowing >> LISTS, undecided >> LISTS) & ANSWERS;
        return one !== 0 && other !== 0 && !(one === other && answerIn(one) !== 'part');
      },
    },
    google,
  );
}

// ---- The lists that are followed, by the bit of each

/** Allows what the agent may fetch. */
const FETCHABLE = 1;
/** The first copies of lines, which allow what no rule matches. The second copy is the next bit. */
const USAGE = 2;
const SIGNAL = 8;
/** The rules of the policy token, which refuses what these deny. */
const POLICY = 32;

const LISTS = 6;
const ALL_LISTS = (1 << LISTS) - 1;
const UNMATCHED = FETCHABLE | USAGE | SIGNAL | POLICY;

const NONE: FoundPaths = { paths: [], isComplete: true };

/** Whether each list has the same rules as that of the same place. */
function areAlike(
  one: readonly (readonly RankedRule[])[],
  other: readonly (readonly RankedRule[])[],
): boolean {
  return one.every((list, index) =>
    sharedRules([list, other[index] ?? []]).every(({ lists }) => lists === 3),
  );
}

function listsOf(
  { lines, silent, policy = [] }: UseRules,
  access: readonly RankedRule[],
): (readonly RankedRule[])[] {
  const { 'content-usage': usage, 'content-signal': signal } = lines;
  if (silent.length === 0) return [access, usage, usage, signal, signal, policy];
  // Of paths with the same length a refusal wins over a grant, and a grant over a line without the
  // key. The ranks of rules leave no room for the last one, so there are twice as many here.
  const said = usage.map((rule) => ({ ...rule, rank: 2 * rule.rank + (isAllow(rule) ? 1 : 2) }));
  const copies = [1, 0].map((more) => {
    const left = silent.map((rule) => ({ ...rule, rank: 2 * rule.rank + more }));
    return [...said, ...left].sort(byPrecedence);
  });
  return [access, ...copies, signal, signal, policy];
}

/** Denies /robots.txt, and wins over all other rules of access. */
const NO_ROBOTS_TXT = rankedRule({
  rank: Number.MAX_SAFE_INTEGER - 1,
  line: 0,
  prefix: ROBOTS_TXT,
  first: [],
  second: undefined,
  isEnd: true,
});

/** Whether a rule matches every path. */
function isOfAll(rule: RankedRule): boolean {
  return languageOf(rule) === '/';
}

// ---- What is found of a path: the bit of its answer, and those of the signals that give it

const REFUSED = 1;
const GRANTED = 2;
const UNSAID = 4;
const ANSWERS = REFUSED | GRANTED | UNSAID;
/** The bit of the first of SIGNALS. */
const FIRST_SIGNAL = 8;
/** Number of these bits. */
const OUTCOMES = 6;

/** The answer of one path, or of several. */
function answerIn(outcome: number): UseExtent | undefined {
  switch (outcome & ANSWERS) {
    case 0:
      return undefined;
    case REFUSED:
      return 'refused';
    case GRANTED:
      return 'granted';
    case UNSAID:
      return 'unstated';
    default:
      return 'part';
  }
}

function namesIn(outcome: number): Signal[] {
  return SIGNALS.filter((_, index) => (outcome & (FIRST_SIGNAL << index)) !== 0);
}

/** The bits of the signals that are there. */
function signalsOf({ lines, policy }: UseRules): number {
  const has = [
    lines['content-usage'].length > 0,
    lines['content-signal'].length > 0,
    policy !== undefined,
  ];
  return has.reduce((bits, is, index) => (is ? bits | (FIRST_SIGNAL << index) : bits), 0);
}

/** What is found of paths, by the lists that allow them. */
class Outcomes {
  readonly #hasPolicy: boolean;
  /** By what is allowed, and what of it is undecided. */
  readonly #known = new Int8Array(1 << (2 * LISTS)).fill(-1);

  constructor(hasPolicy: boolean) {
    this.#hasPolicy = hasPolicy;
  }

  /** What is found of a path that exactly these lists allow. 0 if it may not be fetched. */
  of(allowing: number): number {
    if ((allowing & FETCHABLE) === 0) return 0;
    let [refusing, granting, signal] = [0, 0, FIRST_SIGNAL];
    for (const copy of [USAGE, SIGNAL]) {
      if ((allowing & (copy << 1)) !== 0) refusing |= signal;
      else if ((allowing & copy) === 0) granting |= signal;
      signal <<= 1;
    }
    if (this.#hasPolicy && (allowing & POLICY) === 0) refusing |= signal;
    else if (this.#hasPolicy) granting |= signal;
    if (refusing !== 0) return REFUSED | refusing;
    return granting === 0 ? UNSAID : GRANTED | granting;
  }

  /** All that may be found where the lists of `undecided` may say either. */
  possible(allowing: number, undecided: number): number {
    const key = (allowing << LISTS) | undecided;
    const known = this.#known[key] as number;
    if (known >= 0) return known;
    let found = 0;
    // Each subset of the undecided lists, the greatest first.
    for (let some = undecided; ; some = (some - 1) & undecided) {
      found |= this.of((allowing & ~undecided) | some);
      if (some === 0) break;
    }
    this.#known[key] = found;
    return found;
  }
}

const WITH_POLICY = new Outcomes(true);
const WITHOUT_POLICY = new Outcomes(false);

function outcomesOf({ policy }: UseRules): Outcomes {
  return policy === undefined ? WITHOUT_POLICY : WITH_POLICY;
}
