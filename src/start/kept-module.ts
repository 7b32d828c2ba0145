/**
 * Loads a module of WebAssembly with the machine code that V8's optimising compiler made of it when the program was built. Else V8 compiles each
 * function twice, quickly as it is first called and well once it has run for a while, and keeps a core busy with that in each run:
 * 1 MB of NDJSON takes 67 ms in place of 50, a million lines 202 in place of 171 (least of 21 runs).
 *
 * Browsers keep such code. Node has no name for that; V8 has one for its own tests, which a script may use while a flag is set. V8 takes
 * code that was made with its version, its flags and the processor's features, and aborts if it is called wrongly: so what
 * is kept is used by no other executable than that for which the build has tried it (build/code.ts).
 */

import { readFileSync, statSync } from 'node:fs';
import { compileFunction } from 'node:vm';
import { keptCode } from './kept-code.js';

/*
 * Layout of what is kept: the line of executable(); the code; the octets of the module that it was made of. That the last are there, and
 * equal, says that nothing was cut off.
 */

/**
 * The module in a file of WebAssembly, compiled anew; or, if there is one with machine code that V8 takes, the same module in a form that takes longer to
 * compile and less to run.
 */
export function moduleOf(file: string): WebAssembly.Module {
  return keptModule(aheadFile(file)) ?? new WebAssembly.Module(readFileSync(file));
}

/** Where a module lies in the form that is compiled ahead of time. */
export function aheadFile(file: string): string {
  return `${file.slice(0, -'.wasm'.length)}.ahead.wasm`;
}

/** A module with the code that is kept of its file, if there is such code and V8 takes it. */
export function keptModule(file: string): WebAssembly.Module | undefined {
  const kept = keptCode(file);
  const start = executable();
  if (kept === undefined || start === undefined) return undefined;
  const octets = readFileSync(file);
  const end = kept.length - octets.length;
  if (end <= start.length) return undefined;
  if (!kept.subarray(0, start.length).equals(start)) return undefined;
  if (!kept.subarray(end).equals(octets)) return undefined;
  const code = new Uint8Array(kept.subarray(start.length, end)).buffer;
  return v8('DeserializeWasmModule', code, octets) as WebAssembly.Module | undefined;
}

/** What is to be kept of a module that has been compiled ahead of time; V8 aborts if there is nothing. */
export function codeOf(module: WebAssembly.Module, octets: Buffer): Buffer {
  const start = executable();
  if (start === undefined) throw new Error(`${process.execPath} cannot be looked at`);
  const code = v8('SerializeWasmModule', module) as ArrayBuffer;
  return Buffer.concat([start, new Uint8Array(code), octets]);
}

/** A line that tells this executable from others with the same version of V8, built otherwise; none if it has gone, or is kept from this process. */
function executable(): Buffer | undefined {
  try {
    const { size, mtimeMs } = statSync(process.execPath);
    return Buffer.from(`node ${process.version} ${size} ${mtimeMs}\n`);
  } catch {
    return undefined;
  }
}

function v8(name: 'SerializeWasmModule' | 'DeserializeWasmModule', ...args: unknown[]): unknown {
  // Not imported: it takes 2.4 ms to load, and many runs need none of this.
  const { setFlagsFromString } = process.getBuiltinModule('node:v8');
  const names = args.map((_, index) => `argument${index}`);
  setFlagsFromString('--allow-natives-syntax');
  try {
    return compileFunction(`return %${name}(${names.join(', ')})`, names)(...args);
  } finally {
    setFlagsFromString('--no-allow-natives-syntax');
  }
}
