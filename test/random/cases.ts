/** How many times as many cases are tried: `CASES=10 npm test`. Not below 1, nor a fraction. */
const MULTIPLE = Number(process.env.CASES ?? 1);
if (!Number.isInteger(MULTIPLE) || MULTIPLE < 1) {
  throw new Error(`CASES is ${process.env.CASES}. Use a whole number from 1`);
}

/** The number of cases that a test draws, of which it usually draws `usual`. */
export function cases(usual: number): number {
  return usual * MULTIPLE;
}

/** The distance between the places that a test tries, of which it usually tries every `usual`th. */
export function every(usual: number): number {
  return Math.max(1, Math.ceil(usual / MULTIPLE));
}
