/**
 * Checks the addresses of sitemaps: whether each is a whole URL, and on a host that crawlers of the
 * internet can reach.
 */

import { isIP } from 'node:net';
import { addressRefusal } from '../../base/addresses.js';
import { addTo } from '../../base/maps.js';
import { parseAuthority } from '../../protocol/authority.js';
import { type CheckContext, listedLines, quoted } from '../check.js';
import { type DocumentLine, type RobotsDocument, valueSpan } from '../document.js';

/** Names of internal networks: reserved (RFC 6761, 6762, 8375), or never delegated. */
const INTERNAL_DOMAINS = [
  'localhost',
  'localdomain',
  'local',
  'test',
  'invalid',
  'internal',
  'intranet',
  'private',
  'corp',
  'home',
  'home.arpa',
  'lan',
];

/** Schemes as they are written, the longest mistakes first. */
const SCHEMES = ['https://', 'http://', 'https:/', 'http:/', 'https:', 'http:'];

export function checkSitemaps({ document, findings, authority, explained }: CheckContext): void {
  /** The lines of the sitemaps on each other host. */
  const elsewhere = new Map<string, DocumentLine[]>();
  for (const line of document.lines) {
    if (line.key !== 'sitemap' || line.holdsNul || explained.has(line)) continue;
    const value = document.valueText(line);
    const span = valueSpan(line);
    const lower = value.toLowerCase();
    if (!lower.startsWith('http://') && !lower.startsWith('https://')) {
      const isInvalid = value === '' || lower.slice(0, 12).includes(':');
      const host = authority?.host ?? 'HOST';
      findings.add(isInvalid ? 'invalid-sitemap' : 'relative-sitemap', span, () => ({
        message: isInvalid
          ? sitemapMessage(value)
          : `The sitemap ${quoted(value)} is not a whole URL, and crawlers ignore it.`,
        fix:
          value === ''
            ? fixOfEmpty(document, line, host)
            : `Write "Sitemap: ${wholeUrl(value, host)}", with scheme and host.`,
      }));
      continue;
    }
    const target = URL.canParse(value) && !value.includes(' ') ? parseAuthority(value) : undefined;
    if (target === undefined || target.host === 'http' || target.host === 'https') {
      findings.add('invalid-sitemap', span, () => ({
        message: `The sitemap ${quoted(value)} is not a URL.`,
        fix: document.hasComment(line)
          ? 'Percent-encode it: a "#" begins a comment.'
          : value.includes(' ')
            ? 'Write one whole URL on each line.'
            : `Write "Sitemap: ${target === undefined ? withHost(value, authority?.host ?? 'HOST') : wholeUrl(value.slice(value.indexOf('//') + 2), 'HOST')}".`,
      }));
      continue;
    }
    // A host that is itself in an internal network is not reported.
    if (authority !== undefined && areOfOneSite(target.host, authority.host)) continue;
    const reason = unreachable(target.host);
    if (reason !== undefined) {
      findings.add('unreachable-sitemap', span, () => ({
        message: `The sitemap is on ${target.host}, ${reason}: no crawler of the internet can fetch it.`,
        fix: `Write "Sitemap: https://${authority?.host ?? 'HOST'}${pathAndQuery(value)}", with the public host.`,
      }));
      continue;
    }
    if (authority === undefined) continue;
    addTo(elsewhere, target.host, line);
  }
  for (const [host, lines] of elsewhere) {
    const [first, ...others] = lines as [DocumentLine];
    findings.add('sitemap-of-another-host', valueSpan(first), () => ({
      message: `The sitemap is on ${host}${others.length === 0 ? '' : ` (and so is that in ${listedLines(others)})`}, and the file is of ${authority?.host}. It counts if it is meant: this file then vouches for it (sitemaps.org).`,
      fix: 'Check the host.',
    }));
  }
}

/** Why a host cannot be reached from the internet; `undefined` if it may be. */
function unreachable(host: string): string | undefined {
  const address = host.startsWith('[') ? host.slice(1, -1) : host;
  if (isIP(address) !== 0) {
    return addressRefusal(address) === undefined ? undefined : 'which is no public address';
  }
  const isInternal =
    !host.includes('.') ||
    INTERNAL_DOMAINS.some((domain) => host === domain || host.endsWith(`.${domain}`));
  return isInternal ? 'which is a name of an internal network' : undefined;
}

function pathAndQuery(url: string): string {
  const { pathname, search } = new URL(url);
  return pathname + search;
}

function sitemapMessage(value: string): string {
  return value === ''
    ? 'The sitemap has no URL.'
    : `The sitemap ${quoted(value)} is not an http or https URL.`;
}

/** The URL of an empty sitemap often stands on the next line. */
function fixOfEmpty(document: RobotsDocument, line: DocumentLine, host: string): string {
  const next = document.lines[line.line];
  const text = next === undefined ? '' : document.text(next.start, next.end).trim();
  const url = text.startsWith('http') && URL.canParse(text) ? text : `https://${host}/sitemap.xml`;
  return `Write the URL on the same line: "Sitemap: ${url}".`;
}

/** A likely URL for one that is relative or broken. */
function wholeUrl(value: string, host: string): string {
  const scheme = SCHEMES.find((each) => value.toLowerCase().startsWith(each));
  if (scheme !== undefined) {
    const name = scheme.startsWith('https') ? 'https' : 'http';
    return `${name}://${value.slice(scheme.length)}`;
  }
  if (value.startsWith('//')) return `https:${value}`;
  if (value.startsWith('/')) return `https://${host}${value}`;
  const [first = ''] = value.split('/', 1);
  const isHost = value.includes('/') && first.includes('.') && !first.includes(':');
  if (isHost) return `https://${value}`;
  return value.includes(':') ? `https://${host}/sitemap.xml` : `https://${host}/${value}`;
}

/** `https:///sitemap.xml` with a host; another value as a placeholder. */
function withHost(value: string, host: string): string {
  const slashes = value.indexOf('///');
  if (slashes < 0) return `https://${host}/sitemap.xml`;
  return `${value.slice(0, slashes)}//${host}${value.slice(slashes + 2)}`;
}

/** Whether one host is the other, or a host below it. */
function areOfOneSite(one: string, other: string): boolean {
  const [a, b] = [withoutWww(one), withoutWww(other)];
  return a === b || a.endsWith(`.${b}`) || b.endsWith(`.${a}`);
}

function withoutWww(host: string): string {
  return host.startsWith('www.') ? host.slice('www.'.length) : host;
}
