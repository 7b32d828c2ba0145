import { lookup, Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import { errorCode, errorText } from '../../files/system-error.js';
import { addressRefusal } from './addresses.js';
import { FetchFailure, localFault } from './failure.js';
import { isExhaustion, NO_NAME_SERVER } from './local-fault.js';

/** An address of a host. */
export interface HostAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

/**
 * Finds the addresses of a host, the preferred one first. For a host without addresses, rejects or
 * finds none.
 */
export type Resolve = (host: string) => Promise<readonly HostAddress[]>;

/** The part of Node's `Resolver` that asks name servers. */
export type NameServers = Pick<Resolver, 'resolve4' | 'resolve6'>;

const QUERY_TIMEOUT = 4_000;
const QUERY_TRIES = 2;

/** Maximum number of addresses of one host that are tried. */
const MAX_ADDRESSES = 8;

/**
 * Makes a resolver that asks the system's name servers for IPv4 and IPv6 addresses at once; IPv4
 * comes first.
 *
 * `getaddrinfo` would be too slow: Node runs at most two of its calls at a time, so a few dead name
 * servers would hold up all fetches. It is used for names without a dot, such as `localhost`, and
 * for all names while no name server can be reached.
 *
 * If no name server answered for a name while other names were answered, the fault lies with the
 * name's own servers. Otherwise it is a fault of this machine.
 *
 * @param systemNames whether `getaddrinfo` is also used for names that name servers do not know,
 *   such as those of `/etc/hosts`
 */
export function systemResolver(
  systemNames: boolean,
  resolver: NameServers = new Resolver({ timeout: QUERY_TIMEOUT, tries: QUERY_TRIES }),
): Resolve {
  let answers = 0;
  const noted = async <T>(question: Promise<T>): Promise<T> => {
    try {
      const answer = await question;
      answers++;
      return answer;
    } catch (error) {
      if (ANSWERS.includes(errorCode(error))) answers++;
      throw error;
    }
  };
  return async (host) => {
    if (!host.includes('.')) return systemLookup(host);
    const answersBefore = answers;
    const [v4, v6] = await Promise.allSettled([
      noted(resolver.resolve4(host)),
      noted(resolver.resolve6(host)),
    ]);
    const found: HostAddress[] = [];
    if (v4.status === 'fulfilled') {
      for (const address of v4.value) found.push({ address, family: 4 });
    }
    if (v6.status === 'fulfilled') {
      for (const address of v6.value) found.push({ address, family: 6 });
    }
    if (found.length > 0 || v4.status === 'fulfilled') return found;
    const wasAnswered = answers > answersBefore;
    if (systemNames || errorCode(v4.reason) === 'ECONNREFUSED') {
      try {
        return await systemLookup(host);
      } catch (error) {
        // The answer of a name server is more precise than the failure of `getaddrinfo`.
        if (!wasAnswered) throw error;
      }
    }
    if (wasAnswered) throw v4.reason;
    throw localFault(`no name server answered: ${errorText(v4.reason)}`, NO_NAME_SERVER, v4.reason);
  };
}

/** Codes of answers without an address (RFC 1035 section 4.1.1). */
const ANSWERS: readonly string[] = [
  'ENODATA',
  'ENOTFOUND',
  'ESERVFAIL',
  'EREFUSED',
  'EFORMERR',
  'ENOTIMP',
  'EBADRESP',
];

async function systemLookup(host: string): Promise<readonly HostAddress[]> {
  const found = await lookup(host, { all: true, verbatim: true });
  return found.map(({ address, family }) => ({ address, family: family === 6 ? 6 : 4 }));
}

/**
 * Returns the permitted addresses of a host. Connect to one of them and not to the name, so that
 * DNS rebinding cannot lead elsewhere.
 *
 * @param host a name, or an IP address without brackets
 * @throws FetchFailure `dns-failed` if the host has no address, `address-refused` if all of its
 *   addresses are refused
 */
export async function permittedAddresses(
  host: string,
  resolve: Resolve,
  allowPrivate: boolean,
): Promise<readonly HostAddress[]> {
  const family = isIP(host);
  const found =
    family === 0
      ? await resolved(host, resolve)
      : [{ address: host, family: family === 6 ? 6 : 4 } as const];
  if (allowPrivate) return found.slice(0, MAX_ADDRESSES);
  const permitted = found.filter(({ address }) => addressRefusal(address) === undefined);
  const first = found[0];
  if (permitted.length === 0 && first !== undefined) throw refusal(host, first.address);
  return permitted.slice(0, MAX_ADDRESSES);
}

/** The failure that tells why an address of a host is refused. */
export function refusal(host: string, address: string): FetchFailure {
  const kind = addressRefusal(address) ?? 'unknown';
  const subject = host === address ? address : `${host} is at ${address}, which`;
  return new FetchFailure(
    'address-refused',
    `${subject} is not an address of the public internet (${kind}); to connect to it, use --allow-private`,
  );
}

async function resolved(host: string, resolve: Resolve): Promise<readonly HostAddress[]> {
  let found: readonly HostAddress[];
  try {
    found = await resolve(host);
  } catch (error) {
    if (error instanceof FetchFailure) throw error;
    const code = errorCode(error);
    // Codes of `getaddrinfo` for faults of this machine.
    if (code === NO_NAME_SERVER || code === 'EAI_SYSTEM' || code === 'EAI_MEMORY') {
      throw localFault(errorText(error), NO_NAME_SERVER, error);
    }
    if (isExhaustion(code)) throw localFault(errorText(error), code, error);
    throw new FetchFailure('dns-failed', errorText(error), { cause: error });
  }
  if (found.length === 0) throw new FetchFailure('dns-failed', `${host} has no address`);
  return found;
}
