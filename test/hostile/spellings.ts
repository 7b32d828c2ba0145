import { escapeOf } from '../naive/octets.js';
import { words } from './pieces.js';

/** A robots.txt, and URLs to be asked of it for any crawler. */
export interface AskedFile {
  readonly robots: string;
  readonly urls: readonly string[];
}

/**
 * Escapes that are none, are cut short, or give one when they are decoded twice; and some that
 * these give.
 */
const BROKEN = words(
  '% %2 %A %% %%3A %%341 %%33A %3A %25 %2541 %253A %2%46 %2F %4%31 %zz %E3%8 2F',
);

/**
 * For each octet, and for broken escapes, a file for each of its spellings in rules: in the path,
 * in the query, after a `*`, at the end, and where ranks differ by it. Its URLs hold all the
 * spellings.
 */
export function* spellingFiles(): Generator<AskedFile> {
  for (let code = 0; code < 256; code++) {
    const octet = String.fromCharCode(code);
    const escaped = escapeOf(octet);
    const spellings = [octet, escaped, escaped.toLowerCase(), `%${octet}1`, `%2${octet}`];
    yield* filesOf([...new Set(spellings)]);
  }
  yield* filesOf(BROKEN);
}

function* filesOf(spellings: readonly string[]): Generator<AskedFile> {
  const urls = spellings.flatMap((spelling) =>
    ['/p', '/q?', '/xs', '/x?s', '/e', '/r', '/', '?'].map(
      (before) => `http://h${before}${spelling}${before === '/e' ? '' : 'z'}`,
    ),
  );
  for (const spelling of spellings) {
    const robots = [
      'user-agent: *',
      `disallow: /p${spelling}z`,
      `disallow: /q?${spelling}z`,
      `disallow: /*s${spelling}z`,
      `disallow: /e${spelling}$`,
      `disallow: /r${spelling}`,
      'allow: /r**',
      `disallow: /${spelling}z`,
    ];
    yield { robots: robots.join('\n'), urls };
  }
}

/** Patterns, and what they match. */
const WEIGHED: readonly (readonly [string, string])[] = [
  ['/', '/'],
  ['/a', '/a'],
  ['/*', '/a'],
  ['*', '/a'],
  ['/a$', '/a'],
  ['/a$b', '/a$b'],
  ['/$$', '/$'],
  ['/%7Ea', '/~a'],
  ['/%7ea%2f', '/%7ea%2f'],
  ['/%2A%24', '/*$'],
  ['/\xc3\xa9"', '/%C3%A9%22'],
  ['/a%b', '/a%b'],
  ['/?%2F%3a%26', '/?/:%26'],
  ['/*%2F%3A%5b', '/%2f%3a%5b'],
  ['/*%2F%3A%5b', '/x?/:['],
  ['/*a*%2F%2f', '/a?x//'],
  ['/*a*%2F%2f', '/x?a//'],
  ['/a/index.html', '/a/'],
  ['/a/index.html', '/a/index.html'],
  ['*%40$', '/x?@'],
];

/**
 * Every pattern on the scales, as an allow and as a disallow, against one of each length that
 * matches anything.
 */
export function* scalesFiles(): Generator<AskedFile> {
  for (const [pattern, target] of WEIGHED) {
    for (let length = 1; length <= 20; length++) {
      const weight = `/${'*'.repeat(length - 1)}`;
      for (const [one, other] of [words('allow disallow'), words('disallow allow')]) {
        const robots = `user-agent: *\n${one}: ${pattern}\n${other}: ${weight}\n`;
        yield { robots, urls: [`http://h${target}`] };
      }
    }
  }
}
