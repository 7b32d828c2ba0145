import { validateHeaderValue } from 'node:http';

/**
 * Whether a text can be sent as the value of a header: no line ends, no other controls, nothing
 * beyond one octet a character.
 */
export function isHeaderValue(text: string): boolean {
  try {
    validateHeaderValue('x', text);
    return true;
  } catch {
    return false;
  }
}
