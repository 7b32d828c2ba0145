import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { installationProblems, installedPackages } from '../../dependencies/installed.js';
import { isAllowed, licenceProblems } from '../../dependencies/licences.js';
import { type LockedPackage, lockProblems, readLock } from '../../dependencies/lock.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

const LOCKED: LockedPackage = {
  path: 'node_modules/a',
  version: '1.0.0',
  licence: 'MIT',
  integrity: `sha512-${'A'.repeat(86)}==`,
  resolved: 'https://registry.npmjs.org/a/-/a-1.0.0.tgz',
  development: false,
  optional: false,
  foreign: false,
  installScript: false,
};
const INSTALLED = { path: 'node_modules/a', name: 'a', version: '1.0.0', licence: 'MIT' };

describe('each package locked and installed here', () => {
  const locked = readLock(ROOT);
  const installed = installedPackages(ROOT);

  it('comes from the registry, has a SHA-512 checksum, and runs no script when it is installed', () => {
    expect(locked.length).toBeGreaterThan(50);
    expect(lockProblems(locked)).toEqual([]);
  });

  it('has an allowed licence', () => {
    expect(installed.length).toBeGreaterThan(30);
    expect(licenceProblems(installed, locked)).toEqual([]);
  });

  it('has a line in dependencies/README.md, if it is a runtime or a direct dependency', () => {
    const told = readFileSync(join(ROOT, 'dependencies/README.md'), 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('| `'))
      .map((line) => line.split('`')[1] ?? '')
      .sort();
    const { dependencies, devDependencies } = JSON.parse(
      readFileSync(join(ROOT, 'package.json'), 'utf8'),
    ) as Record<'dependencies' | 'devDependencies', Record<string, string>>;
    const direct = Object.keys({ ...dependencies, ...devDependencies });
    const toRun = locked
      .filter(({ development, optional }) => !development && !optional)
      .map(({ path }) => path.slice('node_modules/'.length));
    expect(toRun.length).toBeGreaterThanOrEqual(Object.keys(dependencies).length);
    expect(told).toEqual([...new Set([...direct, ...toRun])].sort());
  });
});

describe('a locked package is refused', () => {
  it.each<[string, Partial<LockedPackage>]>([
    ['without a checksum', { integrity: undefined }],
    ['with a weak one', { integrity: 'sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=' }],
    ['from elsewhere', { resolved: 'git+ssh://git@github.com/a/a.git#1234' }],
    ['from another registry', { resolved: 'https://registry.npmjs.org.example/a.tgz' }],
    ['from a directory', { foreign: true }],
    ['that runs a program', { installScript: true }],
  ])('%s', (_what, change) => {
    expect(lockProblems([LOCKED])).toEqual([]);
    expect(lockProblems([LOCKED, { ...LOCKED, path: 'node_modules/b', ...change }])).toEqual([
      expect.stringMatching(/^node_modules\/b: /),
    ]);
  });
});

describe('licences', () => {
  const allowed = new Set(['MIT', 'Apache-2.0']);

  it.each([
    ['MIT', true],
    ['(MIT OR GPL-3.0)', true],
    ['GPL-3.0 OR (MIT AND Apache-2.0)', true],
    ['GPL-3.0 OR Apache-2.0 AND MIT', true],
    ['MIT AND GPL-3.0', false],
    ['GPL-3.0 OR MIT AND AGPL-3.0', false],
    ['Apache-2.0 WITH LLVM-exception', false],
    ['UNLICENSED', false],
    ['SEE LICENSE IN LICENSE', false],
    ['(MIT', false],
    ['MIT)', false],
    ['MIT MIT', false],
    ['MIT OR', false],
    ['', false],
  ])('%s', (expression, expected) => {
    expect(isAllowed(expression, allowed)).toBe(expected);
  });

  it('the installed package decides, not the lock file', () => {
    expect(licenceProblems([INSTALLED], [LOCKED])).toEqual([]);
    expect(licenceProblems([{ ...INSTALLED, licence: 'GPL-3.0' }], [LOCKED])).toEqual([
      'node_modules/a: GPL-3.0',
    ]);
    expect(licenceProblems([{ ...INSTALLED, licence: undefined }], [LOCKED])).toEqual([
      'node_modules/a: names no licence',
    ]);
    expect(licenceProblems([], [{ ...LOCKED, licence: 'AGPL-3.0' }])).toEqual([
      'node_modules/a: AGPL-3.0',
    ]);
  });

  it('runtime packages may have fewer licences than tools', () => {
    const mozilla = { ...LOCKED, licence: 'MPL-2.0' };
    expect(licenceProblems([], [{ ...mozilla, development: true }])).toEqual([]);
    expect(licenceProblems([], [mozilla])).toHaveLength(1);
    expect(licenceProblems([{ ...INSTALLED, licence: 'MPL-2.0' }], [])).toHaveLength(1);
  });
});

describe('an installed package', () => {
  /** A project with these packages, each at its path. */
  function project(manifests: Record<string, object>): string {
    const root = mkdtempSync(join(tmpdir(), 'robots-filter-'));
    onTestFinished(() => rmSync(root, { recursive: true }));
    for (const [path, manifest] of Object.entries(manifests)) {
      mkdirSync(join(root, path), { recursive: true });
      writeFileSync(join(root, path, 'package.json'), JSON.stringify(manifest));
    }
    return root;
  }

  it('is found at every depth, scoped, linked or nested', () => {
    const root = project({
      'node_modules/a': { name: 'a', version: '1.0.0', license: 'MIT' },
      'node_modules/a/node_modules/@s/b': { name: '@s/b', version: '2.0.0', license: 'ISC' },
      'node_modules/@s/c': { name: '@s/c', version: '3.0.0', licenses: [{ type: 'MIT' }] },
      'node_modules/a/lib': { type: 'module' },
      'elsewhere/d': { name: 'd', version: '4.0.0', license: 'GPL-3.0' },
    });
    mkdirSync(join(root, 'node_modules/.bin'));
    symlinkSync(join(root, 'elsewhere/d'), join(root, 'node_modules/d'));
    const found = installedPackages(root);
    expect(found.map(({ path, licence }) => [path, licence])).toEqual([
      ['node_modules/@s/c', undefined],
      ['node_modules/a', 'MIT'],
      ['node_modules/a/node_modules/@s/b', 'ISC'],
      ['node_modules/d', 'GPL-3.0'],
    ]);
    expect(dirname(root)).not.toBe(root);
  });

  it('is locked; a locked package is installed unless it is optional', () => {
    const other = { ...LOCKED, path: 'node_modules/b' };
    expect(installationProblems([INSTALLED], [LOCKED])).toEqual([]);
    expect(installationProblems([INSTALLED], [LOCKED, { ...other, optional: true }])).toEqual([]);
    expect(installationProblems([INSTALLED], [LOCKED, other])).toEqual([
      'node_modules/b: locked, and not installed',
    ]);
    expect(installationProblems([{ ...INSTALLED, version: '1.0.1' }], [LOCKED])).toEqual([
      'node_modules/a: 1.0.0 is locked, 1.0.1 installed',
    ]);
    expect(installationProblems([INSTALLED], [])).toEqual([
      'node_modules/a: installed, and not locked',
    ]);
  });
});
