import { readdirSync, statSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readCorpus } from '../../fuzz/corpus.js';
import { shown } from '../../fuzz/fault.js';
import { replay } from '../../fuzz/replay.js';
import type { Target } from '../../fuzz/target.js';
import { TARGETS } from '../../fuzz/targets/index.js';
import { bytesOf, charactersOf } from '../../oracle/bytes.js';

const FIXTURES = new URL('../../fixtures/fuzz/', import.meta.url);
const MAX_BYTES = 300_000;

describe('the stored inputs of the fuzzer pass with the shipped kernel', () => {
  it.each(Object.entries(TARGETS))('%s', async (name, url) => {
    const { target } = (await import(url.href)) as { target: Target };
    const kept = readCorpus(name);
    expect(kept.length).toBeGreaterThan(5);
    // In this process, because to start a thread for each target takes longer. `npm run fuzz --
    // --replay` names an input that hangs.
    let begun = 0;
    const inputs = [...kept, ...target.seeds.map(bytesOf)];
    const finding = await replay(target, inputs, { begin: () => begun++ });
    if (finding !== undefined) {
      expect.fail(`${shown(charactersOf(finding.input))}: ${finding.message}`);
    }
    expect(begun).toBe(kept.length + target.seeds.length);
  });

  it('each stored input is small and belongs to a target', () => {
    const files = readdirSync(FIXTURES);
    expect(files.sort()).toEqual(
      Object.keys(TARGETS)
        .map((name) => `${name}.ndjson`)
        .sort(),
    );
    const bytes = files.map((file) => statSync(new URL(file, FIXTURES)).size);
    expect(bytes.reduce((sum, size) => sum + size)).toBeLessThan(MAX_BYTES);
  });
});
