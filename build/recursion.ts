import {
  contentOf,
  importedFunctions,
  instructionsOf,
  SectionId,
  sectionsOf,
  sizedItems,
} from './wasm-module.js';
import { Opcode, WasmReader } from './wasm-reader.js';

/**
 * Whether some function of a module may call itself, by others too: of one that is called by its
 * number in a table, nobody knows.
 */
export function hasRecursion(module: Uint8Array): boolean {
  const sections = sectionsOf(module);
  const imports = importedFunctions(sections);
  const calls = sizedItems(contentOf(sections, SectionId.CODE)).map(callsOf);
  // Functions from which no way leads to one that is still open.
  const closed = new Set<number>();
  const open = new Set<number>();
  const returns = (callee: number): boolean => {
    if (callee < imports || closed.has(callee)) return true;
    const callees = calls[callee - imports];
    if (open.has(callee) || callees === undefined) return false;
    open.add(callee);
    const all = callees.every(returns);
    open.delete(callee);
    closed.add(callee);
    return all;
  };
  return !calls.every((_, index) => returns(imports + index));
}

/** In place of a function's number. */
const ANY_FUNCTION = Number.POSITIVE_INFINITY;

/** Numbers of the functions that one calls. */
function callsOf(body: Uint8Array): number[] {
  const calls: number[] = [];
  for (const { at, opcode } of instructionsOf(body)) {
    if (opcode === Opcode.CALL) calls.push(new WasmReader(body.subarray(at + 1)).number());
    else if (opcode === Opcode.CALL_INDIRECT) calls.push(ANY_FUNCTION);
  }
  return calls;
}
