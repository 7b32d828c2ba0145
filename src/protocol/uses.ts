/** What content may be used for: purposes, their signals, and signals as groups of rules. */

import { Buffer } from 'node:buffer';
import { shownValue } from '../base/arguments.js';
import { isDigit } from '../base/characters.js';
import { RobotsFilterError } from '../base/errors.js';
import { type Agent, isProductToken, lowerCaseAscii } from './agent.js';
import type { KeptRecord } from './fields.js';
import { parseContentSignal, parseContentUsage } from './preferences.js';
import { RulePlaces } from './robots-file.js';

/**
 * Whether a use of a URL's content is granted. Only where the URL may be fetched.
 *
 * - `granted`: some signal says yes, and none says no.
 * - `refused`: some signal says no.
 * - `unstated`: no signal says either. A missing signal is never a yes.
 */
export type UseAnswer = 'granted' | 'refused' | 'unstated';

/**
 * The answers, and an empty word where the URL may not be fetched. The index of each is its number
 * in the kernel, where it takes the place of a verdict.
 */
export const USE_WORDS: readonly (UseAnswer | '')[] = ['granted', 'refused', 'unstated', ''];

/**
 * The reason for an answer about a use.
 *
 * - `content-usage`, `content-signal`: a line of this kind says it.
 * - `policy-token`: the groups of the purpose's policy token say it.
 * - `no-signal`: nothing is said.
 * - `not-allowed`: the URL may not be fetched.
 */
export type UseReason =
  | 'content-usage'
  | 'content-signal'
  | 'policy-token'
  | 'no-signal'
  | 'not-allowed';

/** All of these reasons. Their numbers in the kernel follow those of `REASONS`. */
export const USE_REASONS: readonly UseReason[] = [
  'content-usage',
  'content-signal',
  'policy-token',
  'no-signal',
  'not-allowed',
];

/** The lines that hold signals (RFC 9309 section 2.2.4). */
export const VOCABULARIES = ['content-usage', 'content-signal'] as const;
export type Vocabulary = (typeof VOCABULARIES)[number];

/** A key of a vocabulary, in lower case: `train-ai` of `Content-Usage`. */
interface SignalKey {
  readonly vocabulary: Vocabulary;
  readonly key: string;
}

/** A use about which is asked. */
export interface Use {
  /** The purpose, or the key, as it was named. */
  readonly name: string;
  readonly keys: readonly SignalKey[];
  /** The product token whose groups speak for the purpose; `undefined` for none. */
  readonly policyToken: string | undefined;
}

/** The purposes, and their keys. */
const PURPOSES: Readonly<Record<string, readonly SignalKey[]>> = {
  train: [
    { vocabulary: 'content-usage', key: 'train-ai' },
    { vocabulary: 'content-signal', key: 'ai-train' },
  ],
  search: [
    { vocabulary: 'content-usage', key: 'search' },
    { vocabulary: 'content-signal', key: 'search' },
  ],
  input: [{ vocabulary: 'content-signal', key: 'ai-input' }],
};

/** The purposes by name. */
export const PURPOSE_NAMES: readonly string[] = Object.keys(PURPOSES);

/** Maximum length of a key about which can be asked. */
const LONGEST_KEY = 64;

/**
 * Reads the uses that a caller names: purposes, or keys of the vocabularies.
 *
 * @param policyTokens for a purpose, or a key, the product token whose groups speak for it
 * @param option how the caller names uses and policy tokens, for messages
 * @throws RobotsFilterError `usage` for a name that is no key, for a use that is named twice, and
 *   for a policy token that is none or whose use is not asked for
 */
export function parseUses(
  names: readonly string[],
  policyTokens: Readonly<Record<string, string>> = {},
  option = { use: '--use', policyToken: '--policy-token' },
): Use[] {
  const tokens = new Map(
    Object.entries(policyTokens).map(([use, token]) => [lowerCaseAscii(use), token]),
  );
  const known = new Set<string>();
  const uses = names.map((given): Use => {
    const name = lowerCaseAscii(given.trim());
    if (!isSignalKey(name)) {
      throw new RobotsFilterError(
        'usage',
        `${option.use} ${JSON.stringify(given)} is no purpose and no key of a signal. Use ${PURPOSE_NAMES.join(', ')}, or a key such as train-ai`,
      );
    }
    if (known.has(name)) {
      throw new RobotsFilterError('usage', `${option.use} ${name} is named twice. Name it once`);
    }
    known.add(name);
    const own = Object.hasOwn(PURPOSES, name) ? PURPOSES[name] : undefined;
    const keys = own ?? VOCABULARIES.map((vocabulary) => ({ vocabulary, key: name }));
    return { name, keys, policyToken: tokens.get(name) };
  });
  for (const [use, token] of tokens) {
    if (!known.has(use)) {
      throw new RobotsFilterError(
        'usage',
        `${option.policyToken} ${use} has no effect without ${option.use} ${use}`,
      );
    }
    if (isProductToken(token) && token !== '*') continue;
    throw new RobotsFilterError(
      'usage',
      `${option.policyToken} ${use}: ${JSON.stringify(token)} is not a product token (RFC 9309 section 2.2.1). Use letters, "-" and "_"`,
    );
  }
  return uses;
}

/**
 * Reads one use.
 *
 * @throws RobotsFilterError `usage` as `parseUses`
 */
export function useOf(name: string, policyToken: string | undefined): Use {
  if (typeof name !== 'string') {
    const remedy = `Pass one of ${PURPOSE_NAMES.join(', ')}, or a key of a signal`;
    throw new RobotsFilterError('usage', `the use is ${shownValue(name)}. ${remedy}`);
  }
  const tokens = policyToken === undefined ? {} : { [name.trim()]: policyToken };
  const [use] = parseUses([name], tokens, { use: 'the use', policyToken: 'policyToken of' });
  return use as Use;
}

/** Whether a text may be a key about which is asked: a key of RFC 9651, with a letter in it. */
function isSignalKey(text: string): boolean {
  if (text.length === 0 || text.length > LONGEST_KEY) return false;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    const isLower = code >= 0x61 && code <= 0x7a;
    if (!isLower && !isDigit(code) && !'-_.*'.includes(text.charAt(at))) return false;
    if (at === 0 && !isLower) return false;
  }
  return true;
}

/** An answer that a run gives for each URL: whether an agent may use its content so. */
export interface UseQuestion {
  readonly use: Use;
  readonly agent: Agent;
  /** The index of the agent. */
  readonly of: number;
  /**
   * What tells the answer from those of other agents and uses: the use, the agent, or both. Empty
   * if it is the only one.
   */
  readonly name: string;
}

/** The questions about uses, those of the first agent first. */
export function useQuestions(agents: readonly Agent[], uses: readonly Use[]): UseQuestion[] {
  return agents.flatMap((agent, of) =>
    uses.map((use) => {
      const names = [
        ...(agents.length > 1 ? [agent.name] : []),
        ...(uses.length > 1 ? [use.name] : []),
      ];
      return { use, agent, of, name: names.join(' ') };
    }),
  );
}

// ---- Signals as groups of rules: the matcher of rules finds the signal that counts for a path. A
// group of rules has the signals of one key. A refusal stands there as an allow rule: of equal
// paths an allow rule wins, and so does a refusal (draft-ietf-aipref-attach).

/** Whom a signal before any group concerns: every agent. */
export const EVERYONE = '';

/**
 * The name by which a robots record has the signals of a key for a product token, in the place of a
 * product token. No product token has a colon.
 */
export function signalToken({ vocabulary, key }: SignalKey, productToken: string): string {
  return `${vocabulary}:${key}:${productToken}`;
}

/** Whether a text is the name of signals: see `signalToken`. */
export function isSignalToken(text: string): boolean {
  return VOCABULARIES.some((vocabulary) => text.startsWith(`${vocabulary}:`));
}

/** The product token whose signals a text names, as `signalToken` made it. */
export function productTokenOf(signalToken: string): string {
  return signalToken.slice(signalToken.lastIndexOf(':') + 1);
}

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
