/**
 * Keeps the machine code that V8's optimising compiler makes of the kernel, for the next start
 * (src/start/kept-module.ts). In a process of its own: V8 aborts if it has no such functions any
 * more.
 */

import { readFileSync, writeFileSync } from 'node:fs';
import { kernelFile } from '../src/kernel/module.js';
import { codeFile } from '../src/start/kept-code.js';
import { aheadFile, codeOf } from '../src/start/kept-module.js';
import { compileAhead } from './compile-ahead.js';

const file = kernelFile();
const ahead = readFileSync(aheadFile(file));
const code = codeOf(compileAhead(ahead), ahead, readFileSync(file));
writeFileSync(codeFile(aheadFile(file)), code);
