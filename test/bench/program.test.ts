import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Filter } from '../../bench/program/filter.js';
import {
  type InstalledPackage,
  packageText,
  providePackage,
} from '../../bench/program/installed-package.js';

let directory: string;

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'robots-filter-program-'));
});

afterAll(() => rmSync(directory, { recursive: true }));

/** An installation whose program is a script. */
function installed(name: string, script: string): Promise<InstalledPackage> {
  const modules = join(directory, name, 'node_modules');
  mkdirSync(join(modules, '.bin'), { recursive: true });
  mkdirSync(join(modules, 'robots-filter'), { recursive: true });
  writeFileSync(join(modules, 'robots-filter', 'package.json'), '{ "version": "1.2.3" }');
  writeFileSync(join(modules, '.bin', 'robots-filter'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return providePackage(directory, join(directory, name));
}

describe('an installed package', () => {
  it('is found with its version and its program', async () => {
    const found = await installed('found', 'true');
    expect(found.version).toBe('1.2.3');
    expect(packageText(found)).toContain(join('node_modules', '.bin', 'robots-filter'));
  });

  it('is an error if it is missing', async () => {
    await expect(providePackage(directory, directory)).rejects.toThrow('npm install');
  });
});

describe('the filter of an installed package', () => {
  const statistics = { complete: true, records: 3, passed: 3, agents: [] };

  it('returns the statistics, from a file and from a pipe', async () => {
    const script = `case "$*" in *--stats=json*) echo '${JSON.stringify(statistics)}' >&2;; esac`;
    const filter = new Filter(await installed('counting', script));
    for (const route of ['file', 'cat |', 'cat | … | cat'] as const) {
      const run = await filter.runCounted([], { paths: ['/dev/null'], route });
      expect(run.statistics).toEqual(statistics);
    }
  });

  it('fails if the statistics are incomplete or missing, or the program fails', async () => {
    const incomplete = JSON.stringify({ ...statistics, complete: false });
    const scripts = [`echo '${incomplete}' >&2`, 'echo oops >&2', 'exit 3'];
    for (const [index, script] of scripts.entries()) {
      const filter = new Filter(await installed(`failing-${index}`, script));
      for (const route of ['file', 'cat |'] as const) {
        await expect(filter.runCounted([], { paths: ['/dev/null'], route })).rejects.toThrow();
      }
    }
  });
});
