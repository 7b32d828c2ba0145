import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { parsePattern } from '../../src/compile/automaton/pattern.js';
import { Buckets } from '../../src/compile/automaton/teddy.js';
import { Windows } from '../../src/compile/automaton/window.js';
import { BLOCK_MASK_BYTES } from '../../src/table/format.js';
import { ROOT } from './scratch.js';

it('docs/teddy.md shows the windows and masks of the compiler', () => {
  const page = readFileSync(join(ROOT, 'docs/teddy.md'), 'utf8');
  const rows = [...page.matchAll(/^\| `(\/\*[^`]+)` \| `([^`]{3})` \|$/gm)];
  expect(rows.length).toBe(4);
  const windows = new Windows();
  const buckets = new Buckets();
  buckets.clear();
  for (const [, rule = '', window] of rows) {
    windows.choose(parsePattern(Buffer.from(rule), 'rfc9309')?.segments ?? []);
    expect(windows.count).toBe(1);
    expect(String.fromCharCode(...windows.bytes.subarray(0, 3))).toBe(window);
    buckets.addRule();
    buckets.addWindow(windows.bytes, 0);
  }
  buckets.deal();
  const masks = Buffer.alloc(BLOCK_MASK_BYTES);
  buckets.writeMasks(masks, 0);
  const shown = [...page.matchAll(/^(?:1st|2nd|3rd) (?:low|high) +((?:[0-9a-f]{2} ?){16})$/gm)];
  const entries = shown.map(([, entries = '']) => entries.replaceAll(' ', '')).join('');
  expect(entries).toBe(masks.toString('hex'));
});
