import { utf16Order } from '../../protocol/encoding.js';

/** Octets of a body by which binary data are told from text. */
const TELLING_OCTETS = 1024;

const ESCAPE = 0x1b;
const DELETE = 0x7f;
const REPLACEMENT = 0xfffd;

/**
 * Whether the beginning of a body is binary data: compressed without a magic, UTF-32, or UTF-16
 * without a byte order mark. More than 5 % of its characters are controls then. U+FFFD, which a
 * decoder writes for what is no text, counts too, but not alone: comments in another encoding
 * become U+FFFD, and the rules beside them are sound.
 */
export function isBinary(body: Uint8Array): boolean {
  const head = body.subarray(0, TELLING_OCTETS);
  const order = utf16Order(head);
  let controls = 0;
  let replacements = 0;
  if (order === undefined) {
    for (let at = 0; at < head.length; at++) {
      if (isControl(head[at] as number)) controls++;
      else if (head[at] === 0xef && head[at + 1] === 0xbf && head[at + 2] === 0xbd) replacements++;
    }
    return isMuch(controls, replacements, head.length);
  }
  const units = head.length >> 1;
  const view = new DataView(head.buffer, head.byteOffset, units * 2);
  for (let at = 0; at < units; at++) {
    const unit = view.getUint16(at * 2, order === 'little');
    if (isControl(unit)) controls++;
    else if (unit === REPLACEMENT) replacements++;
  }
  return isMuch(controls, replacements, units);
}

function isMuch(controls: number, replacements: number, characters: number): boolean {
  return controls * 100 > characters && (controls + replacements) * 20 > characters;
}

/**
 * Whether a character is a control that text does not hold: tabs, line ends, form feeds and the
 * escapes of terminals may be text.
 */
function isControl(character: number): boolean {
  if (character >= 0x20) return character === DELETE;
  return character < 0x09 || (character > 0x0d && character !== ESCAPE);
}
