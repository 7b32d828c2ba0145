/**
 * The URL that a text is, as the WHATWG URL Standard has it; `undefined` if it is none.
 *
 * `URL.canParse` does not serve: in Node 20, once V8 has optimised its caller, it refuses texts
 * such as `https://@ü/`.
 */
export function parseUrl(text: string, base?: string): URL | undefined {
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
}
