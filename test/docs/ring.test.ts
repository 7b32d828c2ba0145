import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import * as states from '../../src/workers/ring/words.js';
import { ROOT } from './scratch.js';

it('docs/design.md names the states of a slot', () => {
  const page = readFileSync(join(ROOT, 'docs/design.md'), 'utf8');
  const named = [...page.matchAll(/^\| `([A-Z]+)` \|/gm)].map(([, state = '']) => state);
  expect(named.length).toBeGreaterThan(6);
  expect(Object.keys(states)).toEqual(expect.arrayContaining(named));
});
