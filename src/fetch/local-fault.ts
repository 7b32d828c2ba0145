/*
 * Faults of this machine: they say nothing about the host that was to be asked. They are neither
 * kept nor counted against it.
 *
 * Some of the codes can be provoked from outside: a router may report ENETUNREACH, and over IPv6
 * also EACCES. A host that is taken for unasked stays unknown, so nothing is gained by that.
 * EHOSTUNREACH, ECONNREFUSED, ETIMEDOUT and the answer that a name does not exist are findings
 * about the host.
 */

const LIMITS = 'Raise the limit of open files (ulimit -n), or lower --concurrency';
const MEMORY = 'Lower --concurrency, or give this machine more memory';
const NETWORK = "See to this machine's network connection and routes";
const FIREWALL = "See to this machine's firewall, and what it lets this user connect to";
const NAME_SERVERS = "See to this machine's name servers (/etc/resolv.conf)";

/** Codes after which the host was not tried at all: one of several addresses is enough. */
const EXHAUSTED: ReadonlyMap<string, string> = new Map([
  ['EMFILE', LIMITS],
  ['ENFILE', LIMITS],
  ['ENOBUFS', MEMORY],
  ['ENOMEM', MEMORY],
]);

/** Codes for an address that this machine cannot connect to: a host may have others. */
const UNCONNECTED: ReadonlyMap<string, string> = new Map([
  ['ENETUNREACH', NETWORK],
  ['ENETDOWN', NETWORK],
  ['EAFNOSUPPORT', NETWORK],
  [
    'EADDRNOTAVAIL',
    'Lower --concurrency until ports are free again, or see to the network connection',
  ],
  ['EACCES', FIREWALL],
  ['EPERM', FIREWALL],
]);

/** The code for name servers that cannot be reached, whoever noticed it. */
export const NO_NAME_SERVER = 'EAI_AGAIN';

/** What to do about a fault of this machine, by its code; `undefined` for other codes. */
export function remedyOf(code: string): string | undefined {
  if (code === NO_NAME_SERVER) return NAME_SERVERS;
  return EXHAUSTED.get(code) ?? UNCONNECTED.get(code);
}

/** Whether a code says that this process has run out of something. */
export function isExhaustion(code: string): boolean {
  return EXHAUSTED.has(code);
}

/**
 * The code of the fault of this machine that kept a host from being asked, by the codes of what
 * each of its addresses failed with; `undefined` where an address was tried in earnest.
 */
export function localFaultOf(codes: readonly string[]): string | undefined {
  const exhaustion = codes.find(isExhaustion);
  if (exhaustion !== undefined) return exhaustion;
  return codes.every((code) => remedyOf(code) !== undefined) ? codes[0] : undefined;
}
