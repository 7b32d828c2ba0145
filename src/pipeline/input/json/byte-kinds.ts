/** The meaning of a byte outside strings for the nesting of JSON. */
export const Kind = {
  ordinary: 0,
  blank: 1,
  lineBreak: 2,
  quote: 3,
  open: 4,
  close: 5,
  comma: 6,
} as const;

/** The kind of each byte. */
export const KINDS = new Uint8Array(256);
for (const [characters, kind] of [
  [' \t', Kind.blank],
  ['\n\r', Kind.lineBreak],
  ['"', Kind.quote],
  ['{[', Kind.open],
  ['}]', Kind.close],
  [',', Kind.comma],
] as const) {
  for (const character of characters) KINDS[character.charCodeAt(0)] = kind;
}
