import { validateHeaderValue } from 'node:http';

/** Whether a text can be sent as the value of a header: Latin-1 without control characters. */
export function isHeaderValue(text: string): boolean {
  try {
    validateHeaderValue('x', text);
    return true;
  } catch {
    return false;
  }
}
