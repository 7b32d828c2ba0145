import type { InstalledPackage } from './installed.js';
import type { LockedPackage } from './lock.js';

/**
 * Licences of what the package needs to run: permissive, none asks anything of who uses it but to
 * keep the notice.
 */
const RUNTIME_LICENCES: ReadonlySet<string> = new Set([
  'MIT',
  'ISC',
  '0BSD',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'Apache-2.0',
]);

/**
 * Further ones, of tools that are never passed on: MPL-2.0 asks for the sources of changed files.
 */
const TOOL_LICENCES: ReadonlySet<string> = new Set([
  ...RUNTIME_LICENCES,
  'BlueOak-1.0.0',
  'MPL-2.0',
]);

/**
 * Whether an SPDX licence expression lets one choose allowed licences only: `A OR B` if either is
 * allowed, `A AND B` if both are. Anything else, `WITH` too, is not understood, and so not allowed.
 */
export function isAllowed(expression: string, allowed: ReadonlySet<string>): boolean {
  const words = expression.replaceAll('(', ' ( ').replaceAll(')', ' ) ').trim().split(/\s+/);
  let at = 0;
  let understood = true;

  function alternatives(): boolean {
    let result = conjunction();
    while (words[at] === 'OR') {
      at++;
      const other = conjunction();
      result ||= other;
    }
    return result;
  }

  function conjunction(): boolean {
    let result = licence();
    while (words[at] === 'AND') {
      at++;
      const other = licence();
      result &&= other;
    }
    return result;
  }

  function licence(): boolean {
    const word = words[at++];
    if (word !== '(') {
      understood &&= word !== undefined && /^[A-Za-z0-9.-]+$/.test(word);
      return word !== undefined && allowed.has(word);
    }
    const result = alternatives();
    understood &&= words[at++] === ')';
    return result;
  }

  const result = alternatives();
  return result && understood && at === words.length;
}

/**
 * Which packages are under a licence that is not allowed: of those installed by what they say of
 * themselves, of those locked for other platforms by what the lock says.
 */
export function licenceProblems(
  installed: readonly InstalledPackage[],
  locked: readonly LockedPackage[],
): string[] {
  const own = new Map(installed.map(({ path, licence }) => [path, licence]));
  const runtime = new Set(locked.filter(({ development }) => !development).map(({ path }) => path));
  const development = new Set(locked.filter((each) => each.development).map(({ path }) => path));
  const all = new Map(locked.map(({ path, licence }) => [path, licence]));
  for (const [path, licence] of own) all.set(path, licence);
  const problems: string[] = [];
  for (const [path, licence] of all) {
    // What is not locked is held to the stricter list.
    const allowed = development.has(path) && !runtime.has(path) ? TOOL_LICENCES : RUNTIME_LICENCES;
    if (licence === undefined) problems.push(`${path}: names no licence`);
    else if (!isAllowed(licence, allowed)) problems.push(`${path}: ${licence}`);
  }
  return problems;
}
