import { describe, expect, it, vi } from 'vitest';
import { startSourceThread } from '../../src/workers/pool.js';

const source = vi.hoisted(() => ({ text: '' }));

vi.mock('../../src/files/embedded.js', () => ({ embedded: () => ({ judge: () => source.text }) }));

/** Starts a thread whose program is a function of a task. */
function start(program: string, onDeath = () => {}) {
  source.text = `module.exports = ${program};`;
  return startSourceThread<number, number>({ heapMebibytes: undefined }, onDeath);
}

describe('a thread that is started from a text', () => {
  it('carries out one task after another', async () => {
    const thread = start('async (task) => 2 * task');
    expect([await thread.run(1), await thread.run(2)]).toEqual([2, 4]);
    await thread.end();
  });

  it('rejects a task that throws, and carries out the next', async () => {
    const thread = start(
      'async (task) => { if (task === 1) throw new TypeError("one"); return 3; }',
    );
    await expect(thread.run(1)).rejects.toThrow(/^one$/);
    expect(await thread.run(2)).toBe(3);
    await thread.end();
  });

  it.each([
    ['throws outside of its task', '() => new Promise(() => setImmediate(() => x.y))', /x is not/],
    ['exits', '() => process.exit(0)', /the thread has ended/],
  ])('rejects its task and later ones if it %s', async (_, program, message) => {
    const onDeath = vi.fn();
    const thread = start(program, onDeath);
    await expect(thread.run(1)).rejects.toThrow(message);
    await vi.waitFor(() => expect(onDeath).toHaveBeenCalledTimes(1));
    await expect(thread.run(2)).rejects.toThrow(message);
  });

  it('rejects a task that it is ended in', async () => {
    const thread = start('() => new Promise(() => {})');
    const task = thread.run(1);
    const rejected = expect(task).rejects.toThrow('the thread has ended');
    await thread.end();
    await rejected;
  });

  it('dies at once if its program is none', async () => {
    await expect(start('(').run(1)).rejects.toThrow(/Unexpected token/);
  });
});
