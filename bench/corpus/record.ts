import type { Random } from './random.js';

/**
 * Turns URLs into lines of NDJSON with further members, as a crawler's log has them. Some
 * are written the harder way: with escapes, with nested members that are also called `url`,
 * or with the same key twice (the last counts).
 */
export class RecordMaker {
  readonly #random: Random;
  readonly #hardShare: number;
  readonly #urlLast: boolean;

  /**
   * @param hardShare share of the lines with escapes, decoys or duplicate keys, 0 to 1
   * @param urlLast whether `url` follows the other members in place of coming first
   */
  constructor(random: Random, hardShare: number, urlLast: boolean) {
    this.#random = random;
    this.#hardShare = hardShare;
    this.#urlLast = urlLast;
  }

  make(url: string): string {
    const random = this.#random;
    const depth = random.below(10);
    const status = random.below(100) < 90 ? 200 : 404;
    const members = `"depth":${depth},"status":${status},"found":${1_700_000_000 + random.below(90_000_000)}`;
    if (random.chance(this.#hardShare)) return this.#hard(url, members);
    return this.#urlLast ? `{${members},"url":"${url}"}` : `{"url":"${url}",${members}}`;
  }

  #hard(url: string, members: string): string {
    const decoy = 'https://decoy.example/private/page.html';
    switch (this.#random.below(6)) {
      case 0:
        return `{"url":"${url.replaceAll('/', '\\/')}",${members}}`;
      case 1:
        return `{"url":"${escapeLetters(url)}",${members}}`;
      case 2:
        return `{"parent":{"url":"${decoy}"},"url":"${url}",${members}}`;
      case 3:
        return `{"url":"${url}","links":[{"url":"${decoy}"},{"url":"\\"}"}],${members}}`;
      case 4:
        return `{"url":"${decoy}",${members},"url":"${url}"}`;
      default:
        return `{ "title" : "\\"url\\":\\"${decoy}\\"", "url" : "${url}", ${members} }`;
    }
  }
}

/** Writes what is not ASCII, `&`, and the first letter of the path, as `\uXXXX`. */
function escapeLetters(url: string): string {
  const path = url.indexOf('/', 8) + 1;
  let escaped = '';
  for (let index = 0; index < url.length; index++) {
    const code = url.charCodeAt(index);
    const plain = code < 0x80 && code !== 0x26 && index !== path;
    escaped += plain ? url.charAt(index) : `\\u${code.toString(16).padStart(4, '0')}`;
  }
  return escaped;
}
