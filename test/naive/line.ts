/**
 * The reason why a line of text is more than one URL: a tab or a carriage return is left when the
 * octets are taken away that the URL Standard strips at both ends.
 */
export function severalUrls(line: Uint8Array): 'tab-in-line' | 'return-in-line' | undefined {
  const octets = [...line];
  while ((octets[0] ?? 0xff) <= 0x20) octets.shift();
  while ((octets.at(-1) ?? 0xff) <= 0x20) octets.pop();
  if (octets.includes(0x09)) return 'tab-in-line';
  return octets.includes(0x0d) ? 'return-in-line' : undefined;
}
