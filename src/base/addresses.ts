/**
 * IP addresses that a fetch may contact. A robots.txt or redirect may name any host, so without
 * these checks a stranger could have requests sent into the network of this machine.
 */

import ipaddr from 'ipaddr.js';

/** Addresses in public ranges at which a cloud's host agent hands out a machine's secrets. */
const METADATA_ADDRESSES: readonly string[] = ['168.63.129.16'];

/** Global unicast: IANA assigns public IPv6 addresses from this range only (RFC 4291, 2.4). */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');
const NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');

/**
 * The reason to refuse an IP address unless private addresses are allowed: its kind, such as
 * `private` or `loopback`. `undefined` for an address of the public internet.
 *
 * Refused is everything that IANA does not list as globally reachable:
 *
 * - private, loopback, link-local (with the metadata services of most clouds), unique-local,
 *   multicast, reserved and carrier-grade NAT addresses;
 * - IPv6 addresses that carry such an IPv4 address: mapped, 6to4 (RFC 3056), NAT64 (RFC 6052);
 * - text that is not an address.
 */
export function addressRefusal(address: string): string | undefined {
  if (!ipaddr.isValid(address)) return 'not an IP address';
  const parsed = ipaddr.parse(address);
  return parsed instanceof ipaddr.IPv4
    ? refusalOfIPv4(parsed)
    : refusalOfIPv6(parsed as ipaddr.IPv6);
}

/** The key of an IP address: the same for all spellings, and for an IPv4 address within IPv6. */
export function addressKey(address: string): string {
  return ipaddr.isValid(address) ? ipaddr.process(address).toNormalizedString() : address;
}

function refusalOfIPv4(address: ipaddr.IPv4): string | undefined {
  if (METADATA_ADDRESSES.includes(address.toString())) return 'metadata service';
  const range = address.range();
  return range === 'unicast' ? undefined : range;
}

function refusalOfIPv6(address: ipaddr.IPv6): string | undefined {
  const bytes = address.toByteArray();
  if (address.isIPv4MappedAddress()) return refusalOfCarried(bytes, 12, 'ipv4Mapped');
  // Only the well-known prefix counts: the local-use prefix of RFC 8215 may lead anywhere.
  if (address.match(NAT64)) return refusalOfCarried(bytes, 12, 'nat64');
  const range = address.range();
  if (range === '6to4') return refusalOfCarried(bytes, 2, range);
  if (range !== 'unicast') return range;
  return address.match(GLOBAL_UNICAST) ? undefined : 'reserved';
}

/** The refusal of the IPv4 address at offset `at` in the bytes of an IPv6 address. */
function refusalOfCarried(bytes: number[], at: number, wrapper: string): string | undefined {
  const refusal = refusalOfIPv4(new ipaddr.IPv4(bytes.slice(at, at + 4)));
  return refusal === undefined ? undefined : `${wrapper}, ${refusal}`;
}
