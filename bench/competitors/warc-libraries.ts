import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { runProgram } from '../measure/process.js';
import type { Absence } from './languages.js';

/** A library that reads WARC files, in a program that lists their URLs. */
export interface ArchiveLibrary {
  readonly id: string;
  readonly name: string;
  readonly program: string;
  readonly words: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

/** All versions are fixed, so that all runs compare the same programs. */
const LIBRARIES = [
  { id: 'warcio', name: 'warcio 1.8.1 (Python), URLs alone', requirement: 'warcio==1.8.1' },
  {
    id: 'fastwarc',
    name: 'FastWARC 2.0.1 (Python, native), URLs alone',
    requirement: 'fastwarc==2.0.1',
  },
] as const;

/** Installs the libraries, if Python and the packages exist. */
export async function archiveLibraries(
  store: string,
): Promise<{ present: ArchiveLibrary[]; absent: Absence[] }> {
  const packages = join(store, 'competitors', 'warc', 'packages');
  const reason = await installFromPyPI(packages, LIBRARIES);
  if (reason !== undefined) {
    return { present: [], absent: LIBRARIES.map(({ name }) => ({ name, reason })) };
  }
  const words = [join(import.meta.dirname, 'python', 'urls_of_warc.py')];
  const how = { program: 'python3', words, environment: { PYTHONPATH: packages } };
  return { present: LIBRARIES.map(({ id, name }) => ({ id, name, ...how })), absent: [] };
}

/** A package of PyPI, and the module by which an installation is recognised. */
interface PythonPackage {
  readonly id: string;
  readonly requirement: string;
}

/** Installs packages in a directory of their own; returns the reason if that is not possible. */
export async function installFromPyPI(
  directory: string,
  packages: readonly PythonPackage[],
): Promise<string | undefined> {
  mkdirSync(directory, { recursive: true });
  if (packages.every(({ id }) => existsSync(join(directory, id)))) return undefined;
  const words = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check'];
  const versions = packages.map(({ requirement }) => requirement);
  try {
    await runProgram('python3', [...words, '--upgrade', '--target', directory, ...versions], {
      mayComplain: true,
    });
    return undefined;
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return message.trim().split('\n').at(-1) ?? message;
  }
}
