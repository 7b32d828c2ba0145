import { isLineEnd } from './byte.js';
import { endOfLastLine, utf16Order } from './encoding.js';

/**
 * A truncated body without its truncated line: half a rule may allow what the whole rule denies. A
 * line whose line end is the last byte is whole.
 */
export function withoutTruncatedLine(body: Uint8Array): Uint8Array {
  const order = utf16Order(body);
  if (order === undefined) return body.subarray(0, endOfLastLine(body, 0, body.length));
  const [high, low] = order === 'little' ? [1, 0] : [0, 1];
  let end = body.length - (body.length % 2);
  while (end > 2 && !(body[end - 2 + high] === 0 && isLineEnd(body[end - 2 + low]))) end -= 2;
  return body.subarray(0, end);
}
