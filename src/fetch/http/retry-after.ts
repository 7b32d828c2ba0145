/**
 * Reads a `Retry-After` header, which holds seconds or a date (RFC 9110 section 10.2.3).
 *
 * @param now milliseconds since 1970
 * @returns milliseconds from `now`, from 0 to `cap`; `undefined` if there is no valid header
 */
export function parseRetryAfter(
  value: string | undefined,
  now: number,
  cap: number,
): number | undefined {
  if (value === undefined) return undefined;
  const text = value.trim();
  if (text.length === 0) return undefined;
  const wait = isDecimal(text) ? Number(text) * 1000 : Date.parse(text) - now;
  return Number.isNaN(wait) ? undefined : Math.min(Math.max(wait, 0), cap);
}

function isDecimal(text: string): boolean {
  for (const character of text) {
    if (character < '0' || character > '9') return false;
  }
  return true;
}
