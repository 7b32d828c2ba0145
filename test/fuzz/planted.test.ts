import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from 'vitest';
import { readCorpus } from '../../fuzz/corpus.js';
import type { InstrumentedKernel } from '../../fuzz/coverage/counters.js';
import { compileKernel, instrumentKernel } from '../../fuzz/coverage/instrument.js';
import { guardedMemory } from '../../fuzz/kernel/guarded-kernel.js';
import { replay } from '../../fuzz/replay.js';
import { runSession, type SessionResult } from '../../fuzz/session.js';
import type { Target } from '../../fuzz/target.js';
import { TARGETS } from '../../fuzz/targets/index.js';
import { bytesOf, charactersOf } from '../../oracle/bytes.js';

/**
 * Fuzzes with a fixed seed, so that each run finds its fault after the same number of inputs on
 * every machine. Any seed finds the fault; these seeds find it soon.
 */
function fuzz(
  targetUrl: URL,
  kernel: InstrumentedKernel,
  runs: number,
  { patience = 60_000, seed = 1 } = {},
): Promise<SessionResult> {
  const covered = kernel.probes === 0 ? '/planted/' : '/src/';
  const limits = { seed, runs, milliseconds: Number.POSITIVE_INFINITY };
  return runSession(
    { kind: 'fuzz', targetUrl: targetUrl.href, covered, inputs: [], kernel, limits },
    { patience },
  );
}

function targetOf(name: string): URL {
  const url = TARGETS[name];
  if (url === undefined) throw new Error(`no target ${name}`);
  return url;
}

describe('the fuzzer finds planted faults', () => {
  const bytes = readFileSync(new URL('../../dist/kernel/kernel.wasm', import.meta.url));
  const withoutProbes = { bytes: new Uint8Array(bytes), probes: 0 };

  it('a fault after five conditions, guided by the coverage of scripts', async () => {
    const url = new URL('./planted/condition.ts', import.meta.url);
    const result = await fuzz(url, withoutProbes, 150_000, { seed: 13 });
    expect(result).toMatchObject({ kind: 'found', message: expect.stringMatching(/all five/) });
    if (result.kind === 'found') {
      expect([...result.input]).toEqual([0x7b, 0x25, 0x5c, 0xed, 0x3b]);
    }
  });

  it('a hang, and the input that hangs', async () => {
    const url = new URL('./planted/hang.ts', import.meta.url);
    const result = await fuzz(url, withoutProbes, 100_000, { patience: 1000 });
    expect(result).toMatchObject({ kind: 'found', message: expect.stringMatching(/^hangs/) });
    if (result.kind === 'found') expect(result.input).toContain(0x21);
  });

  it('in the kernel: a rule whose length is counted short', async () => {
    const planted = { file: 'match.ts', from: 'bytes += load<i32>(surplus)', to: 'bytes++' };
    const kernel = await instrumentKernel(planted);
    const result = await fuzz(targetOf('match'), kernel, 20_000, { seed: 4 });
    const message = expect.stringMatching(/the verdict|the deciding line/);
    expect(result).toMatchObject({ kind: 'found', message });
  });
});

/** The byte of the memory, below the queries, with the number of the fault that is there. */
const FAULT_AT = 24_576;
const is = (fault: number): string => `load<u8>(${FAULT_AT}) === ${fault}`;

/** The fuzzer takes seconds to find an input for each of these faults; it once found these. */
const FAULTS: readonly (readonly [
  what: string,
  target: string,
  message: RegExp,
  file: string,
  from: string,
  to: (condition: string) => string,
  holding?: string,
])[] = [
  [
    'a read far beyond the end',
    'url',
    /memory access out of bounds/,
    'url.ts',
    'if (at === end) return at;',
    (planted) => `if (at === end) return ${planted} ? at + load<u8>(at, 300) : at;`,
  ],
  [
    'a read just beyond the end, where it decides',
    'url',
    /the verdict|the bytes around/,
    'kernel/assembly/canonical.ts',
    'at + 2 < end &&',
    (planted) => `(${planted} ? at < end : at + 2 < end) &&`,
  ],
  [
    'a number with a leading zero taken for JSON',
    'ndjson',
    /strict refuses/,
    'kernel/assembly/json/locate-url.ts',
    '&& at - integer > 1',
    (planted) => `&& at - integer > (${planted} ? 2 : 1)`,
    // The others that are as short take seconds.
    ' :01 ',
  ],
  [
    'a version taken into the target of a log',
    'log',
    /annotated lines|URL/,
    'kernel/assembly/log.ts',
    'end - version > 4 &&',
    (planted) => `end - version > (${planted} ? 8 : 4) &&`,
  ],
  [
    'scratch memory taken twice for one copy',
    'url',
    /unreachable/,
    'locate.ts',
    'const copied = line.owned !== owned;',
    (planted) => `const copied = line.owned !== (${planted} ? 0 : owned);`,
  ],
  [
    'a history that is read beyond its end',
    'table',
    /memory access out of bounds|the bytes around/,
    'kernel/assembly/hosts.ts',
    'let high: u32 = load<u32>(history);',
    (planted) => `let high: u32 = load<u32>(history) << (${planted} ? 24 : 0);`,
  ],
  [
    'a write beyond the scratch memory',
    'url',
    /after a region were overwritten|unreachable|the verdict/,
    'kernel/assembly/decide.ts',
    'canonicalise(from, end, scratch, false)',
    (planted) =>
      `canonicalise(from, end, ${planted} ? scratch + 2 * (end - from) : scratch, false)`,
  ],
];

describe('the stored inputs find planted faults in the kernel', () => {
  let module: WebAssembly.Module;

  // One kernel has all of them, because to compile it takes longer than to find a fault.
  beforeAll(async () => {
    const planted = FAULTS.map(([, , , file, from, to], fault) => ({
      file,
      from,
      to: to(is(fault + 1)),
    }));
    module = new WebAssembly.Module(Uint8Array.from(await compileKernel(planted)));
  });

  it.each(FAULTS.map((fault, index) => [fault[0], index + 1, fault] as const))(
    '%s',
    async (_what, number, [, name, message, , , , holding = '']) => {
      const { target } = (await import(targetOf(name).href)) as { target: Target };
      // A fault needs few bytes, so short inputs come first.
      const inputs = [...target.seeds.map(bytesOf), ...readCorpus(name)];
      inputs.sort((a, b) => a.length - b.length);
      const some = inputs.filter((input) => charactersOf(input).includes(holding));
      const memory = guardedMemory();
      new Uint8Array(memory.buffer)[FAULT_AT] = number;
      const finding = await replay(target, some, { module, memory });
      expect(finding?.message).toMatch(message);
      // Without the fault the same inputs pass.
      const passed = finding === undefined ? [] : some.slice(0, some.indexOf(finding.input) + 1);
      expect(await replay(target, passed, { module })).toBeUndefined();
    },
  );
});
