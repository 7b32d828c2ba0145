import { DELETE } from '../../ascii.js';

/** Blocks of characters that take two columns (Unicode Standard Annex #11), first and last. */
const WIDE: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x2e80, 0xa4cf],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe30, 0xfe6f],
  [0xff00, 0xff60],
  [0xffe0, 0xffe6],
  [0x1f300, 0x1faff],
  [0x20000, 0x3fffd],
];

/** The number of columns that a text without control characters takes on most terminals. */
export function widthOnTerminal(text: string): number {
  let width = 0;
  for (const character of text) width += widthOf(character);
  return width;
}

/** Cuts a text that takes more columns than this, so that it ends in U+2026. */
export function cutToWidth(text: string, columns: number): string {
  if (widthOnTerminal(text) <= columns) return text;
  let width = 1;
  let kept = '';
  for (const character of text) {
    width += widthOf(character);
    if (width > columns) break;
    kept += character;
  }
  return `${kept}\u2026`;
}

function widthOf(character: string): number {
  const code = character.codePointAt(0) ?? 0;
  return code > DELETE && WIDE.some(([first, last]) => code >= first && code <= last) ? 2 : 1;
}
