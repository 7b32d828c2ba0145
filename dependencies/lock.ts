import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What package-lock.json says of a package. */
export interface LockedPackage {
  /** Where it is installed: `node_modules/a/node_modules/b`. */
  readonly path: string;
  readonly version: string;
  readonly licence: string | undefined;
  readonly integrity: string | undefined;
  /** Where its archive lies, if that is said; else in the registry that npm is set to. */
  readonly resolved: string | undefined;
  /** Not needed by who uses the package. */
  readonly development: boolean;
  /** For another platform, perhaps. */
  readonly optional: boolean;
  /** A directory elsewhere, or part of another package's archive. */
  readonly foreign: boolean;
  readonly installScript: boolean;
}

interface LockEntry {
  readonly version?: string;
  readonly license?: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly dev?: boolean;
  readonly devOptional?: boolean;
  readonly optional?: boolean;
  readonly link?: boolean;
  readonly inBundle?: boolean;
  readonly hasInstallScript?: boolean;
}

/** Reads the package-lock.json of a project, of version 3; without the project itself. */
export function readLock(root: string): LockedPackage[] {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    lockfileVersion: number;
    packages: Record<string, LockEntry>;
  };
  if (lock.lockfileVersion !== 3) {
    throw new Error(`package-lock.json has version ${lock.lockfileVersion}; 3 is read here`);
  }
  return Object.entries(lock.packages)
    .filter(([path]) => path !== '')
    .map(([path, entry]) => ({
      path,
      version: entry.version ?? '',
      licence: entry.license,
      integrity: entry.integrity,
      resolved: entry.resolved,
      development: entry.dev === true || entry.devOptional === true,
      optional: entry.optional === true || entry.devOptional === true,
      foreign: entry.link === true || entry.inBundle === true,
      installScript: entry.hasInstallScript === true,
    }));
}

const REGISTRY = 'https://registry.npmjs.org/';

/** Packages that run a program when they are installed, and why they may. */
const INSTALL_SCRIPTS: ReadonlyMap<string, string> = new Map([
  ['node_modules/esbuild', 'sees that the binary of the platform is there; of tsx'],
  ['node_modules/fsevents', 'watches files on macOS; of vite and tsx'],
]);

/**
 * What is wrong with locked packages: each must be an archive of the registry, known by its
 * SHA-512.
 */
export function lockProblems(packages: readonly LockedPackage[]): string[] {
  const problems: string[] = [];
  for (const { path, integrity, resolved, foreign, installScript } of packages) {
    if (foreign) problems.push(`${path}: no archive of the registry`);
    if (!/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity ?? '')) {
      problems.push(`${path}: no SHA-512 to know its archive by`);
    }
    if (resolved !== undefined && !resolved.startsWith(REGISTRY)) {
      problems.push(`${path}: from ${resolved}, not from ${REGISTRY}`);
    }
    if (installScript && !INSTALL_SCRIPTS.has(path)) {
      problems.push(`${path}: runs a program when it is installed`);
    }
  }
  return problems;
}
