import { endOfLastLine, utf16Order } from '../../protocol/encoding.js';
import { isLineEnd } from '../../protocol/octet.js';

/**
 * A body that was cut, without the line that the cut tore: half a rule may allow what the whole
 * rule denies. A line whose line end is the last octet is whole.
 */
export function withoutTornLine(body: Uint8Array): Uint8Array {
  const order = utf16Order(body);
  if (order === undefined) return body.subarray(0, endOfLastLine(body, 0, body.length));
  const [high, low] = order === 'little' ? [1, 0] : [0, 1];
  let end = body.length - (body.length % 2);
  while (end > 2 && !(body[end - 2 + high] === 0 && isLineEnd(body[end - 2 + low]))) end -= 2;
  return body.subarray(0, end);
}
