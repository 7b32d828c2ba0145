import { type Authority, DEFAULT_PORTS } from '../protocol/authority.js';
import type { TableAuthority } from './table-content.js';

/**
 * Whether an authority matches the requested one. A bare host matches all of its authorities. With
 * a scheme or a port, the other has its default.
 */
export function answersFor({ schemes, port }: TableAuthority, asked: Authority): boolean {
  return schemes.some((scheme) => {
    if (asked.scheme !== undefined && asked.scheme !== scheme) return false;
    if (asked.scheme === undefined && asked.port === undefined) return true;
    return (port ?? DEFAULT_PORTS[scheme]) === (asked.port ?? DEFAULT_PORTS[scheme]);
  });
}
