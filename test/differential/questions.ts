import { bytesOf, textOf } from '../../oracle/bytes.js';
import { decidingLine, readGroups } from '../../oracle/robots.js';
import { verdictOf } from '../../oracle/verdict.js';
import { Robots } from '../../src/library/index.js';
import type { Profile } from '../../src/protocol/verdict.js';
import { hostileFile } from '../hostile/file.js';
import type { AskedFile } from '../hostile/spellings.js';
import { Random } from '../random/random.js';
import { shrink } from '../random/shrink.js';
import type { Tally } from './tally.js';

/**
 * Each seed gives one robots.txt, some URLs and some crawlers. Every URL is a question for every
 * crawler, and each question is a case.
 */
const URLS = 20;
const CHAINS = 2;
export const CASES_OF_SEED = URLS * CHAINS;

type Url = string | Uint8Array;
type Chain = string | readonly string[];

/** The compared values: the verdict, and the line that decides, 0 for none. */
export interface Answer {
  readonly verdict: string;
  readonly line: number;
}

/** Compiles a robots.txt; the result answers questions. */
export type Judge = (robots: Uint8Array, profile: Profile) => (url: Url, chain: Chain) => Answer;

/** The questions about one robots.txt. */
export interface Questions extends AskedFile {
  readonly profile: Profile;
  readonly chains: readonly (readonly string[])[];
  /** The origin of the questions, for messages; and the forms of URL and chain in use. */
  readonly name: string;
  readonly urlForm: (url: string) => Url;
  readonly chainForm: (chain: readonly string[]) => Chain;
}

interface Question {
  readonly profile: Profile;
  readonly robots: string;
  readonly chain: readonly string[];
  readonly url: string;
}

/** The program, through its library. */
export const libraryJudge: Judge = (robots, profile) => {
  const library = Robots.parse(robots, { profile });
  return (url, chain) => {
    const { verdict, rule } = library.verdict(url, chain);
    return { verdict, line: rule?.line ?? 0 };
  };
};

/** A hostile file and URLs, from a seed. */
export function hostileQuestions(seed: number, profile: Profile): Questions {
  return {
    ...hostileFile(new Random(seed), profile, { urls: URLS, chains: CHAINS }),
    profile,
    name: `seed ${seed}`,
    urlForm: seed % 2 === 0 ? textIfPossible : bytesOf,
    chainForm: seed % 3 === 0 ? joined : asItIs,
  };
}

/** Any other file, with one crawler. */
export function plainQuestions(file: AskedFile, profile: Profile, name: string): Questions {
  return { ...file, profile, chains: [['bot']], name, urlForm: bytesOf, chainForm: joined };
}

/** Asks the judge and the naive matcher; throws at the first disagreement. */
export function ask(questions: Questions, tally: Tally, judge: Judge = libraryJudge): void {
  const { profile, robots, name, urlForm, chainForm } = questions;
  const groups = readGroups(bytesOf(robots), profile);
  const judged = judge(bytesOf(robots), profile);
  for (const url of questions.urls) {
    for (const chain of questions.chains) {
      const naive = verdictOf(groups, profile, chain, urlForm(url));
      const { verdict, line } = judged(urlForm(url), chainForm(chain));
      if (verdict !== naive.verdict || line !== decidingLine(groups, naive.line)) {
        throw new Error(
          `${name}, profile ${profile}: ${reproducer({ profile, robots, chain, url }, judge)}`,
        );
      }
      tally.add(naive, groups);
    }
  }
}

/** The bytes as a string, if they are UTF-8. */
function textIfPossible(bytes: string): Url {
  const text = textOf(bytes);
  return text.includes('\u{FFFD}') ? bytesOf(bytes) : text;
}

function joined(chain: readonly string[]): string {
  return chain.join('>');
}

function asItIs(chain: readonly string[]): readonly string[] {
  return chain;
}

/** The disagreement reduced as far as possible, with both answers. */
function reproducer(question: Question, judge: Judge): string {
  const { profile, chain } = question;
  const disagree = ([robots = '', url = '']: readonly string[]): boolean => {
    const { naive, judged } = answers({ profile, chain, robots, url }, judge);
    return naive !== judged;
  };
  const asked = [question.robots, question.url];
  if (!disagree(asked)) return `only with URL or chain in this form: ${shown(question)}`;
  const [robots = '', url = ''] = shrink(asked, disagree);
  const { naive, judged } = answers({ profile, chain, robots, url }, judge);
  return [
    `the naive matcher says ${naive}, the program ${judged}`,
    `robots ${shown(robots)} (one character a byte)`,
    `agent ${shown(chain)}`,
    `url ${shown(url)} (one character a byte)`,
  ].join('\n');
}

/** As JSON in ASCII only: no two characters look alike. */
function shown(value: unknown): string {
  return Array.from(JSON.stringify(value), (character) => {
    const code = character.codePointAt(0) ?? 0;
    return code >= 0x20 && code <= 0x7e ? character : `\\u{${code.toString(16)}}`;
  }).join('');
}

/** Both answers, with the URL as bytes and the chain as a list. */
function answers(
  { profile, robots, chain, url }: Question,
  judge: Judge,
): { naive: string; judged: string } {
  const groups = readGroups(bytesOf(robots), profile);
  const naive = verdictOf(groups, profile, chain, bytesOf(url));
  const judged = judge(bytesOf(robots), profile)(bytesOf(url), chain);
  return {
    naive: `${naive.verdict} by line ${decidingLine(groups, naive.line)}`,
    judged: `${judged.verdict} by line ${judged.line}`,
  };
}
