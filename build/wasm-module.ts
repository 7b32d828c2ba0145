import { Opcode, WasmReader } from './wasm-reader.js';

/** Of the sections of a module, those that are changed here. */
export const SectionId = { CUSTOM: 0, TYPE: 1, IMPORT: 2, FUNCTION: 3, CODE: 10 } as const;

const PREFIX_OCTETS = 8;

/** A section of a module of WebAssembly. */
export interface Section {
  readonly id: number;
  readonly content: Uint8Array;
}

/** The sections of a module. */
export function sectionsOf(module: Uint8Array): Section[] {
  const reader = new WasmReader(module);
  reader.take(PREFIX_OCTETS);
  const sections: Section[] = [];
  while (!reader.hasEnded) {
    const id = reader.octet();
    sections.push({ id, content: reader.take(reader.number()) });
  }
  return sections;
}

/** The module of these sections. */
export function moduleWith(sections: readonly Section[]): Uint8Array {
  const prefix = [...Buffer.from('\0asm'), 1, 0, 0, 0];
  return Buffer.concat([
    Uint8Array.from(prefix),
    ...sections.flatMap(({ id, content }) => [Uint8Array.of(id), sized(content)]),
  ]);
}

/** The content of the only section of a kind. */
export function contentOf(sections: readonly Section[], id: number): Uint8Array {
  const [section, another] = sections.filter((one) => one.id === id);
  if (section === undefined || another !== undefined) {
    throw new RangeError(`the module has not one section ${id}`);
  }
  return section.content;
}

/** How many functions a module imports: the first numbers are theirs. */
export function importedFunctions(sections: readonly Section[]): number {
  if (sections.every(({ id }) => id !== SectionId.IMPORT)) return 0;
  const reader = new WasmReader(contentOf(sections, SectionId.IMPORT));
  let functions = 0;
  for (let imports = reader.number(); imports > 0; imports--) {
    reader.take(reader.number());
    reader.take(reader.number());
    const kind = reader.octet();
    if (kind === 0) {
      functions++;
      reader.passNumber();
    } else if (kind === 2) {
      const hasMaximum = (reader.octet() & 1) === 1;
      reader.passNumber();
      if (hasMaximum) reader.passNumber();
    } else {
      throw new RangeError(`the module imports something of kind ${kind}`);
    }
  }
  return functions;
}

/** The items of a section that is a list of them, each behind its size. */
export function sizedItems(content: Uint8Array): Uint8Array[] {
  const reader = new WasmReader(content);
  return Array.from({ length: reader.number() }, () => reader.take(reader.number()));
}

/** A list, as its number and then the items. */
export function listOf(items: readonly Uint8Array[]): Uint8Array {
  return Buffer.concat([leb128(items.length), ...items]);
}

/** A list with one item more. */
export function withItem(content: Uint8Array, item: Uint8Array): Uint8Array {
  const reader = new WasmReader(content);
  const count = reader.number();
  return Buffer.concat([leb128(count + 1), content.subarray(reader.at), item]);
}

/** Octets behind their number. */
export function sized(octets: Uint8Array): Uint8Array {
  return Buffer.concat([leb128(octets.length), octets]);
}

/** A number from 0 in LEB128, unsigned. */
export function leb128(value: number): Uint8Array {
  const octets: number[] = [];
  for (let left = value; ; left = Math.floor(left / 128)) {
    if (left < 128) return Uint8Array.from([...octets, left]);
    octets.push(128 + (left % 128));
  }
}

/**
 * Where the branches of a function lie that are taken or not, from the start of its body: each `if`
 * and `br_if`.
 */
export function branchesOf(body: Uint8Array): number[] {
  const branches: number[] = [];
  for (const { at, opcode } of instructionsOf(body)) {
    if (opcode === Opcode.IF || opcode === Opcode.BR_IF) branches.push(at);
  }
  return branches;
}

/** An instruction, and where it lies from the start of its function's body. */
export interface Instruction {
  readonly at: number;
  readonly opcode: number;
}

/** The instructions of a function, behind its locals. */
export function* instructionsOf(body: Uint8Array): Generator<Instruction> {
  const reader = new WasmReader(body);
  for (let groups = reader.number(); groups > 0; groups--) {
    reader.passNumber();
    reader.octet();
  }
  while (!reader.hasEnded) {
    const at = reader.at;
    yield { at, opcode: reader.instruction() };
  }
}
