/** Writing the numbers of an automaton. `number` of match/fields.ts reads them. */

/** Appends a number; writes up to three bytes past it. Returns its end. */
export function appendNumber(to: usize, value: u32, width: u32): usize {
  store<u32>(to, value);
  return to + ((<usize>1) << width);
}

/** Writes a number, and no byte past it. */
export function putNumber(at: usize, value: u32, width: u32): void {
  if (width === 0) store<u8>(at, <u8>value);
  else if (width === 1) store<u16>(at, <u16>value);
  else store<u32>(at, value);
}
