/**
 * The signals of a robots.txt about uses, as groups of rules: the matcher of rules finds the signal
 * that counts for a path. A group of rules has the signals of one key. A refusal stands there as an
 * allow rule: of equal paths an allow rule wins, and so does a refusal
 * (draft-ietf-aipref-attach).
 */

import { Buffer } from 'node:buffer';
import type { KeptRecord } from './fields.js';
import { parseContentSignal, parseContentUsage } from './preferences.js';
import { RulePlaces } from './robots-file.js';
import {
  ANY_KEY,
  EVERYONE,
  isSignalKey,
  type SignalKey,
  signalPrefix,
  signalToken,
} from './uses.js';

/** A group of signals, as rules. */
export interface SignalGroup {
  readonly firstRule: number;
  readonly rulesEnd: number;
}

/** The signals of a robots.txt. */
export interface Signals {
  readonly rules: RulePlaces;
  /** By `signalToken`; the groups are in the order of the file. */
  readonly groups: ReadonlyMap<string, readonly SignalGroup[]>;
}

/** Pairs of a product token and a key that a file names, at most. */
const MOST_SIGNALS = 1 << 14;

/** The line of a signal that stands for more than are counted. */
const NO_LINE = 0;

/** One statement of a line. */
interface Statement {
  readonly path: string;
  readonly isRefusal: boolean;
  readonly line: number;
}

/** A line that may leave keys out: its path, and the number of keys that it says yes or no to. */
interface UsageLine {
  readonly path: string;
  readonly line: number;
  readonly keys: number;
}

/** The statements of a group of the file, by key. */
interface StatedGroup {
  /** `undefined` before any group. */
  readonly productTokens: readonly string[] | undefined;
  readonly byKey: Map<string, { readonly key: SignalKey; readonly statements: Statement[] }>;
  /** The lines of `Content-Usage` with a path. */
  readonly usageLines: UsageLine[];
}

/**
 * The signals of a file.
 *
 * A file with more than 16,384 pairs of a product token and a key refuses each key that it names to
 * every agent: that many tokens and keys are an attack on the memory.
 *
 * @param records the other records of the file, whole
 * @returns `undefined` if there are none
 */
export function signalsOf(records: readonly KeptRecord[]): Signals | undefined {
  const stated = statedGroups(records);
  const pairs = stated.reduce(
    (sum, { productTokens, byKey }) => sum + (productTokens?.length ?? 1) * byKey.size,
    0,
  );
  if (pairs === 0) return undefined;
  const text: string[] = [];
  const placed: { readonly from: number; readonly to: number; readonly statement: Statement }[] =
    [];
  const groups = new Map<string, SignalGroup[]>();
  let end = 0;
  const add = (statements: readonly Statement[]): SignalGroup => {
    const firstRule = placed.length;
    for (const statement of statements) {
      const from = end;
      end += Buffer.byteLength(statement.path);
      text.push(statement.path);
      placed.push({ from, to: end, statement });
    }
    return { firstRule, rulesEnd: placed.length };
  };
  const put = (token: string, group: SignalGroup): void => {
    const known = groups.get(token);
    if (known === undefined) groups.set(token, [group]);
    else known.push(group);
  };
  if (pairs > MOST_SIGNALS) {
    const refusal = add([{ path: '/', isRefusal: true, line: NO_LINE }]);
    for (const { byKey } of stated) {
      for (const { key } of byKey.values()) groups.set(signalToken(key, EVERYONE), [refusal]);
    }
  } else {
    const usageKeys = countUsageKeys(stated);
    for (const { productTokens = [EVERYONE], byKey, usageLines } of stated) {
      for (const { key, statements } of byKey.values()) {
        const group = add(statements);
        for (const token of productTokens) put(signalToken(key, token), group);
      }
      const silent = usageLines.filter(({ keys }) => keys < usageKeys);
      if (silent.length === 0) continue;
      const group = add(silent.map(({ path, line }) => ({ path, isRefusal: false, line })));
      const key = { vocabulary: 'content-usage' as const, key: ANY_KEY };
      for (const token of productTokens) put(signalToken(key, token), group);
    }
  }
  const rules = new RulePlaces(Buffer.from(text.join('')));
  for (const { from, to, statement } of placed) {
    rules.add(statement.isRefusal, from, to, statement.line);
  }
  return { rules, groups };
}

/** The number of keys to which the lines of `Content-Usage` say yes or no. */
function countUsageKeys(stated: readonly StatedGroup[]): number {
  const keys = new Set<string>();
  for (const { byKey } of stated) {
    for (const { key } of byKey.values()) {
      if (key.vocabulary === 'content-usage') keys.add(key.key);
    }
  }
  return keys.size;
}

/** The statements of the lines, by the group of the file that they stand in. */
function statedGroups(records: readonly KeptRecord[]): StatedGroup[] {
  const stated = new Map<readonly string[] | undefined, StatedGroup>();
  for (const { kind, value, line, productTokens } of records) {
    if (kind !== 'content-usage' && kind !== 'content-signal') continue;
    // Outside groups a `Content-Usage` is for nobody (draft-ietf-aipref-attach).
    if (productTokens === undefined && kind === 'content-usage') continue;
    const known = stated.get(productTokens);
    const group: StatedGroup = known ?? { productTokens, byKey: new Map(), usageLines: [] };
    stated.set(productTokens, group);
    const usage = kind === 'content-usage' ? parseContentUsage(value) : undefined;
    const said = usage?.preferences ?? (kind === 'content-signal' ? parseContentSignal(value) : {});
    const path = usage?.path ?? '/';
    const [yes, no] = kind === 'content-usage' ? ['y', 'n'] : ['yes', 'no'];
    let keys = 0;
    for (const [name, word] of Object.entries(said ?? {})) {
      if ((word !== yes && word !== no) || !isSignalKey(name)) continue;
      keys++;
      const isRefusal = word === no;
      // It is unclear whom such a line is meant for: what it grants is granted to nobody.
      if (productTokens === undefined && !isRefusal) continue;
      const key = { vocabulary: kind, key: name };
      const ofKey = group.byKey.get(signalPrefix(key)) ?? { key, statements: [] };
      group.byKey.set(signalPrefix(key), ofKey);
      ofKey.statements.push({ path, isRefusal, line });
    }
    // No path that matches is shorter than this one.
    if (usage !== undefined && path !== '/') group.usageLines.push({ path, line, keys });
  }
  return [...stated.values()];
}
