import { FIRST_ADDRESS, PrivateKernel } from './private-kernel.js';

/** How a literal of a path pattern is read. */
export interface LiteralMode {
  /** In the google profile: upper-cases hex digits and encodes bytes from 0x80 on, nothing else. */
  readonly google: boolean;
  /**
   * A raw `?` precedes the literal in its pattern, so the reserved bytes of a query are decoded
   * (spec note A).
   */
  readonly inQuery: boolean;
}

/** Maximum growth of a literal: `%XX` for one byte. */
const GROWTH = 3;

let own: PrivateKernel | undefined;

/**
 * Makes the canonical form of a literal of a path pattern (RFC 9309 section 2.2.2). The kernel's
 * canonicaliser of URLs does it; there is no second one.
 */
export function canonicalise(literal: Uint8Array, mode: LiteralMode): Uint8Array {
  own ??= new PrivateKernel();
  const { kernel } = own;
  const from = FIRST_ADDRESS;
  const end = from + literal.length;
  const bytes = own.bytes(end + GROWTH * literal.length);
  bytes.set(literal, from);
  const written = mode.google
    ? kernel.escapeLiteral(from, end, end)
    : kernel.canonicaliseLiteral(from, end, end, mode.inQuery ? 1 : 0);
  return bytes.slice(end, written >>> 0);
}
