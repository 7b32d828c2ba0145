import { expect } from 'vitest';

/** An input of a family and what it took. */
export interface Measured {
  readonly octets: number;
  readonly steps: number;
}

/**
 * Steps for each octet: no more than `most`, and no fewer than `least`, or they were not counted.
 */
export interface StepsPerOctet {
  readonly least: number;
  readonly most: number;
}

/** What the logarithm of a sort adds to each octet of an input that is sixteen times as long. */
export const LOGARITHM = 1.25;

/**
 * Sees that the steps for each octet keep within these bounds, and that they are no more than
 * `growth` times as many in inputs sixteen times as long: what is quadratic takes sixteen times as
 * many.
 */
export function expectLinear(
  measured: readonly Measured[],
  { least, most }: StepsPerOctet,
  growth = LOGARITHM,
): void {
  const perOctet = measured.map(({ octets, steps }) => steps / octets);
  const [first, ...further] = perOctet;
  if (first === undefined || further.length === 0) throw new Error('nothing to compare');
  expect(measured.at(-1)?.octets).toBeGreaterThan(15 * (measured[0]?.octets ?? 0));
  for (const steps of perOctet) {
    expect(steps).toBeGreaterThanOrEqual(least);
    expect(steps).toBeLessThanOrEqual(most);
  }
  for (const steps of further) expect(steps).toBeLessThan(growth * first);
}

/**
 * Octets of table that a body can grow to at most. The worst is a rule of control characters: three
 * octets for each to match, six to show. And what a table has besides.
 */
export function mostTableOctets(bodyOctets: number): number {
  return 12 * bodyOctets + 2000;
}
