import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { AutomatonCompiler } from '../../src/kernel/automata.js';
import { placeRules } from '../../src/protocol/parse.js';
import { BLOCK_MASK_BYTES } from '../../src/table/format.js';
import { ROOT } from './scratch.js';

/** The masks of windows, each in a bucket of its own. */
function masksOf(windows: readonly string[]): Buffer {
  const masks = Buffer.alloc(BLOCK_MASK_BYTES);
  windows.forEach((window, bucket) => {
    for (let place = 0; place < 3; place++) {
      const byte = window.charCodeAt(place);
      const [low, high] = [32 * place + (byte & 15), 32 * place + 16 + (byte >> 4)];
      for (const entry of [low, high]) masks[entry] = (masks[entry] ?? 0) | (1 << bucket);
    }
  });
  return masks;
}

it('docs/design.md shows the windows and masks of the compiler', () => {
  const page = readFileSync(join(ROOT, 'docs/design.md'), 'utf8');
  const rows = [...page.matchAll(/^\| `(\/\*[^`]+)` \| `([^`]{3})` \|$/gm)];
  expect(rows.length).toBe(4);
  const rules = rows.map(([, rule]) => `Disallow: ${rule}\n`).join('');
  const file = placeRules(Buffer.from(`User-agent: *\n${rules}`), {});
  const automaton = new AutomatonCompiler().compile(file.rules, 0, rows.length, 'rfc9309');
  const shown = [...page.matchAll(/^(?:1st|2nd|3rd) (?:low|high) +((?:[0-9a-f]{2} ?){16})$/gm)];
  const entries = shown.map(([, entries = '']) => entries.replaceAll(' ', '')).join('');
  // The rules of a block stand by falling rank, and so do their buckets.
  const byRank = [...rows].sort(([, a = ''], [, b = '']) => b.length - a.length);
  const windows = byRank.map(([, , window = '']) => window);
  expect(Buffer.from(automaton ?? []).toString('hex')).toContain(masksOf(windows).toString('hex'));
  expect(masksOf(rows.map(([, , window = '']) => window)).toString('hex')).toBe(entries);
});
