import { parseAuthority } from '../../protocol/authority.js';
import { valueSpan } from '../document.js';
import { type CheckContext, quoted } from './check.js';

/** Checks the addresses of sitemaps. */
export function checkSitemaps({ document, findings, authority }: CheckContext): void {
  for (const line of document.lines) {
    if (line.key !== 'sitemap' || line.holdsNul) continue;
    const value = document.valueText(line);
    const span = valueSpan(line);
    const lower = value.toLowerCase();
    if (!lower.startsWith('http://') && !lower.startsWith('https://')) {
      const isInvalid = value === '' || lower.slice(0, 12).includes(':');
      findings.add(isInvalid ? 'invalid-sitemap' : 'relative-sitemap', span, () => ({
        message: isInvalid
          ? value === value.trim()
            ? `The sitemap ${quoted(value)} is not an http or https URL.`
            : `The sitemap ${quoted(value)} begins or ends with an invisible character.`
          : `The sitemap ${quoted(value)} is not a whole URL, and crawlers ignore it.`,
        fix: `Write "Sitemap: ${wholeUrl(value, authority?.host ?? 'HOST')}", with scheme and host.`,
      }));
      continue;
    }
    const target = URL.canParse(value) && !value.includes(' ') ? parseAuthority(value) : undefined;
    if (target === undefined) {
      findings.add('invalid-sitemap', span, () => ({
        message: `The sitemap ${quoted(value)} is not a URL.`,
        fix: document.hasComment(line)
          ? 'Percent-encode it: a "#" begins a comment.'
          : 'Write one whole URL on each line.',
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

/** A likely URL for a relative one. */
function wholeUrl(value: string, host: string): string {
  if (value.startsWith('//')) return `https:${value}`;
  if (value.startsWith('/')) return `https://${host}${value}`;
  const [first = ''] = value.split('/', 1);
  const isHost = value.includes('/') && first.includes('.');
  return isHost ? `https://${value}` : `https://${host}/sitemap.xml`;
}

/** Whether one host is the other, or a host below it. */
function areOfOneSite(one: string, other: string): boolean {
  const [a, b] = [withoutWww(one), withoutWww(other)];
  return a === b || a.endsWith(`.${b}`) || b.endsWith(`.${a}`);
}

function withoutWww(host: string): string {
  return host.startsWith('www.') ? host.slice('www.'.length) : host;
}
