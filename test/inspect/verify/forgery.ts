import type { Random } from '../../random/random.js';
import type { Field } from './fields.js';
import { sealed } from './tables.js';

/**
 * Makes forgeries of a table: numbers in its fields or bytes anywhere are changed, and the checksum
 * is recomputed.
 */
export class Forger {
  readonly #table: Uint8Array;
  readonly #fields: ReadonlyMap<string, readonly Field[]>;
  readonly #names: readonly string[];
  /** Where things start and end. */
  readonly #edges: readonly number[];

  constructor(table: Uint8Array, fields: readonly Field[]) {
    this.#table = table;
    const byName = new Map<string, Field[]>();
    for (const field of fields) {
      const same = byName.get(field.name);
      if (same === undefined) byName.set(field.name, [field]);
      else same.push(field);
    }
    this.#fields = byName;
    this.#names = [...byName.keys()];
    this.#edges = [0, table.length - 320, table.length - 1, table.length, table.length + 1];
  }

  forge(random: Random): Uint8Array {
    const copy = Buffer.from(this.#table);
    for (let changes = random.pick([1, 1, 1, 2, 3]); changes > 0; changes--) {
      if (random.chance(0.1)) {
        const at = random.between(24, copy.length - 321);
        copy[at] = (copy[at] as number) ^ (1 << random.between(0, 7));
        continue;
      }
      const same = this.#fields.get(random.pick(this.#names)) ?? [];
      const field = random.pick(same);
      const { at, bytes } = field;
      const value = this.#value(random, copy, field, random.pick(same));
      const modulo = 256 ** bytes;
      copy.writeUIntLE(((value % modulo) + modulo) % modulo, at, bytes);
    }
    return sealed(copy);
  }

  #value(random: Random, copy: Buffer, { at, bytes }: Field, other: Field): number {
    const old = copy.readUIntLE(at, bytes);
    switch (random.between(0, 6)) {
      case 0:
        return old + random.pick([-8, -2, -1, 1, 2, 8]);
      case 1:
        return old ^ (1 << random.between(0, 8 * bytes - 1));
      case 2:
        return random.pick([0, 1, 0x7f, 0x80, 0xff, 0x7fff, 0xffff, 0x7fff_ffff, 0xffff_ffff]);
      case 3:
        return copy.readUIntLE(other.at, other.bytes);
      case 4:
        return random.pick(this.#edges) + random.between(-4, 4);
      case 5:
        return random.pick(random.pick([...this.#fields.values()])).at;
      default:
        return random.between(0, 256 ** bytes - 1);
    }
  }
}
