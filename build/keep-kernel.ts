/**
 * Has V8's optimising compiler compile all of the kernel, and keeps the machine code for the next start (src/start/kept-module.ts). In a process
 * of its own: V8 is told in flags how to compile, and aborts if it has no such functions any more.
 */

import { readFileSync, writeFileSync } from 'node:fs';
import { setFlagsFromString } from 'node:v8';
import { kernelFile } from '../src/kernel/module.js';
import { codeFile } from '../src/start/kept-code.js';
import { codeOf } from '../src/start/kept-module.js';

/** What V8 compiles at once and for good, and what not, unless it is told. */
const COMPILERS = ['liftoff', 'wasm-lazy-compilation', 'wasm-dynamic-tiering'];

const file = kernelFile();
const octets = readFileSync(file);
for (const name of COMPILERS) setFlagsFromString(`--no-${name}`);
const module = new WebAssembly.Module(octets);
// V8 takes code only with the flags that it was made with.
for (const name of COMPILERS) setFlagsFromString(`--${name}`);
writeFileSync(codeFile(file), codeOf(module, octets));
