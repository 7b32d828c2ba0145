import { describe, expect, it } from 'vitest';
import { Robots } from '../src/index.js';
import { parseRobots } from '../src/protocol/parse.js';
import type { Profile } from '../src/protocol/profile.js';
import type { RobotsFile } from '../src/protocol/robots-file.js';
import { decidingLine } from './deciding-line.js';
import { hostileFile } from './hostile/file.js';
import { type AskedFile, scalesFiles, spellingFiles } from './hostile/spellings.js';
import { textOf } from './naive/octets.js';
import { type NaiveVerdict, naiveVerdict } from './naive/verdict.js';
import { Random } from './random.js';
import { shrink } from './shrink.js';

/** Each seed is a robots.txt of which every URL is asked for every crawler. */
const FILES = 1_000;
const URLS = 20;
const CHAINS = 2;

/** The least that must have occurred in each profile, so that agreement says something. */
interface Least {
  readonly allow: number;
  readonly deny: number;
  readonly invalid: number;
  /** No rule matched, or the file has no group for the crawler. */
  readonly noRule: number;
  /** An allow that won over a disallow of the same length. */
  readonly tie: number;
  readonly asteriskWon: number;
  readonly dollarWon: number;
  /** A rule that won by a reading of note A other than the pattern as written. */
  readonly noteAWon: number;
  /** An allow of an index page that won for its directory, as in google alone. */
  readonly indexWon: number;
}

const RFC_LEAST: Least = {
  allow: 20_000,
  deny: 6_000,
  invalid: 800,
  noRule: 10_000,
  tie: 1_000,
  asteriskWon: 8_000,
  dollarWon: 1_500,
  noteAWon: 350,
  indexWon: 0,
};

const NOTHING: Least = {
  ...{ allow: 0, deny: 0, invalid: 0, noRule: 0, tie: 0 },
  ...{ asteriskWon: 0, dollarWon: 0, noteAWon: 0, indexWon: 0 },
};

const LEAST: Readonly<Record<Profile, Least>> = {
  rfc9309: RFC_LEAST,
  'draft-koster-rep-00': RFC_LEAST,
  google: { ...RFC_LEAST, invalid: 0, noteAWon: 0, indexWon: 50 },
};

interface Question {
  readonly profile: Profile;
  readonly robots: string;
  readonly chain: readonly string[];
  readonly url: string;
}

/** What is asked of one robots.txt. */
interface Questions extends AskedFile {
  readonly profile: Profile;
  readonly chains: readonly (readonly string[])[];
  /** Where the questions are from, for messages; and which forms of URL and chain are used. */
  readonly name: string;
  readonly urlForm: (url: string) => string | Uint8Array;
  readonly chainForm: (chain: readonly string[]) => string | readonly string[];
}

describe('the library and the naive matcher agree', () => {
  it.each(['rfc9309', 'google', 'draft-koster-rep-00'] as const)(
    'on hostile files and URLs, profile %s',
    (profile) => {
      const tally = new Tally();
      for (let seed = 1; seed <= FILES; seed++) {
        const file = hostileFile(new Random(seed), profile, { urls: URLS, chains: CHAINS });
        const urlForm = seed % 2 === 0 ? textIfPossible : bytesOf;
        const chainForm = seed % 3 === 0 ? joined : asItIs;
        ask({ ...file, profile, name: `seed ${seed}`, urlForm, chainForm }, tally);
      }
      expect(tally.cases).toBe(FILES * URLS * CHAINS);
      expect(tally.shortfalls(LEAST[profile])).toEqual([]);
    },
    120_000,
  );

  it.each(['rfc9309', 'google'] as const)(
    'on every octet in every spelling, profile %s',
    (profile) => {
      const tally = new Tally();
      for (const file of spellingFiles()) {
        const name = 'spellings';
        ask(
          { ...file, profile, chains: [['bot']], name, urlForm: bytesOf, chainForm: joined },
          tally,
        );
      }
      expect(tally.cases).toBeGreaterThan(40_000);
      expect(tally.shortfalls({ ...NOTHING, allow: 10_000, deny: 2_500 })).toEqual([]);
    },
    120_000,
  );

  it.each(['rfc9309', 'google'] as const)('on the weight of patterns, profile %s', (profile) => {
    const tally = new Tally();
    for (const file of scalesFiles()) {
      const name = 'scales';
      ask(
        { ...file, profile, chains: [['bot']], name, urlForm: bytesOf, chainForm: joined },
        tally,
      );
    }
    expect(tally.cases).toBe(800);
    expect(tally.shortfalls({ ...NOTHING, allow: 200, deny: 200, tie: 10 })).toEqual([]);
  });
});

/** Asks the library and the naive matcher; throws at the first disagreement. */
function ask(questions: Questions, tally: Tally): void {
  const { profile, robots, name, urlForm, chainForm } = questions;
  const file = parseRobots(bytesOf(robots), { profile });
  const library = Robots.parse(bytesOf(robots), { profile });
  for (const url of questions.urls) {
    for (const chain of questions.chains) {
      const naive = naiveVerdict(file, profile, chain, urlForm(url));
      const { verdict, rule } = library.verdict(urlForm(url), chainForm(chain));
      if (
        verdict !== naive.verdict ||
        (rule?.line ?? 0) !== decidingLine(file.groups, naive.line)
      ) {
        throw new Error(
          `${name}, profile ${profile}: ${reproducer({ profile, robots, chain, url })}`,
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
function textIfPossible(octets: string): string | Uint8Array {
  const text = textOf(octets);
  return text.includes('\u{FFFD}') ? bytesOf(octets) : text;
}

function joined(chain: readonly string[]): string {
  return chain.join('>');
}

function asItIs(chain: readonly string[]): readonly string[] {
  return chain;
}

/** What came of the questions, counted. */
class Tally {
  cases = 0;
  readonly #counts: Record<keyof Least, number> = { ...NOTHING };

  add({ verdict, line, tie, reading }: NaiveVerdict, file: RobotsFile): void {
    this.cases++;
    this.#counts[verdict]++;
    if (line === 0) {
      if (verdict === 'allow') this.#counts.noRule++;
      return;
    }
    const rule = file.groups.flatMap(({ rules }) => rules).find((rule) => rule.line === line);
    const pattern = String.fromCharCode(...(rule?.pattern ?? []));
    if (tie) this.#counts.tie++;
    if (pattern.includes('*')) this.#counts.asteriskWon++;
    if (pattern.endsWith('$')) this.#counts.dollarWon++;
    if (reading === 'query') this.#counts.noteAWon++;
    if (reading === 'directory') this.#counts.indexWon++;
  }

  /** What occurred less often than it should have. */
  shortfalls(least: Least): string[] {
    const outcomes = Object.keys(this.#counts) as (keyof Least)[];
    return outcomes
      .filter((outcome) => this.#counts[outcome] < least[outcome])
      .map((outcome) => `${outcome}: ${this.#counts[outcome]} of at least ${least[outcome]}`);
  }
}

/** The disagreement made as small as it gets, with both answers. */
function reproducer(question: Question): string {
  const { profile, chain } = question;
  const disagree = ([robots = '', url = '']: readonly string[]): boolean => {
    const { naive, library } = answers({ profile, chain, robots, url });
    return naive !== library;
  };
  const asked = [question.robots, question.url];
  if (!disagree(asked)) return `only with URL or chain in this form: ${shown(question)}`;
  const [robots = '', url = ''] = shrink(asked, disagree);
  const { naive, library } = answers({ profile, chain, robots, url });
  return [
    `the naive matcher says ${naive}, the library ${library}`,
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
function answers({ profile, robots, chain, url }: Question): { naive: string; library: string } {
  const file = parseRobots(bytesOf(robots), { profile });
  const naive = naiveVerdict(file, profile, chain, bytesOf(url));
  const library = Robots.parse(bytesOf(robots), { profile }).verdict(bytesOf(url), chain);
  return {
    naive: `${naive.verdict} by line ${decidingLine(file.groups, naive.line)}`,
    library: `${library.verdict} by line ${library.rule?.line ?? 0}`,
  };
}
