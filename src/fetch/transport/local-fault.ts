/*
 * Faults of this machine are no findings about a host. They are neither recorded nor counted
 * against the host.
 *
 * Outsiders can provoke some of the codes: a router may report ENETUNREACH, and over IPv6 also
 * EACCES. They gain nothing, because the host stays unknown. EHOSTUNREACH, ECONNREFUSED, ETIMEDOUT
 * and the answer that a name does not exist are findings about the host.
 */

const LIMITS = 'Raise the limit of open files (ulimit -n), or lower --concurrency';
const MEMORY = 'Lower --concurrency, or give this machine more memory';
const NETWORK = "Check this machine's network connection and routes";
const PORTS = 'Lower --concurrency until ports are free again, or check the network connection';
const FIREWALL = "Check this machine's firewall, and whether it lets this user connect";
const NAME_SERVERS = "Check this machine's name servers (/etc/resolv.conf)";

/**
 * Codes of exhaustion. If one address of a host fails with such a code, the host counts as not
 * tried.
 */
const EXHAUSTED: ReadonlyMap<string, string> = new Map([
  ['EMFILE', LIMITS],
  ['ENFILE', LIMITS],
  ['ENOBUFS', MEMORY],
  ['ENOMEM', MEMORY],
]);

/** Codes for an address that this machine cannot reach. Another address of the host may work. */
const UNCONNECTED: ReadonlyMap<string, string> = new Map([
  ['ENETUNREACH', NETWORK],
  ['ENETDOWN', NETWORK],
  ['EAFNOSUPPORT', NETWORK],
  ['EPROTONOSUPPORT', NETWORK],
  ['EADDRNOTAVAIL', PORTS],
  ['EADDRINUSE', PORTS],
  ['EAGAIN', PORTS],
  ['EACCES', FIREWALL],
  ['EPERM', FIREWALL],
]);

/** The code for name servers that cannot be reached. */
export const NO_NAME_SERVER = 'EAI_AGAIN';

/** The remedy for a fault of this machine; `undefined` for other codes. */
export function remedyOf(code: string): string | undefined {
  if (code === NO_NAME_SERVER) return NAME_SERVERS;
  return EXHAUSTED.get(code) ?? UNCONNECTED.get(code);
}

/** Whether a code means that this process has run out of a resource. */
export function isExhaustion(code: string): boolean {
  return EXHAUSTED.has(code);
}

/**
 * The code of the fault of this machine that prevented a request; `undefined` if a connection to an
 * address was attempted.
 *
 * @param codes the code with which each address of the host failed
 */
export function localFaultOf(codes: readonly string[]): string | undefined {
  const exhaustion = codes.find(isExhaustion);
  if (exhaustion !== undefined) return exhaustion;
  return codes.every((code) => remedyOf(code) !== undefined) ? codes[0] : undefined;
}
