import { Buffer } from 'node:buffer';
import type { ComparedRule, Entry } from './compared-rule.js';
import type { WorkBudget } from './work-budget.js';

/** Number of bytes of a literal by which rules are found. */
const KEY_BYTES = 4;

/** Units of work for each rule that is compared with another. */
const PAIR_COST = 8;

/**
 * Finds rules that may cover a rule, or a part of it. A rule that covers some path of another one
 * and is no longer than it has a `*`; its literal before the `*` begins the other's; and its next
 * literal occurs in the paths of the other one.
 */
export class WildcardIndex<Rule extends ComparedRule> {
  readonly isEmpty: boolean;
  /** Rules with nothing but `*` after the first literal, by that literal. */
  readonly #prefixes = new Map<string, Entry<Rule>[]>();
  readonly #prefixLengths: readonly number[];
  /** All other rules, by the first bytes of the literal after the first `*`. */
  readonly #literals = new Map<number, Entry<Rule>[]>();
  readonly #keyLengths: readonly number[];

  constructor(wildcards: readonly Entry<Rule>[]) {
    this.isEmpty = wildcards.length === 0;
    const keyLengths = new Set<number>();
    for (const entry of wildcards) {
      const { segments, twoForms } = entry.pattern;
      if (twoForms) continue;
      const [segment] = segments;
      if (segment === undefined) {
        addTo(this.#prefixes, entry.prefix, entry);
        continue;
      }
      const length = Math.min(KEY_BYTES, segment.first.length);
      keyLengths.add(length);
      addTo(this.#literals, keyAt(segment.first, 0, length), entry);
    }
    this.#prefixLengths = [...new Set([...this.#prefixes.keys()].map(({ length }) => length))];
    this.#keyLengths = [...keyLengths];
  }

  /** The rules that may match a path of `entry`: no others do. */
  candidates(entry: Entry<Rule>, path: readonly number[], budget: WorkBudget): Entry<Rule>[] {
    const candidates = new Set<Entry<Rule>>();
    const text = Buffer.from(path).toString('latin1');
    const add = (found: readonly Entry<Rule>[] = []): void => {
      budget.left -= PAIR_COST * found.length;
      if (budget.left < 0) return;
      for (const other of found) {
        if (other !== entry && text.startsWith(other.prefix)) candidates.add(other);
      }
    };
    for (const length of this.#prefixLengths) {
      if (length > text.length) continue;
      budget.left -= length + 1;
      add(this.#prefixes.get(text.slice(0, length)));
    }
    for (const length of this.#keyLengths) {
      budget.left -= path.length;
      for (let at = 0; at + length <= path.length && budget.left >= 0; at++) {
        add(this.#literals.get(keyAt(path, at, length)));
      }
    }
    return [...candidates];
  }
}

function addTo<Key, Item>(map: Map<Key, Item[]>, key: Key, item: Item): void {
  const items = map.get(key);
  if (items === undefined) map.set(key, [item]);
  else items.push(item);
}

/** Up to four bytes, and how many they are, as a number. */
function keyAt(bytes: ArrayLike<number>, at: number, length: number): number {
  let key = length;
  for (let index = 0; index < length; index++) key = 256 * key + (bytes[at + index] as number);
  return key;
}
