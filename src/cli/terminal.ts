/*
 * Characters that would act on a terminal, or on the reader, instead of being
 * shown: C0 and C1 controls and DEL (escape sequences begin with one), the
 * controls of the bidirectional algorithm (Unicode Standard Annex #9 section
 * 2), which reorder what stands around them, and the separators of lines and
 * paragraphs.
 */
function isControl(code: number): boolean {
  return (
    code < 0x20 ||
    (code >= 0x7f && code <= 0x9f) ||
    code === 0x061c ||
    code === 0x200e ||
    code === 0x200f ||
    (code >= 0x2028 && code <= 0x202e) ||
    (code >= 0x2066 && code <= 0x2069)
  );
}

/**
 * The text with its control characters as `\xNN` or `\u{NNNN}`, for what comes
 * from outside (names, records, messages of the system) and goes to a terminal.
 * Nothing else changes, backslashes neither: the result is to be read, not to
 * be decoded, and escaping it again does no harm.
 */
export function printable(text: string): string {
  let escaped = '';
  let start = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (!isControl(code)) continue;
    const digits = code.toString(16).padStart(2, '0');
    escaped += `${text.slice(start, at)}${code < 0x100 ? `\\x${digits}` : `\\u{${digits}}`}`;
    start = at + 1;
  }
  return escaped + text.slice(start);
}
