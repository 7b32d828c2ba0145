import { beforeAll, describe, it } from 'vitest';
import { Linter } from '../../src/lint/lint.js';
import { LINT_RULE_NAMES } from '../../src/lint/rules.js';
import { expectLinear } from './growth.js';
import { countAllSteps } from './metered-instances.js';

/** Steps to lint a file, for each byte of the file. A rule is compared in some hundred steps. */
const STEPS = { least: 0.9, most: 200 };

const SIZES = [4_000, 64_000];

const GROUP = 'user-agent: *\n';

/** Lines up to this many bytes, after a group has begun. */
function lines(line: (index: number) => string): (bytes: number) => string {
  return (bytes) => {
    let text = GROUP;
    for (let index = 0; text.length < bytes; index++) text += `${line(index)}\n`;
    return text;
  };
}

/** A number as letters: digits end a product token. */
function letters(number: number): string {
  return Array.from(String(number), (digit) => 'abcdefghij'.charAt(Number(digit))).join('');
}

const FAMILIES: Readonly<Record<string, (bytes: number) => string>> = {
  'wildcard rules': lines((index) => `allow:/*${index.toString(36)}x`),
  'the same rule': lines(() => 'allow:/a*b'),
  'colons in a value': (bytes) => `${GROUP}sitemap:${':a'.repeat(bytes / 2)}`,
  'unknown keys': lines((index) => `k${index.toString(36)}:x`),
  'groups of one token': lines((index) =>
    index % 2 === 0 ? 'user-agent:a' : `allow:/${index.toString(36)}`,
  ),
  'user-agent lines with a crawl-delay each': lines((index) =>
    index % 2 === 0 ? 'user-agent:ab' : 'crawl-delay:1',
  ),
  'a pattern of wildcards': (bytes) => `${GROUP}allow:/${'*a'.repeat(bytes / 2)}`,
  'names on a user-agent line': (bytes) => `user-agent:a${',a b'.repeat(bytes / 4)}`,
  'paths on a line': (bytes) => `${GROUP}allow:/a${' , /a'.repeat(bytes / 5)}`,
  'lines that were encoded twice': lines(() => 'allow:/\u00c3\u0083\u00c2\u00a9\u00c2\u0080'),
  'records after blank lines': lines(() => '\nuser-agent:a\nallow:/\n\ncrawl-delay:1'),
  'sitemaps on other hosts': lines((index) => `sitemap:http://${index.toString(36)}.a/`),
  'groups that lack the rules of *': lines((index) =>
    index < 100 ? `disallow:/*${index}` : `user-agent:a${letters(index)}\ndisallow:/b`,
  ),
  'as many rules of * as groups': (bytes) =>
    lines((index) => `disallow:/${index.toString(36)}`)(bytes / 2) +
    lines((index) => `user-agent:a${letters(index)}\ndisallow:/?${index}`)(bytes / 2).slice(
      GROUP.length,
    ),
  'one crawler in many groups': lines(
    (index) => `disallow:/${index}\nuser-agent:a\nuser-agent:${letters(index)}`,
  ),
  'a pattern of %XX after %': (bytes) => `${GROUP}allow:/${'%%34'.repeat(bytes / 4)}`,
  'a pattern of %XX': (bytes) => `${GROUP}allow:/${'%41'.repeat(bytes / 3)}`,
};

describe('a robots.txt is linted in linear time', () => {
  const linter = new Linter({
    rules: new Set(LINT_RULE_NAMES),
    agents: [],
    mostListed: 100,
    collectEdits: true,
  });
  /** What is made once, for all files. */
  beforeAll(() => {
    linter.lint(Buffer.from(`${GROUP}allow:/*a\n`));
  });
  for (const [name, file] of Object.entries(FAMILIES)) {
    it(name, () => {
      const measured = SIZES.map((size) => {
        const body = Buffer.from(file(size), 'latin1');
        return { bytes: body.length, steps: countAllSteps(() => linter.lint(body)) };
      });
      expectLinear(measured, STEPS, 1.5);
    });
  }
});
