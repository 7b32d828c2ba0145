import { isDigit } from './octet.js';

const FULL_STOP = 0x2e;

/**
 * The seconds that a crawl-delay's value says: digits with at most one full stop. `undefined` for
 * all else, and for what no double holds.
 */
export function crawlDelaySeconds(value: string): number | undefined {
  let digits = 0;
  let fullStops = 0;
  for (let at = 0; at < value.length; at++) {
    const unit = value.charCodeAt(at);
    if (isDigit(unit)) digits++;
    else if (unit === FULL_STOP) fullStops++;
    else return undefined;
  }
  if (digits === 0 || fullStops > 1) return undefined;
  const seconds = Number(value);
  return Number.isFinite(seconds) ? seconds : undefined;
}
