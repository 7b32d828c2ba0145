import { readdirSync, statSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { charactersOf, octetsOf, readCorpus } from '../../fuzz/corpus.js';
import { runSession } from '../../fuzz/session.js';
import { shown, type Target } from '../../fuzz/target.js';
import { TARGETS } from '../../fuzz/targets/index.js';

const FIXTURES = new URL('../../fixtures/fuzz/', import.meta.url);
const MAX_OCTETS = 300_000;

describe('what the fuzzer kept still holds, over the kernel as it is shipped', () => {
  it.each(Object.entries(TARGETS))('%s', async (name, url) => {
    const { target } = (await import(url.href)) as { target: Target };
    const kept = readCorpus(name);
    expect(kept.length).toBeGreaterThan(10);
    const inputs = [...kept, ...target.seeds.map(octetsOf)];
    const result = await runSession(
      { kind: 'replay', targetUrl: url.href, covered: '', inputs },
      { patience: 60_000 },
    );
    if (result.kind === 'found') {
      expect.fail(`${shown(charactersOf(result.input))}: ${result.message}`);
    }
    expect(result.runs).toBe(inputs.length);
  });

  it('is small, and belongs to a target', () => {
    const files = readdirSync(FIXTURES);
    expect(files.sort()).toEqual(
      Object.keys(TARGETS)
        .map((name) => `${name}.ndjson`)
        .sort(),
    );
    const octets = files.map((file) => statSync(new URL(file, FIXTURES)).size);
    expect(octets.reduce((sum, size) => sum + size)).toBeLessThan(MAX_OCTETS);
  });
});
