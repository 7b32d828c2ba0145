/**
 * Loads a module of WebAssembly with the machine code that V8's optimising compiler made of it when
 * the program was built. Else V8 compiles each function twice, quickly as it is first called and
 * well once it has run for a while, and keeps a core busy with that in each run: 1 MB of NDJSON
 * takes 66 ms in place of 50, a million lines 202 in place of 171 (least of 21 runs).
 *
 * Browsers keep such code. Node has no name for that; V8 has one for its own tests, which a script
 * may use while a flag is set. V8 takes code that was made with its version, its flags and the
 * processor's features. It does not look at more, and aborts if it is called wrongly: so what is
 * kept is used by no other executable than that for which the build has tried it (build/code.ts),
 * and only undamaged.
 */

import { readFileSync, statSync } from 'node:fs';
import { compileFunction } from 'node:vm';
import { codeToKeep, keptCode } from './kept-code.js';

/*
 * Layout of the code that is kept (kept-code.ts): the line of firstLine(); V8's code.
 */

/**
 * The module in a file of WebAssembly, compiled anew; or, if there is one with machine code that V8
 * takes, the same module in a form that takes longer to compile and less to run.
 */
export function moduleOf(file: string): WebAssembly.Module {
  const octets = readFileSync(file);
  return keptModule(file, octets) ?? new WebAssembly.Module(octets);
}

/** Where a module lies in the form that is compiled ahead of time. */
export function aheadFile(file: string): string {
  return `${file.slice(0, -'.wasm'.length)}.ahead.wasm`;
}

/**
 * A module in the form that is compiled ahead of time, with the code that is kept of it, if there
 * is such code and V8 takes it.
 *
 * @param octets what is in the module's own file, for which the code must have been made
 */
export function keptModule(file: string, octets: Uint8Array): WebAssembly.Module | undefined {
  try {
    const aheadPath = aheadFile(file);
    const ahead = readFileSync(aheadPath);
    const kept = keptCode(aheadPath, ahead);
    if (kept === undefined) return undefined;
    const start = kept.indexOf('\n') + 1;
    const code = kept.subarray(start);
    if (!kept.subarray(0, start).equals(firstLine(octets, code))) return undefined;
    // Where V8 has no handler for it, an access beyond the memory is seen by checks that this code
    // does without.
    if (v8('IsWasmTrapHandlerEnabled') !== true) return undefined;
    return v8('DeserializeWasmModule', new Uint8Array(code).buffer, ahead) as
      | WebAssembly.Module
      | undefined;
  } catch {
    // What cannot be read, or looked at, is not needed.
    return undefined;
  }
}

/**
 * What is to be kept of a module that has been compiled ahead of time; V8 aborts if there is
 * nothing.
 *
 * @param ahead the octets that it was made of
 * @param octets what is in the module's own file
 */
export function codeOf(module: WebAssembly.Module, ahead: Uint8Array, octets: Uint8Array): Buffer {
  const code = new Uint8Array(v8('SerializeWasmModule', module) as ArrayBuffer);
  return codeToKeep(Buffer.concat([firstLine(octets, code), code]), ahead);
}

/**
 * A line that tells this executable from others with the same version of V8, built otherwise; the
 * module; and the code.
 *
 * @throws Error if the executable has gone, is kept from this process, or leaves V8 to a library
 */
function firstLine(octets: Uint8Array, code: Uint8Array): Buffer {
  const { node_shared: isInLibrary } = process.config.variables as { node_shared?: boolean };
  if (isInLibrary === true) throw new Error('V8 is not in the executable');
  const { size, mtimeMs } = statSync(process.execPath);
  const { crc32 } = process.getBuiltinModule('node:zlib');
  return Buffer.from(
    `node ${process.version} ${size} ${mtimeMs} ${crc32(octets)} ${crc32(code)}\n`,
  );
}

const FROZEN = '-freeze-flags-after-init';

/** Functions that V8 has for its tests. */
type TestFunction = 'IsWasmTrapHandlerEnabled' | 'SerializeWasmModule' | 'DeserializeWasmModule';

function v8(name: TestFunction, ...args: unknown[]): unknown {
  // V8 takes one dash and two, and underscores.
  if (process.execArgv.some((flag) => flag.replaceAll('_', '-').endsWith(FROZEN))) {
    throw new Error(`V8 ends a process that changes a flag under -${FROZEN}`);
  }
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
