/**
 * Adds to a module an exported counter of its steps, `steps`: entries of functions, iterations of
 * loops, and a step for each 16 bytes that memory.copy and memory.fill move. The code between two
 * steps is straight, and the input cannot change its length: so work is at most a constant times
 * the steps. The arguments are the paths of the module and of the metered one.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import binaryen from 'assemblyscript/binaryen';

/** The code executed at each entry of a function and at each iteration of a loop. */
const STEP = '(global.set $steps (i64.add (global.get $steps) (i64.const 1)))';

/** Replaces the instructions that move many bytes: a step for each 16 bytes. */
const BULK = ['memory.copy', 'memory.fill'];

/**
 * binaryen writes each instruction on its own line, and a function's locals before its
 * instructions.
 *
 * @param {string} text
 */
function withSteps(text) {
  const out = [];
  let atEntry = false;
  for (const line of text.split('\n')) {
    const instruction = line.trimStart();
    if (atEntry && !instruction.startsWith('(local ')) {
      out.push(STEP);
      atEntry = false;
    }
    let metered = line;
    for (const name of BULK) metered = metered.replace(`(${name}`, `(call $metered.${name}`);
    out.push(metered);
    if (instruction.startsWith('(func ')) atEntry = true;
    if (instruction.startsWith('(loop ')) out.push(STEP);
  }
  const end = out.lastIndexOf(')');
  const counter = '(global $steps (export "steps") (mut i64) (i64.const 0))';
  return [...out.slice(0, end), counter, ...BULK.map(bulkFunction), ')'].join('\n');
}

/** @param {string} name */
function bulkFunction(name) {
  const operands = [0, 1, 2].map((index) => `(local.get ${index})`).join(' ');
  const sixteens = '(i64.extend_i32_u (i32.shr_u (local.get 2) (i32.const 4)))';
  return `(func $metered.${name} (param i32 i32 i32)
    (global.set $steps (i64.add (global.get $steps) ${sixteens}))
    (${name} ${operands}))`;
}

const [, , from = '', to = ''] = process.argv;
const original = binaryen.readBinary(readFileSync(from));
const text = original.emitText();
original.dispose();
const parsed = binaryen.parseText(withSteps(text));
parsed.setFeatures(binaryen.Features.All);
writeFileSync(to, parsed.emitBinary());
