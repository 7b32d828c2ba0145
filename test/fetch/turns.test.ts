import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type EndTurn, Turns } from '../../src/fetch/connection.js';

/** One that is never aborted. */
const patience = () => new AbortController().signal;

describe('turns', () => {
  it('are given in order, so many at a time', async () => {
    const turns = new Turns({ atOnce: 2, pause: 0, mostWaiting: 100 });
    const order: number[] = [];
    let held = 0;
    let most = 0;
    await Promise.all(
      Array.from({ length: 20 }, async (_, number) => {
        const end = turns.tryTake('a') ?? (await turns.take('a', patience()));
        order.push(number);
        most = Math.max(most, ++held);
        await new Promise(setImmediate);
        held--;
        end();
        end(); // does no harm
      }),
    );
    expect(order).toEqual(Array.from({ length: 20 }, (_, number) => number));
    expect(most).toBe(2);
    expect(turns.tryTake('a')).toBeDefined();
  });

  it('of different keys do not wait for one another', () => {
    const turns = new Turns({ atOnce: 1, pause: 1e6, mostWaiting: 100 });
    expect(turns.tryTake('a')).toBeDefined();
    expect(turns.tryTake('a')).toBeUndefined();
    expect(turns.tryTake('b')).toBeDefined();
    turns.close();
  });

  it('are a pause apart, counted from the end of the last', async () => {
    const turns = new Turns({ atOnce: 1, pause: 30, mostWaiting: 100 });
    const times: [begin: number, end: number][] = [];
    await Promise.all(
      Array.from({ length: 4 }, async () => {
        const end = await turns.take('a', patience());
        const begin = performance.now();
        await wait(10);
        times.push([begin, performance.now()]);
        end();
      }),
    );
    for (let at = 1; at < times.length; at++) {
      // Timers of Node may come a millisecond early.
      expect((times[at]?.[0] ?? 0) - (times[at - 1]?.[1] ?? 0)).toBeGreaterThanOrEqual(28);
    }
    expect(turns.tryTake('a')).toBeUndefined();
    turns.close();
  });

  it('are left by who is aborted, for those behind', async () => {
    const turns = new Turns({ atOnce: 1, pause: 0, mostWaiting: 2 });
    const first = turns.tryTake('a');
    const controller = new AbortController();
    const aborted = turns.take('a', controller.signal);
    const patient = turns.take('a', patience());
    expect(turns.isCrowded('a')).toBe(true);
    controller.abort(new Error('enough'));
    await expect(aborted).rejects.toThrow('enough');
    expect(turns.isCrowded('a')).toBe(false);
    first?.();
    const end: EndTurn = await patient;
    expect(turns.tryTake('a')).toBeUndefined();
    end();
    expect(turns.tryTake('a')).toBeDefined();
    await expect(turns.take('a', AbortSignal.abort(new Error('before')))).rejects.toThrow('before');
  });
});
