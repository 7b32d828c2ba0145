/** The names of a host in Common Crawl's indexes, by which other tables are joined. */

import { getDomain } from 'tldts-icann';
import { DOT, HYPHEN, UNDERSCORE } from '../base/ascii.js';
import { isDigit, isLetter } from '../base/characters.js';
import { type Authority, DEFAULT_PORTS } from '../protocol/authority.js';

/** The name of a host in an index, and the domain it belongs to; `undefined` where it has none. */
export type JoinKeys = readonly [surt: string | undefined, registeredDomain: string | undefined];

/** Maximum characters of a label (RFC 1035 section 2.3.4). */
const LONGEST_LABEL = 63;

const WWW = 'www';

/**
 * The keys of an authority: its host as `surt` of the Internet Archive writes it, without a leading
 * `www.` and with its labels reversed; and the domain under a suffix of the ICANN section of the
 * public suffix list. Without a scheme it is read as http.
 */
export function joinKeys({ scheme = 'http', host, port }: Authority): JoinKeys {
  // IPv6, and what is no name of DNS: `b,a.example` would have the name of `a.b.example`.
  if (!isDnsName(host)) return [undefined, undefined];
  const name = host.slice(lengthOfWww(host)).split('.').reverse().join(',');
  const isDefault = port === undefined || port === DEFAULT_PORTS[scheme];
  const domain = getDomain(host, { extractHostname: false, validateHostname: false });
  return [isDefault ? name : `${name}:${port}`, domain ?? undefined];
}

/** Whether all labels of a host have 1 to 63 letters, digits, hyphens and underscores. */
function isDnsName(host: string): boolean {
  let start = 0;
  for (let at = 0; at <= host.length; at++) {
    const unit = at < host.length ? host.charCodeAt(at) : DOT;
    if (unit === DOT) {
      if (at === start || at - start > LONGEST_LABEL) return false;
      start = at + 1;
    } else if (!isLetter(unit) && !isDigit(unit) && unit !== HYPHEN && unit !== UNDERSCORE) {
      return false;
    }
  }
  return true;
}

/** Characters of a leading `www.`, `www2.` and the like; 0 if there is none. */
function lengthOfWww(host: string): number {
  if (!host.startsWith(WWW)) return 0;
  let at = WWW.length;
  while (isDigit(host.charCodeAt(at))) at++;
  return host.charCodeAt(at) === DOT ? at + 1 : 0;
}
