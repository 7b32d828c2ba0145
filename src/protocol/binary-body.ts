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
  const head = body.subarray(0, EXAMINED_BYTES);
  const order = utf16Order(head);
  let controls = 0;
  let replacements = 0;
  if (order === undefined) {
    for (let at = 0; at < head.length; at++) {
      if (isControl(head[at] as number)) controls++;
      else if (head[at] === 0xef && head[at + 1] === 0xbf && head[at + 2] === 0xbd) replacements++;
    }
    return areMany(controls, replacements, head.length);
  }
  const units = head.length >> 1;
  const view = new DataView(head.buffer, head.byteOffset, units * 2);
  for (let at = 0; at < units; at++) {
    const unit = view.getUint16(at * 2, order === 'little');
    if (isControl(unit)) controls++;
    else if (unit === REPLACEMENT) replacements++;
  }
  return areMany(controls, replacements, units);
}

function areMany(controls: number, replacements: number, characters: number): boolean {
  return controls * 100 > characters && (controls + replacements) * 20 > characters;
}

/** Whether a character is a control other than tabs, line ends, form feeds and ESC. */
function isControl(character: number): boolean {
  if (character >= SPACE) return character === DELETE;
  return character < TAB || (character > CR && character !== ESCAPE);
}
