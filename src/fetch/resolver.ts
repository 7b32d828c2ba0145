/** Resolves names to addresses. */

import { lookup, Resolver } from 'node:dns/promises';
import { closeSync, openSync } from 'node:fs';
import { isIP } from 'node:net';
import { devNull } from 'node:os';
import { addressRefusal } from '../base/addresses.js';
import { errorCode, errorText } from '../files/system-error.js';
import { withoutFinalDot } from '../protocol/authority.js';
import { FetchFailure, isExhaustion, localFault, NO_NAME_SERVER } from './answer.js';

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

/** Finds addresses as `getaddrinfo` does. */
type SystemLookup = (host: string) => Promise<readonly HostAddress[]>;

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
 * If no name server answered for a name in time while other names were answered, the fault lies
 * with the name's own servers. Any other failure without an answer is a fault of this machine, such
 * as a socket that cannot be opened.
 *
 * @param systemNames whether `getaddrinfo` is also used for names that name servers do not know,
 *   such as those of `/etc/hosts`
 */
export function systemResolver(
  systemNames: boolean,
  resolver: NameServers = new Resolver({ timeout: QUERY_TIMEOUT, tries: QUERY_TRIES }),
  askSystem: SystemLookup = getaddrinfo,
): Resolve {
  let answers = 0;
  const noted = async <T>(question: Promise<T>): Promise<T> => {
    try {
      const answer = await question;
      answers++;
      return answer;
    } catch (error) {
      if (isAnswer(error)) answers++;
      throw error;
    }
  };
  return async (host) => {
    if (!host.includes('.')) return certainLookup(host, askSystem);
    const answersBefore = answers;
    const [v4, v6] = await Promise.allSettled([
      noted(resolver.resolve4(host)),
      noted(resolver.resolve6(host)),
    ]);
    const found: HostAddress[] = [];
    const failures: unknown[] = [];
    if (v4.status === 'rejected') failures.push(v4.reason);
    else for (const address of v4.value) found.push({ address, family: 4 });
    if (v6.status === 'rejected') failures.push(v6.reason);
    else for (const address of v6.value) found.push({ address, family: 6 });
    if (found.length > 0 || failures.length === 0) return found;
    // An answer for one family does not tell the addresses of the other.
    const fault = failures.find((failure) => !FINDINGS.includes(errorCode(failure)));
    const wasAnswered = answers > answersBefore;
    if (systemNames || fault !== undefined) {
      try {
        return await certainLookup(host, askSystem);
      } catch (error) {
        // The answer of a name server is more precise than that of `getaddrinfo`, if both are
        // answers: a fault here may hide a name of `/etc/hosts`.
        if (fault !== undefined || !wasAnswered || !isAnswer(error)) throw error;
      }
    }
    if (wasAnswered) throw failures[0];
    const text = `no name server answered: ${errorText(failures[0])}`;
    throw localFault(text, NO_NAME_SERVER, failures[0]);
  };
}

/** Codes of answers without an address (RFC 1035 section 4.1.1), and of names that are none. */
const ANSWERS: readonly string[] = [
  'ENODATA',
  'ENOTFOUND',
  'ESERVFAIL',
  'EREFUSED',
  'EFORMERR',
  'ENOTIMP',
  'EBADRESP',
  'EBADNAME',
];

function isAnswer(error: unknown): boolean {
  return ANSWERS.includes(errorCode(error));
}

/**
 * Codes that say something about a name: answers, and silence of its own servers. All others, such
 * as EINVAL and ECONNREFUSED, come from this machine alone: no host could have caused them.
 */
const FINDINGS: readonly string[] = [...ANSWERS, 'ETIMEOUT'];

/** Number of descriptors that `getaddrinfo` may need at a time, and some more. */
const SPARE_DESCRIPTORS = 4;

/** The code of the error if this process cannot open a few more descriptors. */
function descriptorShortage(): string | undefined {
  const open: number[] = [];
  try {
    while (open.length < SPARE_DESCRIPTORS) open.push(openSync(devNull, 'r'));
    return undefined;
  } catch (error) {
    const code = errorCode(error);
    return isExhaustion(code) ? code : undefined;
  } finally {
    for (const descriptor of open) closeSync(descriptor);
  }
}

/**
 * Asks the system for a name. A name that does not exist is asked for again: a system that cannot
 * open `/etc/hosts` or a socket says the same, even of `localhost`.
 */
async function certainLookup(
  host: string,
  askSystem: SystemLookup,
): Promise<readonly HostAddress[]> {
  for (let isSecond = false; ; isSecond = true) {
    refuseShortage(host);
    try {
      return await askSystem(host);
    } catch (error) {
      refuseShortage(host);
      if (isSecond || errorCode(error) !== 'ENOTFOUND') throw error;
    }
  }
}

/** @throws FetchFailure `local-fault` while this process has too few descriptors for a look-up */
function refuseShortage(host: string): void {
  const code = descriptorShortage();
  if (code !== undefined) {
    throw localFault(`too many open files to look up ${host} (${code})`, code, undefined);
  }
}

async function getaddrinfo(host: string): Promise<readonly HostAddress[]> {
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

/**
 * Refuses a host whose address is known without a name server, unless private addresses are
 * allowed: a private address, or `localhost`. The addresses of other names are looked up by the
 * proxy to which they go, and only the proxy can check them.
 *
 * @param host as for `permittedAddresses`
 * @throws FetchFailure `address-refused`
 */
export function refusePrivateHost(host: string, allowPrivate: boolean): void {
  if (allowPrivate) return;
  const name = withoutFinalDot(host.toLowerCase());
  const isLocal = name === 'localhost' || name.endsWith('.localhost');
  const address = isLocal ? '127.0.0.1' : host;
  if (isIP(address) === 0 || addressRefusal(address) === undefined) return;
  throw refusal(host, address);
}

/** The failure that tells why an address of a host is refused. */
function refusal(host: string, address: string): FetchFailure {
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
    if (code !== '' && !FINDINGS.includes(code)) {
      const isExhausted = isExhaustion(code);
      throw localFault(errorText(error), isExhausted ? code : NO_NAME_SERVER, error);
    }
    throw new FetchFailure('dns-failed', errorText(error), { cause: error });
  }
  if (found.length === 0) throw new FetchFailure('dns-failed', `${host} has no address`);
  return found;
}
