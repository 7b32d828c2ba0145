/** A figure with several measured values. */
export interface Figure {
  readonly median: number;
  readonly least: number;
  readonly greatest: number;
}

/** @throws RangeError if there is no value */
export function figureOf(values: readonly number[]): Figure {
  return { median: median(values), least: Math.min(...values), greatest: Math.max(...values) };
}

/**
 * The median; of an even number of values, the mean of the two middle values.
 *
 * @throws RangeError if there is no value
 */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const [low, high] = [sorted[Math.ceil(middle) - 1], sorted[Math.floor(middle)]];
  if (low === undefined || high === undefined)
    throw new RangeError('a median needs at least one value');
  return (low + high) / 2;
}
