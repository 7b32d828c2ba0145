import { parseAuthority } from '../../protocol/authority.js';
import { type DocumentLine, type RobotsDocument, valueSpan } from '../document.js';
import { type CheckContext, quoted } from './check.js';
import { visible } from './invisible.js';

/** Checks the addresses of sitemaps. */
export function checkSitemaps({ document, findings, authority }: CheckContext): void {
  for (const line of document.lines) {
    if (line.key !== 'sitemap' || line.holdsNul) continue;
    const value = document.valueText(line);
    const span = valueSpan(line);
    const lower = value.toLowerCase();
    if (!lower.startsWith('http://') && !lower.startsWith('https://')) {
      const isInvalid = value === '' || lower.slice(0, 12).includes(':');
      const host = authority?.host ?? 'HOST';
      findings.add(isInvalid ? 'invalid-sitemap' : 'relative-sitemap', span, () => ({
        message: isInvalid
          ? messageFor(value)
          : `The sitemap ${quoted(value)} is not a whole URL, and crawlers ignore it.`,
        fix:
          value === ''
            ? fixOfEmpty(document, line, host)
            : `Write "Sitemap: ${wholeUrl(visible(value), host)}", with scheme and host.`,
      }));
      continue;
    }
    const target = URL.canParse(value) && !value.includes(' ') ? parseAuthority(value) : undefined;
    if (target === undefined) {
      findings.add('invalid-sitemap', span, () => ({
        message: `The sitemap ${quoted(value)} is not a URL.`,
        fix: document.hasComment(line)
          ? 'Percent-encode it: a "#" begins a comment.'
          : value.includes(' ')
            ? 'Write one whole URL on each line.'
            : `Write "Sitemap: ${withHost(value, authority?.host ?? 'HOST')}".`,
      }));
      continue;
    }
    if (authority === undefined || areOfOneSite(target.host, authority.host)) continue;
    findings.add('sitemap-of-another-host', span, () => ({
      message: `The sitemap is on ${target.host}, and the file is of ${authority.host}. It counts if it is meant: this file then vouches for it (sitemaps.org).`,
      fix: 'Check the host.',
    }));
  }
}

function messageFor(value: string): string {
  if (value === '') return 'The sitemap has no URL.';
  return value === visible(value)
    ? `The sitemap ${quoted(value)} is not an http or https URL.`
    : `The sitemap ${quoted(value)} begins or ends with an invisible character.`;
}

/** The URL of an empty sitemap often stands on the next line. */
function fixOfEmpty(document: RobotsDocument, line: DocumentLine, host: string): string {
  const next = document.lines[line.line];
  const text = next === undefined ? '' : document.text(next.start, next.end).trim();
  const url = text.startsWith('http') && URL.canParse(text) ? text : `https://${host}/sitemap.xml`;
  return `Write the URL on the same line: "Sitemap: ${url}".`;
}

/** Schemes as they are written, the longest mistakes first. */
const SCHEMES = ['https://', 'http://', 'https:/', 'http:/', 'https:', 'http:'];

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
