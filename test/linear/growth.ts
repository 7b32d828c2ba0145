import { expect } from 'vitest';

/** An input of a family and its cost. */
export interface Measured {
  readonly bytes: number;
  readonly steps: number;
}

/** Steps for each byte: at most `most`; at least `least`, otherwise they were not counted. */
export interface StepsPerByte {
  readonly least: number;
  readonly most: number;
}

/** The growth for each byte by the logarithm of a sort, if an input is sixteen times as long. */
export const LOGARITHM = 1.25;

/**
 * Asserts that the steps for each byte are within these bounds, and grow at most by the factor
 * `growth` in inputs sixteen times as long. Quadratic work would take sixteen times as many.
 */
export function expectLinear(
  measured: readonly Measured[],
  { least, most }: StepsPerByte,
  growth = LOGARITHM,
): void {
  const perByte = measured.map(({ bytes, steps }) => steps / bytes);
  const [first, ...further] = perByte;
  if (first === undefined || further.length === 0) throw new Error('nothing to compare');
  expect(measured.at(-1)?.bytes).toBeGreaterThan(15 * (measured[0]?.bytes ?? 0));
  for (const steps of perByte) {
    expect(steps).toBeGreaterThanOrEqual(least);
    expect(steps).toBeLessThanOrEqual(most);
  }
  for (const steps of further) expect(steps).toBeLessThan(growth * first);
}

/**
 * Maximum bytes of a table from a body. The worst body is a rule of control characters: three bytes
 * for each to match, six to show. The fixed parts of a table are added.
 */
export function mostTableBytes(bodyBytes: number): number {
  return 12 * bodyBytes + 2000;
}
