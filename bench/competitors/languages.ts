import { cpSync, existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { runProgram } from '../measure/process.js';
import type { Competitor } from './competitor.js';

/** A library that is missing on this machine. */
export interface Absence {
  readonly name: string;
  readonly reason: string;
}

/** A language, its libraries, and the build of their common program. */
interface Language {
  readonly name: string;
  readonly libraries: readonly Pick<Competitor, 'id' | 'name' | 'urls'>[];
  /** Installs and builds in a directory; does nothing if an earlier run did. */
  prepare(directory: string): Promise<Pick<Competitor, 'program' | 'words' | 'environment'>>;
}

const SOURCES = import.meta.dirname;

/** All versions are fixed, so that all runs compare the same programs. */
const LANGUAGES: readonly Language[] = [
  {
    name: 'Python',
    libraries: [
      { id: 'protego', name: 'Protego 0.7.0 (Python)', urls: 100_000 },
      { id: 'fastrobots', name: 'fastrobots 0.3.0 (Python, in Rust)', urls: 500_000 },
      {
        id: 'fast-robotstxt',
        name: 'google/robotstxt, fast-robotstxt 1.1.0 (C++)',
        urls: 50_000,
      },
    ],
    async prepare(directory) {
      const packages = join(directory, 'packages');
      if (!existsSync(join(packages, 'fastrobots'))) {
        const words = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check'];
        const versions = ['protego==0.7.0', 'fastrobots==0.3.0', 'fast-robotstxt==1.1.0'];
        await build(
          'python3',
          [...words, '--upgrade', '--target', packages, ...versions],
          directory,
        );
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
      { id: 'texting_robots', name: 'texting_robots 0.2.2 (Rust)', urls: 500_000 },
      { id: 'fast-robots', name: 'fast-robots 0.1.5 (Rust)', urls: 500_000 },
      { id: 'robotstxt', name: 'robotstxt 0.3.0 (Rust)', urls: 50_000 },
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
      { id: 'grobotstxt', name: 'grobotstxt 1.0.3 (Go)', urls: 50_000 },
    ],
    async prepare(directory) {
      cpSync(join(SOURCES, 'go'), directory, { recursive: true });
      await build('go', ['build', '-mod=mod', '-o', 'competitor', '.'], directory);
      return { program: join(directory, 'competitor'), words: [] };
    },
  },
  {
    name: 'Java',
    libraries: [{ id: 'crawler-commons', name: 'crawler-commons 1.6 (Java)', urls: 200_000 }],
    async prepare(directory) {
      cpSync(join(SOURCES, 'java'), directory, { recursive: true });
      await build('mvn', ['--batch-mode', '--quiet', 'package'], directory);
      const target = join(directory, 'target');
      const path = `${join(target, 'competitor.jar')}:${join(target, 'libraries')}/*`;
      return { program: 'java', words: ['-cp', path, 'Competitor'] };
    },
  },
];

async function build(program: string, words: readonly string[], directory: string): Promise<void> {
  await runProgram(program, words, { directory, mayComplain: true });
}

/**
 * Installs and builds the libraries of other languages, if toolchain and packages exist.
 *
 * @param only the names of the languages; by default all
 */
export async function languageCompetitors(
  store: string,
  report: (sentence: string) => void,
  only?: readonly string[],
): Promise<{ present: Competitor[]; absent: Absence[] }> {
  const present: Competitor[] = [];
  const absent: Absence[] = [];
  for (const { name, libraries, prepare } of LANGUAGES) {
    if (only !== undefined && !only.includes(name)) continue;
    const directory = join(store, 'competitors', name.toLowerCase());
    mkdirSync(directory, { recursive: true });
    try {
      report(`preparing the libraries for ${name}`);
      const prepared = await prepare(directory);
      for (const library of libraries) present.push({ ...library, ...prepared, format: 'text' });
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      const reason = message.trim().split('\n').at(-1) ?? message;
      for (const library of libraries) absent.push({ name: library.name, reason });
    }
  }
  return { present, absent };
}
