import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { EXAMPLE_PAGE, EXAMPLE_PICTURE, makeExample, shows } from '../../build/example-page.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const REMEDY = 'Type: npm run build && npm run docs:example';

test('the example of a report is what the program makes, and its picture shows it', () => {
  const page = readFileSync(join(ROOT, EXAMPLE_PAGE), 'utf8');
  expect(page === makeExample(), REMEDY).toBe(true);
  const picture = readFileSync(join(ROOT, EXAMPLE_PICTURE));
  expect(shows(picture, page), REMEDY).toBe(true);
  expect(shows(picture, `${page} `)).toBe(false);
});
