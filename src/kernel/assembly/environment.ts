/**
 * What the kernel asks of its host.
 *
 * `canonicalHost` writes the canonical form of a host (as the WHATWG URL Standard reads it:
 * percent-decoding, IDN to A-labels, IPv4, IPv6 in brackets) to `to`, where 256 octets are free,
 * and returns their number; -1 if it is no host. Called only for hosts that are neither plain names
 * in ASCII nor dotted quads.
 */
export declare function canonicalHost(from: usize, octets: i32, to: usize): i32;
