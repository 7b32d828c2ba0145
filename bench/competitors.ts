import { cpSync, existsSync, mkdirSync } from 'node:fs';
import { devNull } from 'node:os';
import { join } from 'node:path';
import { assertEqual } from './assert-equal.js';
import { AGENT } from './cases.js';
import type { Corpus } from './corpora.js';
import { runProgram } from './measure.js';
import type { Case } from './rounds.js';
import { noVerdicts, type VerdictCounts } from './verdicts.js';

/** A library that a user could take instead, in a program that decides URLs by it. */
export interface Competitor {
  readonly id: string;
  readonly name: string;
  readonly form: 'text' | 'ndjson';
  /** URLs that it is given, from the start of the list: as many as take a few seconds. */
  readonly urls: number;
  readonly program: string;
  readonly words: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
}

/** A library that is not to be had here. */
export interface Absence {
  readonly name: string;
  readonly reason: string;
}

/** How the same library is used otherwise, at the end of a competitor's id. */
export const VARIANT = /-(?:ndjson|annotated)$/;

const SOURCES = join(import.meta.dirname, 'competitors');

/** A language in which there are competitors, and how its program is made. */
interface Language {
  readonly name: string;
  readonly libraries: readonly { id: string; name: string; urls: number }[];
  /** Installs and builds below a directory; does nothing where that was done before. */
  prepare(directory: string): Promise<Pick<Competitor, 'program' | 'words' | 'environment'>>;
}

/** Versions are fixed, so that runs at different times compare the same. */
const OTHERS: readonly Language[] = [
  {
    name: 'Python',
    libraries: [
      { id: 'protego', name: 'Protego 0.7.0 (Python)', urls: 100_000 },
      {
        id: 'fast-robotstxt',
        name: 'google/robotstxt, fast-robotstxt 1.1.0 (C++)',
        urls: 100_000,
      },
    ],
    async prepare(directory) {
      const packages = join(directory, 'packages');
      if (!existsSync(join(packages, 'protego'))) {
        const words = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check'];
        const versions = ['protego==0.7.0', 'fast-robotstxt==1.1.0'];
        await build('python3', [...words, '--target', packages, ...versions], directory);
      }
      return {
        program: 'python3',
        words: [join(SOURCES, 'python', 'main.py')],
        environment: { PYTHONPATH: packages },
      };
    },
  },
  {
    name: 'Rust',
    libraries: [
      { id: 'texting_robots', name: 'texting_robots 0.2.2 (Rust)', urls: 1_000_000 },
      { id: 'robotstxt', name: 'robotstxt 0.3.0 (Rust)', urls: 100_000 },
    ],
    async prepare(directory) {
      const program = join(directory, 'target', 'release', 'competitor');
      cpSync(join(SOURCES, 'rust'), directory, { recursive: true });
      await build('cargo', ['build', '--release', '--quiet'], directory);
      return { program, words: [] };
    },
  },
  {
    name: 'Go',
    libraries: [
      { id: 'temoto', name: 'temoto/robotstxt 1.1.2 (Go)', urls: 500_000 },
      { id: 'grobotstxt', name: 'grobotstxt 1.0.3 (Go)', urls: 100_000 },
    ],
    async prepare(directory) {
      cpSync(join(SOURCES, 'go'), directory, { recursive: true });
      await build('go', ['build', '-mod=mod', '-o', 'competitor', '.'], directory);
      return { program: join(directory, 'competitor'), words: [] };
    },
  },
];

async function build(program: string, words: readonly string[], directory: string): Promise<void> {
  await runProgram(program, words, { directory, mayComplain: true });
}

/** What npm installed with this project: always there. */
export function npmCompetitors(): Competitor[] {
  const script = join(SOURCES, 'javascript', 'main.ts');
  const words = ['--import', 'tsx', script];
  const npm = { program: process.execPath, words, urls: 200_000 };
  return [
    { ...npm, id: 'robots-parser', name: 'robots-parser 3.0.1 (npm)', form: 'text' },
    { ...npm, id: 'robots-parser-ndjson', name: 'the same, from NDJSON', form: 'ndjson' },
    {
      ...npm,
      id: 'robots-parser-annotated',
      name: 'the same, annotating the records to /dev/null',
      form: 'ndjson',
      environment: { ANNOTATED_FILE: devNull },
    },
    { ...npm, id: 'robots-txt-guard', name: 'robots-txt-guard 1.0.2 (npm)', form: 'text' },
  ];
}

/**
 * Installs and builds those of other languages, where the toolchain and the packages can be had.
 */
export async function otherCompetitors(
  cache: string,
  report: (sentence: string) => void,
): Promise<{ present: Competitor[]; absent: Absence[] }> {
  const present: Competitor[] = [];
  const absent: Absence[] = [];
  for (const { name, libraries, prepare } of OTHERS) {
    const directory = join(cache, 'competitors', name.toLowerCase());
    mkdirSync(directory, { recursive: true });
    try {
      report(`preparing what is written in or for ${name}`);
      const prepared = await prepare(directory);
      for (const library of libraries) present.push({ ...library, ...prepared, form: 'text' });
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      const reason = message.trim().split('\n').at(-1) ?? message;
      for (const library of libraries) absent.push({ name: library.name, reason });
    }
  }
  return { present, absent };
}

/** What the programs are asked to decide. */
export interface Task {
  /** A directory of robots.txt files called HOST. */
  readonly robots: string;
  readonly text: string;
  readonly ndjson: string;
  readonly urls: number;
  readonly agent: string;
}

export function taskOf({ robots, text, ndjson, summary }: Corpus): Task {
  return { robots, text, ndjson, urls: summary.urls, agent: AGENT };
}

/** URLs that a competitor is given. */
export function urlsFor({ urls }: Competitor, task: Task): number {
  return Math.min(urls, task.urls);
}

/**
 * Runs a competitor once.
 *
 * @param verdicts file that receives one verdict a line; by default none is written
 */
export async function runCompetitor(competitor: Competitor, task: Task, verdicts?: string) {
  const { id, form, program, words, environment = {} } = competitor;
  const urls = urlsFor(competitor, task);
  const library = id.replace(VARIANT, '');
  const args = [...words, library, task.robots, task[form], String(urls), task.agent];
  const run = await runProgram(program, verdicts === undefined ? args : [...args, verdicts], {
    output: 'keep',
    environment,
  });
  const { seconds, counts } = JSON.parse(run.output) as { seconds: number; counts: VerdictCounts };
  return { seconds, counts: { ...noVerdicts(), ...counts }, peakOctets: run.peakOctets };
}

/** Rounds at most: most of them take seconds. */
const ROUNDS = 5;

/**
 * A case whose counts must be the same in all rounds; its time is its own, without start and
 * parsing.
 */
export function competitorCase(competitor: Competitor, corpus: Corpus): Case {
  const { id, name, form } = competitor;
  const task = taskOf(corpus);
  const { urls, textOctets, ndjsonOctets } = corpus.summary;
  const records = urlsFor(competitor, task);
  let known: string | undefined;
  return {
    id,
    name,
    kind: 'competitor',
    records,
    octets: Math.round((records / urls) * (form === 'text' ? textOctets : ndjsonOctets)),
    reads: [task[form]],
    rounds: ROUNDS,
    async run() {
      const { seconds, counts, peakOctets } = await runCompetitor(competitor, task);
      const text = JSON.stringify(counts);
      known ??= text;
      assertEqual(`${name}: counts`, text, known);
      return { seconds, peakOctets };
    },
  };
}
