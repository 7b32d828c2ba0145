import { Option } from 'commander';
import type { StaleUse } from '../pipeline/compile/compile-cache.js';
import type { Profile } from '../protocol/profile.js';
import { once, someText, wholeNumber } from './options.js';

/** Options of all commands that fetch. */
export interface FetchingOptions {
  readonly concurrency?: number;
  /** Seconds. */
  readonly pause?: number;
  readonly perAddress?: number;
  readonly userAgent?: string;
  readonly allowPrivate?: boolean;
  readonly ca?: string;
  readonly profile?: Profile;
  readonly maxRobotsBytes?: number;
  readonly unreachableAfter?: number;
  readonly progress?: boolean;
  readonly quiet?: boolean;
}

export interface FetchOptions extends FetchingOptions {
  readonly robotsDir?: string;
  readonly stale?: boolean;
  readonly input: 'auto' | 'text' | 'ndjson' | 'json';
  readonly urlField: readonly string[];
  readonly maxLineBytes: number;
  readonly maxRedirects?: number;
  readonly maxAge?: number;
  readonly on429?: 'allow' | 'deny';
  readonly connectTimeout?: number;
  readonly headerTimeout?: number;
  readonly bodyTimeout?: number;
  readonly timeout?: number;
  readonly retries?: number;
  readonly report?: string;
}

/** Options of the commands that read what was fetched. */
export interface FetchReadingOptions {
  readonly stale?: StaleUse;
  readonly unreachableAfter?: number;
}

/** RFC 9309 section 2.4: a day, in seconds; and a year, beyond which no cache is one. */
const DAY_SECONDS = 86_400;
const YEAR_SECONDS = 366 * DAY_SECONDS;
const MAX_CONCURRENCY = 4096;
const MAX_SECONDS = 86_400;
const MAX_DAYS = 36_500;

export const storeOption = (): Option =>
  new Option(
    '--robots-dir <dir>',
    'where the files go: SCHEME/HOST[_PORT]/robots.txt, and robots.json beside each',
  ).argParser(once);

export const concurrencyOption = (): Option =>
  new Option('--concurrency <n>', 'authorities that are asked at a time (default: 64)').argParser(
    wholeNumber(1, MAX_CONCURRENCY, ''),
  );

export const pauseOption = (): Option =>
  new Option(
    '--pause <seconds>',
    'wait between two requests to one host, redirects included (default: 1)',
  ).argParser(wholeNumber(0, MAX_SECONDS, ' seconds'));

export const perAddressOption = (): Option =>
  new Option('--per-address <n>', 'connections to one IP address at a time (default: 4)').argParser(
    wholeNumber(1, MAX_CONCURRENCY, ''),
  );

export const userAgentOption = (): Option =>
  new Option(
    '--user-agent <text>',
    'what to call oneself; put your product token in it (default: robots-filter and its version)',
  ).argParser(someText);

export const allowPrivateOption = (): Option =>
  new Option(
    '--allow-private',
    'connect to private, loopback and link-local addresses too, which are refused otherwise',
  );

export const caOption = (): Option =>
  new Option('--ca <file>', 'certificates to trust besides the usual ones, PEM').argParser(once);

export const unreachableAfterOption = (): Option =>
  new Option(
    '--unreachable-after <days>',
    'days after which the last good copy of what stays unreachable counts, or nothing (default: 30)',
  ).argParser(wholeNumber(0, MAX_DAYS, ' days'));

export const staleUseOption = (): Option =>
  new Option(
    '--stale <use>',
    'what was fetched too long ago (24 hours): use it, or take its hosts for unknown (default: use)',
  ).choices(['use', 'unknown']);

export const staleOption = (): Option =>
  new Option('--stale', 'ask again for what is in the directory and has gone stale');

export const maxRedirectsOption = (): Option =>
  new Option('--max-redirects <n>', 'redirects that are followed (default: 5)').argParser(
    wholeNumber(0, 100, ''),
  );

export const maxAgeOption = (): Option =>
  new Option(
    '--max-age <seconds>',
    'seconds after which anything is asked for again (default: 86,400)',
  ).argParser(wholeNumber(0, YEAR_SECONDS, ' seconds'));

export const on429Option = (): Option =>
  new Option('--on-429 <verdict>', 'what 429, Too Many Requests, means (default: allow)').choices([
    'allow',
    'deny',
  ]);

export const timeoutOptions = (): Option[] =>
  [
    new Option('--connect-timeout <seconds>', 'until a connection stands (default: 10)'),
    new Option('--header-timeout <seconds>', 'until an answer begins (default: 20)'),
    new Option('--body-timeout <seconds>', 'between two pieces of it (default: 20)'),
    new Option('--timeout <seconds>', 'for one fetch, redirects included (default: 60)'),
  ].map((option) => option.argParser(wholeNumber(1, MAX_SECONDS, ' seconds')));

export const retriesOption = (): Option =>
  new Option(
    '--retries <n>',
    'further attempts at what is unreachable, after growing pauses (default: 2)',
  ).argParser(wholeNumber(0, 20, ''));

export const reportOption = (): Option =>
  new Option(
    '--report <file>',
    'write what became of each authority, one JSON object a line',
  ).argParser(once);
