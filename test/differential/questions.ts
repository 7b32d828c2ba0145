import { Robots } from '../../src/index.js';
import { parseRobots } from '../../src/protocol/parse.js';
import type { Profile } from '../../src/protocol/profile.js';
import { decidingLine } from '../deciding-line.js';
import { hostileFile } from '../hostile/file.js';
import type { AskedFile } from '../hostile/spellings.js';
import { textOf } from '../naive/octets.js';
import { naiveVerdict } from '../naive/verdict.js';
import { Random } from '../random.js';
import { shrink } from '../shrink.js';
import type { Tally } from './tally.js';

/**
 * Each seed is a robots.txt of which every URL is asked for every crawler; each such question is a
 * case.
 */
const URLS = 20;
const CHAINS = 2;
export const CASES_OF_SEED = URLS * CHAINS;

type Url = string | Uint8Array;
type Chain = string | readonly string[];

/** What is compared: the verdict, and the line that decides, 0 for none. */
export interface Answer {
  readonly verdict: string;
  readonly line: number;
}

/** Compiles a robots.txt; what comes of that answers questions. */
export type Judge = (robots: Uint8Array, profile: Profile) => (url: Url, chain: Chain) => Answer;

/** What is asked of one robots.txt. */
export interface Questions extends AskedFile {
  readonly profile: Profile;
  readonly chains: readonly (readonly string[])[];
  /** Where the questions are from, for messages; and which forms of URL and chain are used. */
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

/** The program, by its library. */
export const libraryJudge: Judge = (robots, profile) => {
  const library = Robots.parse(robots, { profile });
  return (url, chain) => {
    const { verdict, rule } = library.verdict(url, chain);
    return { verdict, line: rule?.line ?? 0 };
  };
};

/** A hostile file and URLs, by a seed. */
export function hostileQuestions(seed: number, profile: Profile): Questions {
  return {
    ...hostileFile(new Random(seed), profile, { urls: URLS, chains: CHAINS }),
    profile,
    name: `seed ${seed}`,
    urlForm: seed % 2 === 0 ? textIfPossible : bytesOf,
    chainForm: seed % 3 === 0 ? joined : asItIs,
  };
}

/** Any other file, asked for one crawler. */
export function plainQuestions(file: AskedFile, profile: Profile, name: string): Questions {
  return { ...file, profile, chains: [['bot']], name, urlForm: bytesOf, chainForm: joined };
}

/** Asks the judge and the naive matcher; throws at the first disagreement. */
export function ask(questions: Questions, tally: Tally, judge: Judge = libraryJudge): void {
  const { profile, robots, name, urlForm, chainForm } = questions;
  const file = parseRobots(bytesOf(robots), { profile });
  const judged = judge(bytesOf(robots), profile);
  for (const url of questions.urls) {
    for (const chain of questions.chains) {
      const naive = naiveVerdict(file, profile, chain, urlForm(url));
      const { verdict, line } = judged(urlForm(url), chainForm(chain));
      if (verdict !== naive.verdict || line !== decidingLine(file.groups, naive.line)) {
        throw new Error(
          `${name}, profile ${profile}: ${reproducer({ profile, robots, chain, url }, judge)}`,
        );
      }
      tally.add(naive, file);
    }
  }
}

function bytesOf(octets: string): Uint8Array {
  return Uint8Array.from(octets, (octet) => octet.charCodeAt(0));
}

/** The octets as a string, if they are UTF-8. */
function textIfPossible(octets: string): Url {
  const text = textOf(octets);
  return text.includes('\u{FFFD}') ? bytesOf(octets) : text;
}

function joined(chain: readonly string[]): string {
  return chain.join('>');
}

function asItIs(chain: readonly string[]): readonly string[] {
  return chain;
}

/** The disagreement made as small as it gets, with both answers. */
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
    `robots ${shown(robots)} (one character an octet)`,
    `agent ${shown(chain)}`,
    `url ${shown(url)} (one character an octet)`,
  ].join('\n');
}

/** As JSON in ASCII alone: no two characters look alike. */
function shown(value: unknown): string {
  return Array.from(JSON.stringify(value), (character) => {
    const code = character.codePointAt(0) ?? 0;
    return code >= 0x20 && code <= 0x7e ? character : `\\u{${code.toString(16)}}`;
  }).join('');
}

/** Both answers, asked with the URL as bytes and the chain as a list. */
function answers(
  { profile, robots, chain, url }: Question,
  judge: Judge,
): { naive: string; judged: string } {
  const file = parseRobots(bytesOf(robots), { profile });
  const naive = naiveVerdict(file, profile, chain, bytesOf(url));
  const judged = judge(bytesOf(robots), profile)(bytesOf(url), chain);
  return {
    naive: `${naive.verdict} by line ${decidingLine(file.groups, naive.line)}`,
    judged: `${judged.verdict} by line ${judged.line}`,
  };
}
