import { DOT } from '../ascii.js';
import { isDigit } from './byte.js';

/**
 * The seconds of a crawl-delay: digits with at most one full stop. `undefined` for any other value,
 * and for a number too large for a double.
 */
export function crawlDelaySeconds(value: string): number | undefined {
  let digits = 0;
  let fullStops = 0;
  for (let at = 0; at < value.length; at++) {
    const unit = value.charCodeAt(at);
    if (isDigit(unit)) digits++;
    else if (unit === DOT) fullStops++;
    else return undefined;
  }
  if (digits === 0 || fullStops > 1) return undefined;
  const seconds = Number(value);
  return Number.isFinite(seconds) ? seconds : undefined;
}
