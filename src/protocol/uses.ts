/** What content may be used for: purposes, the keys of their signals, questions and answers. */

import { shownValue } from '../base/arguments.js';
import { isDigit } from '../base/characters.js';
import { RobotsFilterError } from '../base/errors.js';
import { type Agent, isProductToken, lowerCaseAscii } from './agent.js';
import { REASONS, type Reason } from './verdict.js';

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

/** The reasons of verdicts and of answers about uses, by their numbers in the kernel. */
export const ALL_REASONS: readonly (Reason | UseReason)[] = [...REASONS, ...USE_REASONS];

/** The lines that hold signals (RFC 9309 section 2.2.4). */
export const VOCABULARIES = ['content-usage', 'content-signal'] as const;
export type Vocabulary = (typeof VOCABULARIES)[number];

/** A key of a vocabulary, in lower case: `train-ai` of `Content-Usage`. */
export interface SignalKey {
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
  // The entries of a Map would be lost without a message.
  if (typeof policyTokens !== 'object' || policyTokens === null || policyTokens instanceof Map) {
    throw new RobotsFilterError(
      'usage',
      `the policy tokens are ${shownValue(policyTokens)}. Pass an object such as { train: 'NoTrain' }`,
    );
  }
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
    if (typeof token === 'string' && isProductToken(token) && token !== '*') continue;
    const shown = typeof token === 'string' ? JSON.stringify(token) : shownValue(token);
    throw new RobotsFilterError(
      'usage',
      `${option.policyToken} ${use}: ${shown} is not a product token (RFC 9309 section 2.2.1). Use letters, "-" and "_"`,
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
export function isSignalKey(text: string): boolean {
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

// ---- The names of signals in tables

/** Whom a signal before any group concerns: every agent. No product token has a slash. */
export const EVERYONE = '/';

/**
 * In the place of a key: the paths of lines that do not say something about every key. Where such a
 * path is the longest, a key that its line leaves out is unstated.
 */
export const ANY_KEY = '';

/**
 * The name by which a robots record has the signals of a key for a product token, in the place of a
 * product token. No product token has a colon.
 */
export function signalToken({ vocabulary, key }: SignalKey, productToken: string): string {
  return `${vocabulary}:${key}:${productToken}`;
}

/** How the names of the signals of a key begin. */
export function signalPrefix(key: SignalKey): string {
  return signalToken(key, '');
}

/** Whether a text is the name of signals: see `signalToken`. */
export function isSignalToken(text: string): boolean {
  return VOCABULARIES.some((vocabulary) => text.startsWith(`${vocabulary}:`));
}

/** The product token whose signals a text names, as `signalToken` made it. */
export function productTokenOf(signalToken: string): string {
  return signalToken.slice(signalToken.lastIndexOf(':') + 1);
}
