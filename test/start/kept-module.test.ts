import {
  copyFileSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { compileAhead } from '../../build/compile-ahead.js';
import { createMemory, instantiateKernel, PAGE_OCTETS } from '../../src/kernel/kernel.js';
import { kernelFile } from '../../src/kernel/module.js';
import { codeFile } from '../../src/start/kept-code.js';
import { aheadFile, codeOf, keptModule, moduleOf } from '../../src/start/kept-module.js';

const AHEAD = aheadFile(kernelFile());

/** Octets of code at whose loss, before the module's octets begin, something must be missed. */
const CUTS = [1, 2, 100, 5_000];

describe('machine code that is kept of a module', () => {
  /** The module as it is compiled when it runs, and ahead. */
  let file: string;
  let ahead: string;
  let kept: Buffer;
  let octets: Buffer;

  beforeEach(() => {
    const place = mkdtempSync(join(tmpdir(), 'robots-filter-'));
    onTestFinished(() => rmSync(place, { recursive: true }));
    file = join(place, 'kernel.wasm');
    ahead = aheadFile(file);
    copyFileSync(kernelFile(), file);
    copyFileSync(AHEAD, ahead);
    octets = readFileSync(ahead);
    kept = readFileSync(codeFile(AHEAD));
    writeFileSync(codeFile(ahead), kept);
  });

  it('is there for the kernel, and V8 takes it', () => {
    expect(keptModule(AHEAD)).toBeInstanceOf(WebAssembly.Module);
    expect(keptModule(ahead)).toBeInstanceOf(WebAssembly.Module);
    expectToWork(moduleOf(file));
    rmSync(file);
    expectToWork(moduleOf(file));
  });

  it('is left if another executable made it', () => {
    const other = Buffer.from(kept);
    const size = other.indexOf(' ', 'node '.length) + 1;
    other[size] = (other[size] ?? 0) ^ 1;
    expectLeft(other);
    expectLeft(Buffer.concat([Buffer.from('#'), kept]));
  });

  it('is left if the executable has gone, as when another is installed meanwhile', () => {
    const { execPath } = process;
    onTestFinished(() => {
      process.execPath = execPath;
    });
    process.execPath = join(file, 'gone');
    expect(keptModule(ahead)).toBe(undefined);
    expectToWork(moduleOf(file));
    expect(() => codeOf(moduleOf(file), octets)).toThrow('gone');
  });

  it('is left if anything was cut off', () => {
    for (const cut of CUTS) {
      expectLeft(kept.subarray(0, kept.length - cut));
      expectLeft(kept.subarray(cut));
    }
    const line = kept.indexOf('\n') + 1;
    for (const length of [0, 1, line - 1, line, octets.length]) {
      expectLeft(kept.subarray(0, length));
    }
    expectLeft(Buffer.concat([kept.subarray(0, line), octets]));
  });

  it('is left if it was made of another module', () => {
    const last = octets.length - 1;
    octets[last] = (octets[last] ?? 0) ^ 1;
    writeFileSync(ahead, octets);
    writeFileSync(codeFile(ahead), kept);
    expect(keptModule(ahead)).toBe(undefined);
  });

  it('is left if V8 does not take it, as it was made with other flags or by another V8', () => {
    const line = kept.indexOf('\n') + 1;
    for (let at = line; at < line + 16; at++) {
      const other = Buffer.from(kept);
      other[at] = (other[at] ?? 0) ^ 0x10;
      expectLeft(other);
    }
  });

  it('is left if it is older than the module', () => {
    const [before, after] = [new Date(1_000_000), new Date(2_000_000)];
    utimesSync(codeFile(ahead), before, before);
    utimesSync(ahead, after, after);
    expect(keptModule(ahead)).toBe(undefined);
  });

  it('is not missed', () => {
    rmSync(codeFile(ahead));
    expectToWork(moduleOf(file));
    rmSync(ahead);
    expectToWork(moduleOf(file));
  });

  it('can be made of what is compiled ahead of time', () => {
    writeFileSync(codeFile(ahead), codeOf(compileAhead(octets), octets));
    expect(keptModule(ahead)).toBeInstanceOf(WebAssembly.Module);
    expectToWork(moduleOf(file));
  });

  function expectLeft(code: Uint8Array): void {
    writeFileSync(codeFile(ahead), code);
    expect(keptModule(ahead)).toBe(undefined);
    expectToWork(moduleOf(file));
  }
});

function expectToWork(module: WebAssembly.Module): void {
  const memory = createMemory(PAGE_OCTETS);
  const kernel = instantiateKernel(module, memory);
  const text = Buffer.from('/%7ea%2Fb');
  const from = 64;
  const end = from + text.length;
  new Uint8Array(memory.buffer).set(text, from);
  const written = kernel.canonicaliseLiteral(from, end, end, 0);
  expect(written - end).toBeGreaterThan(text.length - 3);
  expect(Buffer.from(memory.buffer.slice(end, end + 3)).toString()).toBe('/~a');
}
