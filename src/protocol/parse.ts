import { RobotsFilterError } from '../errors.js';
import { textOf } from './encoding.js';
import { FileParser, type FileParts, type PlacedFile } from './file-parser.js';
import { GRAMMARS } from './grammar.js';
import { MAX_BYTES, MIN_BYTES } from './parsing-limits.js';
import type { Profile } from './profile.js';
import type { RobotsFile } from './robots-file.js';

export interface ParseOptions {
  /** The profile; default `rfc9309`. */
  readonly profile?: Profile | undefined;
  /**
   * The parsing limit (RFC 9309 section 2.5), in bytes of the body as received: from 512,000, the
   * default, to 268,435,456. The google profile has no limit and ignores this.
   */
  readonly maxBytes?: number | undefined;
}

/**
 * Parses a robots.txt (RFC 9309 section 2.2). No body makes it throw. Time and memory are linear in
 * the length of the body. A file with more records and wildcards than its budget allows, about a
 * million, is given up. The patterns of the rules are views of `body`, which must not change while
 * they are used.
 *
 * @throws RobotsFilterError `usage` for an unknown profile or a `maxBytes` out of range
 */
export function parseRobots(body: Uint8Array, options: ParseOptions = {}): RobotsFile {
  return withRules(placeRules(body, options));
}

/** The file with an object for each rule. */
export function withRules({ groups, rules, ...others }: PlacedFile): RobotsFile {
  return {
    groups: groups.map(({ productTokens, line, firstRule, rulesEnd }) => ({
      productTokens,
      rules: rules.slice(firstRule, rulesEnd),
      line,
    })),
    ...others,
  };
}

/**
 * Parses a robots.txt as `parseRobots` does, but leaves the rules where they stand in `body`.
 *
 * @param parts what to read; the rest of the result is empty. Default: everything
 * @throws RobotsFilterError `usage` for an unknown profile or a `maxBytes` out of range
 */
export function placeRules(body: Uint8Array, options: ParseOptions, parts?: FileParts): PlacedFile {
  checkParseOptions(options);
  const { profile = 'rfc9309', maxBytes = MIN_BYTES } = options;
  const grammar = GRAMMARS[profile];
  const text = textOf(body, grammar, maxBytes);
  return new FileParser(text, grammar, maxBytes, parts).parse();
}

/** @throws RobotsFilterError `usage` for an unknown profile or a `maxBytes` out of range */
export function checkParseOptions({
  profile = 'rfc9309',
  maxBytes = MIN_BYTES,
}: ParseOptions): void {
  if (!Object.hasOwn(GRAMMARS, profile)) {
    throw new RobotsFilterError(
      'usage',
      `profile ${JSON.stringify(profile)} does not exist; use one of ${Object.keys(GRAMMARS).join(', ')}`,
    );
  }
  if (!Number.isInteger(maxBytes) || maxBytes < MIN_BYTES || maxBytes > MAX_BYTES) {
    throw new RobotsFilterError(
      'usage',
      `maxBytes is ${maxBytes}; use a whole number from ${MIN_BYTES} (500 KiB, the least that RFC 9309 section 2.5 allows) to ${MAX_BYTES}`,
    );
  }
}
