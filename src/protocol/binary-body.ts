import { CR, DELETE, ESCAPE, SPACE, TAB } from '../ascii.js';
import { utf16Order } from './encoding.js';

/** Number of bytes at the beginning of a body that are examined. */
const EXAMINED_BYTES = 1024;

const REPLACEMENT = 0xfffd;

/**
 * Whether a body is binary data: compressed without magic bytes, UTF-32, or UTF-16 without a byte
 * order mark. More than 5 % of its first characters are then controls. U+FFFD, which a decoder
 * writes for invalid bytes, counts as a control, but not alone: comments in another encoding become
 * U+FFFD, while the rules beside them are valid.
 */
export function isBinary(body: Uint8Array): boolean {
  const order = utf16Order(body);
  const length = Math.min(body.length, EXAMINED_BYTES);
  if (order !== undefined) return isBinaryUtf16(body, length >> 1, order === 'little');
  const controls = controlsIn(body, length);
  // Text has hardly any controls, so the second pass is rare.
  return mayBeMany(controls, length) && areMany(controls, replacements(body, length), length);
}

/** The number of controls among the first bytes, looked up four at a time. */
function controlsIn(body: Uint8Array, length: number): number {
  let controls = 0;
  let at = 0;
  for (; at + 3 < length; at += 4) {
    const first =
      (CONTROLS[body[at] as number] as number) + (CONTROLS[body[at + 1] as number] as number);
    const second =
      (CONTROLS[body[at + 2] as number] as number) + (CONTROLS[body[at + 3] as number] as number);
    controls += first + second;
  }
  for (; at < length; at++) controls += CONTROLS[body[at] as number] as number;
  return controls;
}

function isBinaryUtf16(body: Uint8Array, units: number, isLittle: boolean): boolean {
  const view = new DataView(body.buffer, body.byteOffset, units * 2);
  let controls = 0;
  let replacements = 0;
  for (let at = 0; at < units; at++) {
    const unit = view.getUint16(at * 2, isLittle);
    if (isControl(unit)) controls++;
    else if (unit === REPLACEMENT) replacements++;
  }
  return mayBeMany(controls, units) && areMany(controls, replacements, units);
}

/** The number of U+FFFD that lie within the first `length` bytes, in UTF-8. */
function replacements(body: Uint8Array, length: number): number {
  let count = 0;
  for (let at = 0; at + 2 < length; at++) {
    if (body[at] === 0xef && body[at + 1] === 0xbf && body[at + 2] === 0xbd) count++;
  }
  return count;
}

/** Whether there are enough controls for replacements to count. */
function mayBeMany(controls: number, characters: number): boolean {
  return controls * 100 > characters;
}

function areMany(controls: number, replacements: number, characters: number): boolean {
  return (controls + replacements) * 20 > characters;
}

/** Whether a character is a control other than tabs, line ends, form feeds and ESC. */
function isControl(character: number): boolean {
  if (character >= SPACE) return character === DELETE;
  return character < TAB || (character > CR && character !== ESCAPE);
}

/** 1 for each byte that is a control, else 0. */
const CONTROLS = Uint8Array.from({ length: 256 }, (_, byte) => (isControl(byte) ? 1 : 0));
