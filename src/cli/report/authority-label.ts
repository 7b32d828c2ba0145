import type { TableAuthority, TableHost } from '../../inspect/table-content.js';
import { formatAuthority, type Scheme } from '../../protocol/authority.js';

/**
 * The name of an authority in reports: the host alone if it has http and https at their default
 * ports, HOST:PORT for both at another port, otherwise the URLs of its roots.
 */
export function authorityLabel(
  { host }: Pick<TableHost, 'host'>,
  { schemes, port }: Pick<TableAuthority, 'schemes' | 'port'>,
): string {
  if (schemes.length === 2 && schemes[0] === 'http' && schemes[1] === 'https') {
    return formatAuthority({ scheme: undefined, host, port });
  }
  return schemes.map((scheme: Scheme) => formatAuthority({ scheme, host, port })).join(' ');
}
