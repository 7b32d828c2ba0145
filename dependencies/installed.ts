import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { LockedPackage } from './lock.js';

/** What a package says of itself where it is installed. */
export interface InstalledPackage {
  /** `node_modules/a/node_modules/b`. */
  readonly path: string;
  readonly name: string;
  readonly version: string;
  /** As an SPDX expression; undefined where it is no text. */
  readonly licence: string | undefined;
}

/** Every package below a project's node_modules, however it came there. */
export function installedPackages(root: string, under = 'node_modules'): InstalledPackage[] {
  const packages: InstalledPackage[] = [];
  for (const name of packageNames(root, under)) {
    const path = `${under}/${name}`;
    const manifest = readManifest(join(root, path));
    // Without a name and version it is a directory that a tool left, or a part of the package above
    // it.
    if (manifest?.name !== undefined && manifest.version !== undefined) {
      const { license } = manifest;
      packages.push({
        path,
        name: manifest.name,
        version: manifest.version,
        licence: typeof license === 'string' ? license : undefined,
      });
    }
    packages.push(...installedPackages(root, `${path}/node_modules`));
  }
  return packages;
}

function packageNames(root: string, under: string): string[] {
  const names: string[] = [];
  for (const name of directories(join(root, under))) {
    if (!name.startsWith('@')) names.push(name);
    else for (const inner of directories(join(root, under, name))) names.push(`${name}/${inner}`);
  }
  return names;
}

function directories(path: string): string[] {
  try {
    return readdirSync(path, { withFileTypes: true })
      .filter((entry) => (entry.isDirectory() || entry.isSymbolicLink()) && entry.name[0] !== '.')
      .map((entry) => entry.name)
      .sort();
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return [];
    throw error;
  }
}

function readManifest(
  path: string,
): { name?: string; version?: string; license?: unknown } | undefined {
  try {
    return JSON.parse(readFileSync(join(path, 'package.json'), 'utf8'));
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * How what is installed differs from what is locked; a package for another platform may be missing.
 */
export function installationProblems(
  installed: readonly InstalledPackage[],
  locked: readonly LockedPackage[],
): string[] {
  const problems: string[] = [];
  const there = new Map(installed.map((each) => [each.path, each]));
  for (const { path, version, optional } of locked) {
    const found = there.get(path);
    there.delete(path);
    if (found === undefined) {
      if (!optional) problems.push(`${path}: locked, and not installed`);
    } else if (found.version !== version) {
      problems.push(`${path}: ${version} is locked, ${found.version} installed`);
    }
  }
  for (const path of there.keys()) problems.push(`${path}: installed, and not locked`);
  return problems;
}
