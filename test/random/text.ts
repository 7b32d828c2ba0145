import fc from 'fast-check';

/** How many code points are halves of surrogate pairs, and the first of them. */
const HALVES = 0x800;
const FIRST_HALF = 0xd800;

/**
 * Texts of any code points. `fc.string({ unit: 'binary' })` draws the same, but first maps each of
 * a million code points.
 */
export function anyText(maxLength?: number): fc.Arbitrary<string> {
  const character = fc
    .integer({ min: 0, max: 0x10ffff - HALVES })
    .map((index) => String.fromCodePoint(index < FIRST_HALF ? index : index + HALVES));
  const bounds = maxLength === undefined ? {} : { maxLength };
  return fc.array(character, bounds).map((characters) => characters.join(''));
}
