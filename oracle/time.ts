/**
 * The times that texts state, read with Date and strings; kernel/assembly/time.ts does without.
 */

import { isDigit, isDigits } from '../src/base/characters.js';

/** Digits of `YYYYMMDD`, and of the beginnings of `YYYYMMDDhhmmss` after it. */
const STAMP_LENGTHS: readonly number[] = [8, 10, 12, 14];
/** Ten digits may be a date and an hour, or seconds. */
const TEN_DIGITS = 10;
/** A number of digits is a stamp only in these centuries. */
const STAMP_CENTURIES: readonly string[] = ['19', '20'];

/**
 * From the first number on, a number counts seconds since 1970, from the second on milliseconds.
 * A smaller number is more likely a year, or something else, than a time before March 1973.
 */
const FIRST_SECONDS = 100_000_000;
const FIRST_MILLISECONDS = 100_000_000_000;
/** Digits of the longest number: milliseconds up to the year 9999 and beyond. */
const MOST_DIGITS = 15;

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

/**
 * The time that a value states; `undefined` if it states none, which is never guessed.
 *
 * - A date, `2025-03-10`, or a date and a time, with `T` or a space between them, such as
 *   `2025-03-10T12:00` or `2025-03-10 12:00:00.5`, and with `Z`, ` UTC` or an offset (`+01:00`,
 *   `+0100`, `+01`) after it. Without an offset it is UTC. A 60th second is the first of the next
 *   minute.
 * - 14 digits, `20250310120000`, as archives have them, and their first 12, 10 and 8 digits, in
 *   UTC. Years are 1900 to 2099.
 * - From 100,000,000 on seconds since 1970, and from 100,000,000,000 on milliseconds since 1970,
 *   with or without a fraction.
 *
 * So `2025031012` is a date and an hour, and `1741608000` are seconds.
 *
 * @returns whole milliseconds since 1970
 */
export function timeOf(value: string): number | undefined {
  const [digits = '', fraction = '0', ...rest] = value.split('.', 3);
  if (!isDigits(digits)) return timeOfDate(value);
  if (digits.length > MOST_DIGITS || rest.length > 0 || !isDigits(fraction)) return undefined;
  const isStamp = fraction === '0' && STAMP_CENTURIES.includes(digits.slice(0, 2));
  if (isStamp && STAMP_LENGTHS.includes(digits.length)) {
    const time = timeOfStamp(digits);
    if (time !== undefined || digits.length !== TEN_DIGITS) return time;
  }
  const number = Number(digits);
  if (number < FIRST_SECONDS) return undefined;
  const part = Number(fraction.slice(0, 3).padEnd(3, '0'));
  return number < FIRST_MILLISECONDS ? number * SECOND + part : number;
}

/** The time of `YYYYMMDDhhmmss` or one of its beginnings. */
function timeOfStamp(digits: string): number | undefined {
  const field = (start: number, end: number): number => Number(digits.slice(start, end));
  const day = dayOf(field(0, 4), field(4, 6), field(6, 8));
  return day === undefined ? undefined : inDay(day, field(8, 10), field(10, 12), field(12, 14));
}

/** The time of a date, perhaps with a time of day and an offset. */
function timeOfDate(text: string): number | undefined {
  const at = (index: number): string => text.charAt(index);
  if (at(4) !== '-' || at(7) !== '-') return undefined;
  const date = [text.slice(0, 4), text.slice(5, 7), text.slice(8, 10)];
  const day = date.every(isDigits) && text.length >= 10 ? dayOf(...numbers(date)) : undefined;
  if (day === undefined || text.length === 10) return day;
  if (!'Tt '.includes(at(10)) || at(13) !== ':') return undefined;
  const hasSeconds = at(16) === ':';
  const clock = [text.slice(11, 13), text.slice(14, 16), hasSeconds ? text.slice(17, 19) : '00'];
  if (!clock.every((each) => each.length === 2 && isDigits(each))) return undefined;
  const time = inDay(day, ...numbers(clock));
  let end = hasSeconds ? 19 : 16;
  let part = 0;
  if (hasSeconds && (at(end) === '.' || at(end) === ',')) {
    const start = ++end;
    while (isDigit(text.charCodeAt(end))) end++;
    if (end === start) return undefined;
    part = Number(text.slice(start, end).slice(0, 3).padEnd(3, '0'));
  }
  const offset = offsetOf(text.slice(end));
  return time === undefined || offset === undefined ? undefined : time + part - offset;
}

function numbers(texts: readonly string[]): [number, number, number] {
  const [a = Number.NaN, b = Number.NaN, c = Number.NaN] = texts.map(Number);
  return [a, b, c];
}

/** The start of a day of the proleptic Gregorian calendar. */
function dayOf(year: number, month: number, day: number): number | undefined {
  // Date.UTC takes the years 0 to 99 for 1900 to 1999.
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  // It moves 30 February to March.
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day ? date.getTime() : undefined;
}

/** A time of day: 24:00:00 is the end of the day, and a 60th second that of its minute. */
function inDay(day: number, hour: number, minute: number, second: number): number | undefined {
  const isEnd = hour === 24 && minute === 0 && second === 0;
  if ((hour > 23 && !isEnd) || minute > 59 || second > 60) return undefined;
  return day + hour * HOUR + minute * MINUTE + second * SECOND;
}

/** The offset after a time of day, in milliseconds; 0 without one. */
function offsetOf(text: string): number | undefined {
  if (text === '' || text === 'Z' || text === 'z' || text === ' UTC') return 0;
  const sign = text.startsWith('+') ? 1 : text.startsWith('-') ? -1 : 0;
  const digits = text.slice(1).replace(':', '');
  const isColon = text.charAt(3) === ':' || !text.includes(':');
  if (sign === 0 || text.length === 4 || !isColon || !isDigits(digits)) return undefined;
  if (digits.length !== 2 && digits.length !== 4) return undefined;
  const [hours, minutes] = [Number(digits.slice(0, 2)), Number(digits.slice(2))];
  return hours > 23 || minutes > 59 ? undefined : sign * (hours * HOUR + minutes * MINUTE);
}
