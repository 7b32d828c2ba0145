import { isControl } from '../../control-characters.js';

/** Characters that editors do not show: soft hyphen, zero width, word joiner, byte order mark. */
const INVISIBLE = '\u00ad\u200b\u200c\u200d\u2060\ufeff';

/** Whether a character of a text is not shown. White space is. */
function isInvisible(character: string): boolean {
  return INVISIBLE.includes(character) || (character > ' ' && isControl(character.charCodeAt(0)));
}

/** The first invisible character of a text as `U+200D`; `undefined` if there is none. */
export function invisibleIn(text: string): string | undefined {
  const found = Array.from(text).find(isInvisible);
  const digits = found?.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
  return digits === undefined ? undefined : `U+${digits}`;
}

/** A text without its invisible characters, and without white space around it. */
export function visible(text: string): string {
  return Array.from(text)
    .filter((character) => !isInvisible(character))
    .join('')
    .trim();
}
