import { escapeOf } from '../../oracle/bytes.js';
import { words } from './pieces.js';

/** A robots.txt, and URLs to ask for any crawler. */
export interface AskedFile {
  readonly robots: string;
  readonly urls: readonly string[];
}

/**
 * Invalid escapes, truncated escapes, and escapes that give another escape when decoded; and some
 * results of these.
 */
const BROKEN = words(
  '% %2 %A %% %%3A %%341 %%33A %3A %25 %2541 %253A %2%46 %2F %4%31 %zz %E3%8 2F',
);

/**
 * For each byte, and for broken escapes, a file for each of its spellings in rules: in the path, in
 * the query, after a `*`, at the end, and where the spelling changes ranks. The URLs of the file
 * hold all spellings.
 */
export function* spellingFiles(): Generator<AskedFile> {
  for (let code = 0; code < 256; code++) {
    const byte = String.fromCharCode(code);
    const escaped = escapeOf(byte);
    const spellings = [byte, escaped, escaped.toLowerCase(), `%${byte}1`, `%2${byte}`];
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

/** Patterns, and paths that they match. */
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
 * Every pattern as an allow and as a disallow, against a counterweight of each length that matches
 * everything.
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
