/**
 * The functions that the kernel imports from its environment.
 *
 * `canonicalHost` writes the canonical form of a host to `to`, which has 256 bytes, and returns its
 * length; -1 for no host. The form is that of the WHATWG URL Standard: percent-decoded, IDN as
 * A-labels, IPv4, IPv6 in brackets. Called only for hosts that are neither plain names in ASCII nor
 * dotted quads.
 */
export declare function canonicalHost(from: usize, bytes: i32, to: usize): i32;
