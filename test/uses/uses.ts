import type { OracleUse } from '../../oracle/uses.js';
import type { Random } from '../random/random.js';

/** The keys that docs/agents.md names for each purpose. */
const KEYS: Readonly<Record<string, Pick<OracleUse, 'usage' | 'signal'>>> = {
  train: { usage: ['train-ai'], signal: ['ai-train'] },
  search: { usage: ['search'], signal: ['search'] },
  input: { usage: [], signal: ['ai-input'] },
};

export function oracleUse(use: string, policyToken?: string): OracleUse {
  const name = use.toLowerCase();
  return { ...(KEYS[name] ?? { usage: [name], signal: [name] }), policyToken };
}

const TOKENS = ['*', 'bot', 'image', 'other', 'notrain', 'Bot/2', '360'] as const;
const PATHS = [
  ...['/', '/a', '/a/b', '/a/index.html', '/*.pdf$', '/a*c', '/%61', '/x?y=', '/b/'],
  // As long as others that match the same URLs.
  ...['/*', '/*x', '/*/b', '/a/*', '/*.p*'],
];
const USAGE_WORDS = [
  'train-ai=y',
  'train-ai=n',
  'search=y',
  'search=n',
  'own=n',
  'own=y',
  'train-ai',
];
const BROKEN = ['train-ai=n,', 'Train-AI=n', 'train-ai=N', 'search="n"', 'train-ai=n;a, search=y'];
const SIGNAL_WORDS = [
  'ai-train=no',
  'ai-train=yes',
  'ai-train=maybe',
  'search=NO',
  'search=yes',
  'ai-input=no',
];
const MORE_SIGNALS = ['ai-input=yes', 'own=no', 'AI-Train = no', 'ai-train', 'use=reference'];

/** Paths and queries of the URLs that are asked about. */
export const TARGETS = [
  '/',
  '/a',
  '/a/b/c',
  '/a/index.html',
  '/a/',
  '/x.pdf',
  '/x.pdf?q',
  '/axc',
  '/x?y=1',
  '/b/c',
  '/robots.txt',
] as const;

/** A robots.txt with groups, rules and signals of all kinds. */
export function drawnFile(random: Random): string {
  const lines: string[] = [];
  const several = (words: readonly string[]): string =>
    Array.from({ length: 1 + random.between(0, 1) }, () => random.pick(words)).join(', ');
  const drawLine = (): string => {
    const path = random.pick(PATHS);
    switch (random.between(0, 8)) {
      case 0:
        return `Disallow: ${path}`;
      case 1:
        return `Allow: ${path}`;
      case 2:
        return `Content-Usage: ${several(USAGE_WORDS)}`;
      case 3:
        return `Content-Usage: ${path} ${several(USAGE_WORDS)}`;
      case 4:
        return `content-usage:${random.pick(BROKEN)} # a note`;
      case 5:
        return `Content-Signal: ${several(SIGNAL_WORDS)}`;
      case 6:
        return `Content-Signals: ${several(MORE_SIGNALS)}`;
      case 7:
        return random.pick(['Crawl-delay: 1', 'Sitemap: https://a.example/s', '', '# text']);
      default:
        return `User-agent: ${random.pick(TOKENS)}`;
    }
  };
  if (random.chance(0.7)) lines.push(`User-agent: ${random.pick(TOKENS)}`);
  const count = random.between(0, 13);
  for (let line = 0; line < count; line++) lines.push(drawLine());
  return lines.join(random.pick(['\n', '\r\n'])) + random.pick(['', '\n']);
}
