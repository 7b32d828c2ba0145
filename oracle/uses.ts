import type { Profile } from '../src/protocol/verdict.js';
import { charactersOf, toLowerAscii, trimmed } from './bytes.js';
import { type OracleGroup, readGroups } from './robots.js';
import { longestOf, verdictOf } from './verdict.js';

/** What is asked: the keys of each kind of line, and the product token that speaks for the use. */
export interface OracleUse {
  readonly usage: readonly string[];
  readonly signal: readonly string[];
  readonly policyToken?: string | undefined;
}

/** A crawler: its fallback chain, and whether it disregards the groups of `*`. */
export interface OracleAgent {
  readonly chain: readonly string[];
  readonly disregardsAny: boolean;
}

export interface OracleUseAnswer {
  /** Empty where the URL may not be fetched. */
  readonly answer: 'granted' | 'refused' | 'unstated' | '';
  /** The line that says so; 0 for none. */
  readonly line: number;
}

/** A line with signals. */
interface SignalLine {
  readonly kind: 'usage' | 'signal';
  readonly value: string;
  readonly line: number;
}

/** What a line, or the rules of a policy token, say about the use. */
interface Statement {
  readonly isRefusal: boolean;
  readonly line: number;
}

/** A robots.txt for questions about uses. */
export interface OracleUses {
  readonly profile: Profile;
  readonly groups: readonly OracleGroup[];
  readonly lines: readonly SignalLine[];
}

/** Reads a robots.txt whose lines are short and whose bytes are UTF-8 or ASCII. */
export function readUses(body: Uint8Array, profile: Profile): OracleUses {
  const text = charactersOf(body).split('\r\n').join('\n').split('\r').join('\n');
  const lines = text.split('\n').flatMap((written, index): SignalLine[] => {
    const [record = ''] = written.split('#');
    const colon = record.indexOf(':');
    if (colon < 0) return [];
    const key = toLowerAscii(trimmed(record.slice(0, colon), ' \t'));
    const value = trimmed(record.slice(colon + 1), ' \t');
    const line = index + 1;
    if (key === 'content-usage') return [{ kind: 'usage', value, line }];
    const isSignal = key === 'content-signal' || key === 'content-signals';
    return isSignal ? [{ kind: 'signal', value, line }] : [];
  });
  return { profile, groups: readGroups(body, profile), lines };
}

/** The answer about a use, read as literally and as slowly as possible. */
export function useOf(
  { profile, groups, lines }: OracleUses,
  { chain, disregardsAny }: OracleAgent,
  use: OracleUse,
  url: string,
): OracleUseAnswer {
  const { verdict } = verdictOf(groups, profile, chain, url, undefined, disregardsAny);
  if (verdict !== 'allow') return { answer: '', line: 0 };
  const own = groupsOf(groups, profile, chain, disregardsAny);
  // A line belongs to the last group that begins before it.
  const groupOf = (line: number) => groups.findLast((group) => group.line < line);
  const ofAgent = lines.filter(({ line }) => own.includes(groupOf(line) as OracleGroup));
  const ofNobody = lines.filter(({ line }) => groupOf(line) === undefined);
  const statements = [
    ...use.usage.map((key) => usageOf(ofAgent, key, profile, url)),
    ...use.signal.map((key) => signalOf(ofAgent, ofNobody, key)),
    policyOf(groups, profile, use.policyToken, url),
  ].filter((statement) => statement !== undefined);
  const refusal = statements.find(({ isRefusal }) => isRefusal);
  if (refusal !== undefined) return { answer: 'refused', line: refusal.line };
  const [grant] = statements;
  if (grant !== undefined) return { answer: 'granted', line: grant.line };
  return { answer: 'unstated', line: 0 };
}

/** The groups that an agent obeys. */
function groupsOf(
  groups: readonly OracleGroup[],
  profile: Profile,
  chain: readonly string[],
  disregardsAny: boolean,
): readonly OracleGroup[] {
  const naming = (token: string) =>
    groups.filter(({ productTokens }) => productTokens.includes(toLowerAscii(token)));
  const ofAny = naming('*').slice(0, profile === 'draft-koster-rep-00' ? 1 : undefined);
  if (profile === 'google') {
    const own = chain.filter((token) => token !== '*').flatMap(naming);
    return own.length > 0 || disregardsAny ? own : ofAny;
  }
  for (const token of chain) {
    const own = token === '*' ? ofAny : naming(token);
    if (own.length > 0) return own;
  }
  return disregardsAny ? [] : ofAny;
}

/** A member of a dictionary that is a token, perhaps with parameters that are keys or tokens. */
const MEMBER = /^([a-z*][a-z0-9_.*-]*)=([A-Za-z*][A-Za-z0-9_.*-]*)(;[a-z]+(=[A-Za-z]+)?)*$/;
/** Members of other types that the drawn files have. */
const OTHER_MEMBER = /^([a-z*][a-z0-9_.*-]*)(=(\?[01]|"[a-z]*"|[0-9]+))?$/;

/** Of the records with the longest path that matches: `n` wins over `y`, and `y` over silence. */
function usageOf(
  lines: readonly SignalLine[],
  key: string,
  profile: Profile,
  url: string,
): Statement | undefined {
  const said = lines.flatMap(({ kind, value, line }) => {
    if (kind !== 'usage') return [];
    const blank = value.search(/[ \t]/);
    const end = blank < 0 ? value.length : blank;
    const hasPath = value.startsWith('/');
    const pattern = hasPath ? value.slice(0, end) : '/';
    const dictionary = trimmed(hasPath ? value.slice(end) : value, ' \t');
    if (dictionary === '') return [];
    const members = new Map<string, string>();
    for (const part of dictionary.split(',')) {
      const text = trimmed(part, ' \t');
      const member = MEMBER.exec(text);
      const name = member?.[1] ?? OTHER_MEMBER.exec(text)?.[1];
      if (name === undefined) return [];
      members.set(name, member?.[2] ?? '');
    }
    return [{ word: members.get(key), pattern, line }];
  });
  const longest = longestOf(said, profile, url).length;
  for (const word of ['n', 'y']) {
    const own = said.filter((each) => each.word === word);
    const { length, line } = longestOf(own, profile, url);
    if (length > 0 && length === longest) return { isRefusal: word === 'n', line };
  }
  return undefined;
}

function signalOf(
  ofAgent: readonly SignalLine[],
  ofNobody: readonly SignalLine[],
  key: string,
): Statement | undefined {
  const linesWith = (lines: readonly SignalLine[], word: string): number[] =>
    lines
      .filter(
        ({ kind, value }) =>
          kind === 'signal' &&
          value.split(',').some((member) => {
            const [name = '', ...rest] = member.split('=');
            if (rest.length === 0) return false;
            const [own, said] = [name, rest.join('=')].map((each) =>
              trimmed(each, ' \t').toLowerCase(),
            );
            return own === key && said === word;
          }),
      )
      .map(({ line }) => line);
  const refusing = [...linesWith(ofAgent, 'no'), ...linesWith(ofNobody, 'no')];
  if (refusing.length > 0) return { isRefusal: true, line: Math.min(...refusing) };
  const [granting] = linesWith(ofAgent, 'yes');
  return granting === undefined ? undefined : { isRefusal: false, line: granting };
}

/** The verdict of the groups of a policy token, without those of `*`. */
function policyOf(
  groups: readonly OracleGroup[],
  profile: Profile,
  token: string | undefined,
  url: string,
): Statement | undefined {
  if (token === undefined) return undefined;
  const own = groups.filter(({ productTokens }) => productTokens.includes(toLowerAscii(token)));
  if (own.length === 0) return undefined;
  const { verdict, line } = verdictOf(own, profile, [token], url);
  return { isRefusal: verdict === 'deny', line };
}
