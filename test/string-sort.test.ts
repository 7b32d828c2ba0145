import { expect, test } from 'vitest';
import { firstStrings, sortStrings } from '../src/base/string-sort.js';
import { Random } from './random/random.js';

const LONGEST = 12;

/** Texts of ASCII as strings of bytes. */
function stringsOf(texts: readonly string[]) {
  const bytes = texts.map((text) => Buffer.from(text.padEnd(2 * LONGEST, '\0')));
  return {
    count: texts.length,
    // Signed, as bitwise operators give it.
    word: (item: number, offset: number) => bytes[item]?.readInt32BE(offset) ?? 0,
  };
}

test('the first strings are those of all strings in their order, however many are wanted', () => {
  const random = new Random(8);
  let equal = 0;
  for (let round = 0; round < 200; round++) {
    const letters = random.pick([['a'], ['a', 'b'], ['a', 'b', '\x7f', '\xff']]);
    const texts = Array.from({ length: random.between(0, 60) }, () =>
      random.run(letters, 0, LONGEST).slice(0, LONGEST),
    );
    const ascii = texts.map((text) => text.replaceAll('\xff', '~'));
    const order = ascii
      .map((text, index) => ({ text, index }))
      .sort((a, b) => (a.text < b.text ? -1 : a.text > b.text ? 1 : a.index - b.index))
      .map(({ index }) => index);
    equal += ascii.length - new Set(ascii).size;
    const strings = stringsOf(ascii);
    expect([...sortStrings(strings, LONGEST)]).toEqual(order);
    for (const most of [0, 1, 2, random.between(0, 60), 60, 1000]) {
      expect([...firstStrings(strings, LONGEST, most)]).toEqual(order.slice(0, most));
    }
  }
  expect(equal).toBeGreaterThan(1000);
});
