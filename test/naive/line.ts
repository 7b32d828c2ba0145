/**
 * The reason why a line of text is more than one URL: a tab or a carriage return remains after the
 * bytes are removed that the URL Standard strips at both ends.
 */
export function severalUrls(line: Uint8Array): 'tab-in-line' | 'return-in-line' | undefined {
  const bytes = [...line];
  while ((bytes[0] ?? 0xff) <= 0x20) bytes.shift();
  while ((bytes.at(-1) ?? 0xff) <= 0x20) bytes.pop();
  if (bytes.includes(0x09)) return 'tab-in-line';
  return bytes.includes(0x0d) ? 'return-in-line' : undefined;
}
