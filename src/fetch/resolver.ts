import { lookup, Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';
import { addressRefusal } from './addresses.js';
import { errorCode, errorText, FetchFailure, localFault } from './failure.js';
import { isExhaustion, NO_NAME_SERVER } from './local-fault.js';

/** An address of a host. */
export interface HostAddress {
  readonly address: string;
  readonly family: 4 | 6;
}

/**
 * Finds the addresses of a host name, the preferred one first; rejects, or finds none, where it has
 * none.
 */
export type Resolve = (host: string) => Promise<readonly HostAddress[]>;

/** Who asks name servers. */
export type NameServers = Pick<Resolver, 'resolve4' | 'resolve6'>;

const QUERY_TIMEOUT = 4_000;
const QUERY_TRIES = 2;

/** More addresses of one host are not tried. */
const MAX_ADDRESSES = 8;

/**
 * Asks the name servers of the system, for IPv4 and IPv6 at once; IPv4 comes first.
 *
 * `getaddrinfo` is not asked, as Node runs no more than two of its calls at a time, and a few dead
 * name servers would hold up everyone. It has its say over names without a dot, such as
 * `localhost`, and where no name server can be reached; with `systemNames` over whatever name
 * servers do not know, which is how names from `/etc/hosts` are found.
 *
 * A name to which no name server answered is one whose own servers are silent, if others were
 * answered in the meantime; else the fault is this machine's.
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
        // What a name server said counts for more than that the system's look-up failed.
        if (!wasAnswered) throw error;
      }
    }
    if (wasAnswered) throw v4.reason;
    throw localFault(`no name server answered: ${errorText(v4.reason)}`, NO_NAME_SERVER, v4.reason);
  };
}

/** Codes by which a name server answers that it has no address to give (RFC 1035 section 4.1.1). */
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
 * The addresses of a host that may be connected to. `host` is a name, or an IP address without
 * brackets. Connecting to one of these, and not to the name, is what DNS rebinding cannot get
 * around.
 *
 * @throws FetchFailure `dns-failed` for a host without addresses, `address-refused` for one that
 *   has only refused ones.
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

/** The failure that says why `address`, which `host` stands for, is not connected to. */
export function refusal(host: string, address: string): FetchFailure {
  const kind = addressRefusal(address) ?? 'unknown';
  const subject = host === address ? address : `${host} is at ${address}, which`;
  return new FetchFailure(
    'address-refused',
    `${subject} is not an address of the public internet (${kind}); allow private addresses if it is meant`,
  );
}

async function resolved(host: string, resolve: Resolve): Promise<readonly HostAddress[]> {
  let found: readonly HostAddress[];
  try {
    found = await resolve(host);
  } catch (error) {
    if (error instanceof FetchFailure) throw error;
    const code = errorCode(error);
    // Codes of `getaddrinfo` and of the system.
    if (code === NO_NAME_SERVER || code === 'EAI_SYSTEM' || code === 'EAI_MEMORY') {
      throw localFault(errorText(error), NO_NAME_SERVER, error);
    }
    if (isExhaustion(code)) throw localFault(errorText(error), code, error);
    throw new FetchFailure('dns-failed', errorText(error), { cause: error });
  }
  if (found.length === 0) throw new FetchFailure('dns-failed', `${host} has no address`);
  return found;
}
