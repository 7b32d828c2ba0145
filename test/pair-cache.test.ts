import { expect, test } from 'vitest';
import { PairCache } from '../src/base/maps.js';

test('a cache of pairs gives each pair its own value, before and after it grows', () => {
  const cache = new PairCache<string>(16);
  let computed = 0;
  const ask = (one: number, other: number) =>
    cache.of(one, other, () => {
      computed++;
      return `${one} ${other}`;
    });
  const wrong = [];
  for (let round = 0; round < 4; round++) {
    for (let pair = 0; pair < 1000; pair++) {
      const [one, other] = [pair % 40, Math.floor(pair / 40)];
      if (ask(one, other) !== `${one} ${other}`) wrong.push([round, pair]);
    }
  }
  expect(wrong).toEqual([]);
  // Once as it comes, once more as it is kept, and once because the cache has grown.
  expect(computed).toBeGreaterThan(2000);
  expect(computed).toBeLessThan(3200);
});

test('a value that is computed while the cache grows is not kept for another pair', () => {
  const cache = new PairCache<number>(16);
  // So many that one has, in the grown cache, the place that the first pair had.
  const pairs = 400_000;
  cache.of(1, 1, () => 1);
  cache.of(1, 1, () => {
    for (let pair = 2; pair < pairs; pair++) cache.of(pair, pair, () => pair);
    return 1;
  });
  let wrong = 0;
  for (let pair = pairs - 1; pair > 0; pair--) {
    if (cache.of(pair, pair, () => pair) !== pair) wrong++;
  }
  expect(wrong).toBe(0);
});
