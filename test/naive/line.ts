/** Whether a line of text is columns and no URL: a tab is left when the octets are taken away that the URL Standard strips at both ends. */
export function isColumns(line: Uint8Array): boolean {
  const octets = [...line];
  while ((octets[0] ?? 0xff) <= 0x20) octets.shift();
  while ((octets.at(-1) ?? 0xff) <= 0x20) octets.pop();
  return octets.includes(0x09);
}
