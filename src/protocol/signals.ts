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
import { EVERYONE, isSignalKey, type SignalKey, signalToken, type Vocabulary } from './uses.js';

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

/** Signals that a file names for its product tokens: the product of tokens and keys, at most. */
const MOST_SIGNALS = 1 << 14;

/** One statement of a line. */
interface Statement {
  readonly path: string;
  readonly isRefusal: boolean;
  readonly line: number;
}

/** The statements of a group of the file, by key. */
interface StatedGroup {
  /** `undefined` before any group. */
  readonly productTokens: readonly string[] | undefined;
  readonly byKey: Map<string, { readonly key: SignalKey; readonly statements: Statement[] }>;
}

/**
 * The signals of a file.
 *
 * A file with more than 16,384 of them, counted for each product token, refuses each key that it
 * names to every agent: that many tokens and keys are an attack on the memory.
 *
 * @param records the other records of the file, whole
 * @returns `undefined` if there are none
 */
export function signalsOf(records: readonly KeptRecord[]): Signals | undefined {
  const stated = statedGroups(records);
  let pairs = 0;
  for (const { productTokens, byKey } of stated) pairs += (productTokens?.length ?? 1) * byKey.size;
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
  const refusals = pairs > MOST_SIGNALS ? add([refusalOf(stated)]) : undefined;
  for (const { productTokens = [EVERYONE], byKey } of stated) {
    for (const { key, statements } of byKey.values()) {
      if (refusals !== undefined) {
        groups.set(signalToken(key, EVERYONE), [refusals]);
        continue;
      }
      const group = add(statements);
      for (const token of productTokens) put(signalToken(key, token), group);
    }
  }
  const rules = new RulePlaces(Buffer.from(text.join('')));
  for (const { from, to, statement } of placed) {
    rules.add(statement.isRefusal, from, to, statement.line);
  }
  return { rules, groups };
}

/** The refusal of everything that stands for all signals, on the line of the first of them. */
function refusalOf([first]: readonly StatedGroup[]): Statement {
  const [stated] = first?.byKey.values() ?? [];
  return { path: '/', isRefusal: true, line: stated?.statements[0]?.line ?? 0 };
}

/** The statements of the lines, by the group of the file that they stand in. */
function statedGroups(records: readonly KeptRecord[]): StatedGroup[] {
  const stated = new Map<readonly string[] | undefined, StatedGroup>();
  for (const { kind, value, line, productTokens } of records) {
    if (kind !== 'content-usage' && kind !== 'content-signal') continue;
    // Outside groups a `Content-Usage` is for nobody (draft-ietf-aipref-attach).
    if (productTokens === undefined && kind === 'content-usage') continue;
    const group = stated.get(productTokens) ?? { productTokens, byKey: new Map() };
    stated.set(productTokens, group);
    for (const [key, statement] of statementsOf(kind, value, line)) {
      // It is unclear whom such a line is meant for: what it grants is granted to nobody.
      if (productTokens === undefined && !statement.isRefusal) continue;
      const name = signalToken({ vocabulary: kind, key }, EVERYONE);
      const known = group.byKey.get(name);
      if (known !== undefined) known.statements.push(statement);
      else group.byKey.set(name, { key: { vocabulary: kind, key }, statements: [statement] });
    }
  }
  return [...stated.values()];
}

/** What a line says about each key. */
function statementsOf(
  vocabulary: Vocabulary,
  value: string,
  line: number,
): [key: string, statement: Statement][] {
  const isUsage = vocabulary === 'content-usage';
  const usage = isUsage ? parseContentUsage(value) : undefined;
  const said = isUsage ? usage?.preferences : parseContentSignal(value);
  const path = usage?.path ?? '/';
  const [yes, no] = isUsage ? ['y', 'n'] : ['yes', 'no'];
  return Object.entries(said ?? {}).flatMap(([key, word]): [string, Statement][] => {
    if ((word !== yes && word !== no) || !isSignalKey(key)) return [];
    return [[key, { path, isRefusal: word === no, line }]];
  });
}
