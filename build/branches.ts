import {
  branchesOf,
  contentOf,
  importedFunctions,
  leb128,
  listOf,
  moduleWith,
  type Section,
  SectionId,
  sectionsOf,
  sized,
  sizedItems,
  withItem,
} from './wasm-module.js';
import { Opcode, WasmReader } from './wasm-reader.js';

/**
 * For each branch of a module, in their order, how often its condition was false, and how often it
 * was true.
 */
export type BranchCounts = Uint32Array;

/** Octets of the two counters of a branch. */
const COUNTER_OCTETS = 8;

const I32 = 0x7f;
const I32_CONST = 0x41;
const FUNCTION_TYPE = 0x60;

const HINTS = 'metadata.code.branch_hint';
const UNLIKELY = 0;
const LIKELY = 1;

/**
 * A module that counts what its branches do.
 *
 * @param address where in its memory the counters are, one pair of 32-bit words for each branch
 */
export function withCounters(
  module: Uint8Array,
  address: number,
): { readonly module: Uint8Array; readonly counterOctets: number } {
  const sections = sectionsOf(module);
  const bodies = sizedItems(contentOf(sections, SectionId.CODE));
  const count = importedFunctions(sections) + bodies.length;
  const type = new WasmReader(contentOf(sections, SectionId.TYPE)).number();
  let branches = 0;
  const counting = bodies.map((body) => {
    const pieces: Uint8Array[] = [];
    let copied = 0;
    for (const at of branchesOf(body)) {
      // The condition is on top of the stack, and is left there.
      const counter = signed(COUNTER_OCTETS * branches++);
      pieces.push(body.subarray(copied, at), Uint8Array.of(I32_CONST), counter);
      pieces.push(Uint8Array.of(Opcode.CALL), leb128(count));
      copied = at;
    }
    return sized(Buffer.concat([...pieces, body.subarray(copied)]));
  });
  const changed = sections.map(({ id, content }): Section => {
    switch (id) {
      case SectionId.TYPE:
        return {
          id,
          content: withItem(content, Uint8Array.of(FUNCTION_TYPE, 2, I32, I32, 1, I32)),
        };
      case SectionId.FUNCTION:
        return { id, content: withItem(content, leb128(type)) };
      case SectionId.CODE:
        return { id, content: listOf([...counting, sized(counter(address))]) };
      default:
        return { id, content };
    }
  });
  return { module: moduleWith(changed), counterOctets: COUNTER_OCTETS * branches };
}

/**
 * The body of a function of a condition and the offset of its counters, which returns the
 * condition.
 */
function counter(address: number): Uint8Array {
  const word = [2, ...leb128(address)]; // aligned at 4 octets
  return Uint8Array.from([
    ...[0], // no locals but its parameters
    ...[0x20, 1], // local.get the offset
    ...[0x20, 0, 0x45, 0x45], // local.get the condition, i32.eqz twice: 0 or 1
    ...[I32_CONST, 2, 0x74, 0x6a], // shifted by 2, added
    ...[0x22, 1], // local.tee
    ...[0x20, 1, 0x28, ...word], // i32.load
    ...[I32_CONST, 1, 0x6a, 0x36, ...word], // incremented, i32.store
    ...[0x20, 0, 0x0b], // the condition, end
  ]);
}

/** A module that says of each branch that went but one way that it is likely to go there. */
export function withHints(module: Uint8Array, counts: BranchCounts): Uint8Array {
  const sections = sectionsOf(module);
  const firstFunction = importedFunctions(sections);
  let branch = 0;
  const functions: Uint8Array[] = [];
  sizedItems(contentOf(sections, SectionId.CODE)).forEach((body, index) => {
    const hints: Uint8Array[] = [];
    for (const at of branchesOf(body)) {
      const [whenFalse = 0, whenTrue = 0] = counts.subarray(2 * branch, 2 * branch + 2);
      branch++;
      if (whenFalse > 0 === whenTrue > 0) continue;
      hints.push(Buffer.concat([leb128(at), Uint8Array.of(1, whenTrue > 0 ? LIKELY : UNLIKELY)]));
    }
    if (hints.length > 0) {
      functions.push(Buffer.concat([leb128(firstFunction + index), listOf(hints)]));
    }
  });
  if (2 * branch !== counts.length) {
    throw new RangeError(`${counts.length} counts for ${branch} branches`);
  }
  const content = Buffer.concat([sized(Buffer.from(HINTS)), listOf(functions)]);
  // It must stand before the code.
  return moduleWith(
    sections.flatMap((section) =>
      section.id === SectionId.CODE ? [{ id: SectionId.CUSTOM, content }, section] : [section],
    ),
  );
}

/** A number from 0 in LEB128, as one that has a sign. */
function signed(value: number): Uint8Array {
  const octets = leb128(value);
  const last = octets[octets.length - 1] ?? 0;
  return last < 0x40 ? octets : Uint8Array.from([...octets.subarray(0, -1), last | 0x80, 0]);
}
