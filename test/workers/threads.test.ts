import { existsSync } from 'node:fs';
import { describe, expect, it, test, vi } from 'vitest';
import { entryFile } from '../../src/files/package-file.js';
import { Threads } from '../../src/workers/pool.js';

/** The refusal of the system, and when it occurs, as Node reports it. */
const refusal = vi.hoisted(() => ({ at: '', code: 'ERR_WORKER_INIT_FAILED', message: '' }));

class RefusedPiscina {
  constructor() {
    if (refusal.at === 'construction') throw this.#error();
  }
  once(): void {}
  on(): void {}
  async run(): Promise<never> {
    throw this.#error();
  }
  async destroy(): Promise<void> {}
  #error(): Error {
    return Object.assign(new Error(refusal.message), { code: refusal.code });
  }
}

vi.mock('node:module', async (importOriginal) => {
  const { createRequire, ...module } = await importOriginal<typeof import('node:module')>();
  return {
    ...module,
    createRequire: (file: string) => (id: string) =>
      id.includes('piscina') ? { Piscina: RefusedPiscina } : createRequire(file)(id),
  };
});

const OPTIONS = { heapMebibytes: undefined };
const REMEDY =
  'A thread could not be started (REASON). Use fewer with --threads, or raise the limits of ' +
  'processes and open files (ulimit -u, ulimit -n)';

describe('a thread that the system refuses to start', () => {
  it.each([
    ['construction', 'ERR_WORKER_INIT_FAILED', 'Worker initialization failure: EAGAIN'],
    ['run', 'ERR_WORKER_INIT_FAILED', 'Worker initialization failure: EMFILE'],
    ['run', 'EMFILE', 'EMFILE: too many open files, open judge.cjs'],
  ])('is an error with a remedy, at its %s: %s, %s', async (at, code, message) => {
    Object.assign(refusal, { at, code, message });
    const start = async (): Promise<unknown> => new Threads(1, OPTIONS).run(0);
    await expect(start()).rejects.toMatchObject({
      name: 'RobotsFilterError',
      code: 'worker',
      message: REMEDY.replace('REASON', message),
    });
  });

  it('is an error with another remedy if Node forbids threads', async () => {
    Object.assign(refusal, {
      at: 'construction',
      code: 'ERR_ACCESS_DENIED',
      message: 'restricted',
    });
    const start = async (): Promise<unknown> => new Threads(1, OPTIONS).run(0);
    await expect(start()).rejects.toMatchObject({
      code: 'worker',
      message: "Node's permission model forbids threads. Start Node with --allow-worker too",
    });
  });

  it('is distinguished from a task that fails for another reason', async () => {
    Object.assign(refusal, { at: 'run', code: 'ERR_OTHER', message: 'another' });
    await expect(new Threads(1, OPTIONS).run(0)).rejects.toThrow(/^another$/);
  });
});

test.each(['judge', 'compile'] as const)('the file of the %s threads is CommonJS', (name) => {
  // Node 20 aborts the process (SIGABRT) if a thread is ended while Node links its ES modules.
  expect(entryFile(name)).toMatch(/\.cjs$/);
  expect(existsSync(entryFile(name) ?? '')).toBe(true);
});
