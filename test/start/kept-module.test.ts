import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { compileAhead } from '../../build/compile-ahead.js';
import { moduleWith, SectionId, sectionsOf, sized } from '../../build/wasm-module.js';
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
  let aheadOctets: Buffer;
  let octets: Buffer;

  beforeEach(() => {
    const place = mkdtempSync(join(tmpdir(), 'robots-filter-'));
    onTestFinished(() => rmSync(place, { recursive: true }));
    file = join(place, 'kernel.wasm');
    ahead = aheadFile(file);
    copyFileSync(kernelFile(), file);
    copyFileSync(AHEAD, ahead);
    aheadOctets = readFileSync(ahead);
    octets = readFileSync(file);
    kept = readFileSync(codeFile(AHEAD));
    writeFileSync(codeFile(ahead), kept);
  });

  it('is there for the kernel, and V8 takes it', () => {
    expect(keptModule(kernelFile(), octets)).toBeInstanceOf(WebAssembly.Module);
    expect(keptModule(file, octets)).toBeInstanceOf(WebAssembly.Module);
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
    expect(keptModule(file, octets)).toBe(undefined);
    expectToWork(moduleOf(file));
  });

  it('is left if anything was cut off', () => {
    for (const cut of CUTS) {
      expectLeft(kept.subarray(0, kept.length - cut));
      expectLeft(kept.subarray(cut));
    }
    const line = kept.indexOf('\n') + 1;
    for (const length of [0, 1, line - 1, line, aheadOctets.length]) {
      expectLeft(kept.subarray(0, length));
    }
    expectLeft(Buffer.concat([kept.subarray(0, line), aheadOctets]));
  });

  it('is left if it was made of another module', () => {
    writeFileSync(ahead, changedAt(aheadOctets, aheadOctets.length - 1));
    expectLeft(kept);
    writeFileSync(ahead, aheadOctets);
    writeFileSync(codeFile(ahead), kept);
    expect(keptModule(file, changedAt(octets, octets.length - 1))).toBe(undefined);
    expect(keptModule(file, octets)).toBeInstanceOf(WebAssembly.Module);
  });

  it('is left if it is damaged, wherever that is', () => {
    for (let at = 0; at < kept.length; at += 9_973) expectLeft(changedAt(kept, at));
    const line = kept.indexOf('\n') + 1;
    for (let at = line - 2; at < line + 20; at++) expectLeft(changedAt(kept, at));
  });

  it('is not missed', () => {
    rmSync(codeFile(ahead));
    expectToWork(moduleOf(file));
    rmSync(ahead);
    expectToWork(moduleOf(file));
  });

  it('can be made of what is compiled ahead of time', () => {
    // Of other octets, since V8 has a module of these.
    const unique = { id: SectionId.CUSTOM, content: sized(Buffer.from('unique')) };
    const other = moduleWith([...sectionsOf(aheadOctets), unique]);
    writeFileSync(ahead, other);
    writeFileSync(codeFile(ahead), codeOf(compileAhead(other), other, octets));
    expect(keptModule(file, octets)).toBeInstanceOf(WebAssembly.Module);
    expectToWork(moduleOf(file));
  });

  function expectLeft(code: Uint8Array): void {
    writeFileSync(codeFile(ahead), code);
    expect(keptModule(file, octets)).toBe(undefined);
    expectToWork(moduleOf(file));
  }
});

function changedAt(octets: Buffer, at: number): Buffer {
  const other = Buffer.from(octets);
  other[at] = (other[at] ?? 0) ^ 0x10;
  return other;
}

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
