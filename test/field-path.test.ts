import { expect, test } from 'vitest';
import { formatFieldPath, parseFieldPath } from '../src/base/arguments.js';
import { cases } from './random/cases.js';
import { Random } from './random/random.js';

test('a path is read as it was written, whatever its names hold', () => {
  const pieces = ['a', 'url', '.', '"', '\\', ' ', 'é', '\n', ''];
  let quoted = 0;
  const random = new Random(1);
  for (let round = 0; round < cases(500); round++) {
    const name = () => random.run(pieces, 0, 3);
    const path = Array.from({ length: random.between(1, 3) }, name);
    const text = formatFieldPath(path);
    if (text.includes('"')) quoted++;
    expect(parseFieldPath(text), text).toEqual(path);
  }
  expect(quoted).toBeGreaterThan(100);
});

test('plain names stand without quotes', () => {
  expect(parseFieldPath('request.url')).toEqual(['request', 'url']);
  expect(parseFieldPath('"request.url".x')).toEqual(['request.url', 'x']);
  expect(parseFieldPath('a"b')).toEqual(['a"b']);
  for (const wrong of ['', '.', 'a..b', 'a.', '"', '"a', '"a"b', '"\\x"', '"a"."']) {
    expect(parseFieldPath(wrong), wrong).toBeUndefined();
  }
});
