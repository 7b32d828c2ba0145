import ipaddr from 'ipaddr.js';

/**
 * Public by its range, yet inside a cloud it is the host agent that hands out a machine's secrets.
 */
const METADATA_ADDRESSES: readonly string[] = ['168.63.129.16'];

/**
 * Global unicast, the only part of IPv6 that the world can be reached under (RFC 4291 section 2.4,
 * as assigned by IANA).
 */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');
const NAT64 = ipaddr.IPv6.parseCIDR('64:ff9b::/96');

/**
 * Why nothing may be fetched from an IP address unless private addresses are allowed: the kind of
 * address that it is, such as `private` or `loopback`. `undefined` for the addresses of the public
 * internet.
 *
 * Refused is all that IANA does not list as globally reachable: private, loopback, link-local (the
 * metadata services of most clouds among them), unique-local, multicast, reserved, carrier-grade
 * NAT; text that is no address; and IPv6 addresses that carry such an IPv4 address: mapped, 6to4
 * (RFC 3056) and NAT64 (RFC 6052).
 */
export function addressRefusal(address: string): string | undefined {
  if (!ipaddr.isValid(address)) return 'not an IP address';
  const parsed = ipaddr.parse(address);
  return parsed instanceof ipaddr.IPv4
    ? refusalOfIPv4(parsed)
    : refusalOfIPv6(parsed as ipaddr.IPv6);
}

/**
 * One key for an IP address, however it is spelt: an IPv4 address within IPv6 leads to the same
 * machine as alone.
 */
export function addressKey(address: string): string {
  return ipaddr.isValid(address) ? ipaddr.process(address).toNormalizedString() : address;
}

function refusalOfIPv4(address: ipaddr.IPv4): string | undefined {
  if (METADATA_ADDRESSES.includes(address.toString())) return 'metadata service';
  const range = address.range();
  return range === 'unicast' ? undefined : range;
}

function refusalOfIPv6(address: ipaddr.IPv6): string | undefined {
  const octets = address.toByteArray();
  if (address.isIPv4MappedAddress()) return refusalOfCarried(octets, 12, 'ipv4Mapped');
  // Only the well-known prefix: what RFC 8215 sets aside for local use may lead anywhere.
  if (address.match(NAT64)) return refusalOfCarried(octets, 12, 'nat64');
  const range = address.range();
  if (range === '6to4') return refusalOfCarried(octets, 2, range);
  if (range !== 'unicast') return range;
  return address.match(GLOBAL_UNICAST) ? undefined : 'reserved';
}

/** The refusal of the IPv4 address that stands in the octets of an IPv6 address from `at` on. */
function refusalOfCarried(octets: number[], at: number, wrapper: string): string | undefined {
  const refusal = refusalOfIPv4(new ipaddr.IPv4(octets.slice(at, at + 4)));
  return refusal === undefined ? undefined : `${wrapper}, ${refusal}`;
}
