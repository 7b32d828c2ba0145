import { readdirSync, statSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { bytesOf, charactersOf, readCorpus } from '../../fuzz/corpus.js';
import { shown } from '../../fuzz/fault.js';
import { runSession } from '../../fuzz/session.js';
import type { Target } from '../../fuzz/target.js';
import { TARGETS } from '../../fuzz/targets/index.js';

const FIXTURES = new URL('../../fixtures/fuzz/', import.meta.url);
const MAX_BYTES = 300_000;

describe('the stored inputs of the fuzzer pass with the shipped kernel', () => {
  it.each(Object.entries(TARGETS))('%s', async (name, url) => {
    const { target } = (await import(url.href)) as { target: Target };
    const kept = readCorpus(name);
    expect(kept.length).toBeGreaterThan(5);
    const inputs = [...kept, ...target.seeds.map(bytesOf)];
    const result = await runSession(
      { kind: 'replay', targetUrl: url.href, covered: '', inputs },
      { patience: 60_000 },
    );
    if (result.kind === 'found') {
      expect.fail(`${shown(charactersOf(result.input))}: ${result.message}`);
    }
    expect(result.runs).toBe(inputs.length);
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
