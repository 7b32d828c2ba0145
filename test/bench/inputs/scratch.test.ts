import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { makeScratch } from '../../../bench/inputs/corpus-store.js';

it('makes a directory for each run and removes only the directories of runs that ended', () => {
  const store = mkdtempSync(join(tmpdir(), 'robots-filter-store-'));
  onTestFinished(() => rmSync(store, { recursive: true }));
  const { pid: ended } = spawnSync(process.execPath, ['-e', '0']);
  const names = ['corpus-1', `run-${ended}`, `run-${process.ppid}`];
  for (const name of names) mkdirSync(join(store, name));
  const scratch = makeScratch(store);
  expect(existsSync(scratch)).toBe(true);
  expect(names.filter((name) => existsSync(join(store, name)))).toEqual([
    'corpus-1',
    `run-${process.ppid}`,
  ]);
});
