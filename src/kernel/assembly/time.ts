/**
 * Reads the times that data sets have, in the forms of RFC 3339, ISO 8601, archives and epochs, and
 * writes times. The forms: kernel/times.ts.
 */

import {
  COLON,
  COMMA,
  DIGIT_0,
  DOT,
  HYPHEN,
  LOWER_CASE_BIT,
  LOWER_T,
  LOWER_Z,
  PLUS,
  SLASH,
  SPACE,
  UPPER_T,
  UPPER_Z,
} from '../../base/ascii';

import { isDigit, UTC } from './bytes';

/** A text states no time. */
export const NO_TIME: i64 = i64.MIN_VALUE;

/** From the first number on, a number counts seconds since 1970, from the second milliseconds. */
const FIRST_SECONDS: i64 = 100_000_000;
const FIRST_MILLISECONDS: i64 = 100_000_000_000;
/** Digits of the longest number: milliseconds up to the year 9999 and beyond. */
const MOST_DIGITS: i32 = 15;
/** Digits of `YYYYMMDDhh`, which may also be seconds. */
const HOUR_DIGITS: i32 = 10;
/** Digits of `YYYYMMDD` and `YYYYMMDDhhmmss`. */
const DAY_DIGITS: i32 = 8;
const SECOND_DIGITS: i32 = 14;
/** Bytes of `10/Oct/2000:13:55:36`. */
const LOG_BYTES: usize = 20;
/** Bytes of `2025-03-10`, and of `2025-03-10T12:00`. */
const DAY_BYTES: usize = 10;
const MINUTE_BYTES: usize = 16;

const SECOND: i64 = 1000;
const MINUTE: i64 = 60 * SECOND;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;
/** Days of 400 years, and of the years from the first of March of the year 0 to 1970. */
const ERA_DAYS: i32 = 146_097;
const DAYS_TO_1970: i32 = 719_468;

/**
 * The time that the text `from`–`end` states, in milliseconds since 1970; NO_TIME if the text
 * states none. Further digits of a fraction are dropped.
 */
export function timeOf(from: usize, end: usize): i64 {
  if (end - from >= LOG_BYTES && load<u8>(from, 2) === SLASH) return timeOfLog(from, end);
  let at = from;
  let number: i64 = 0;
  for (; at < end && isDigit(load<u8>(at)); at++) {
    if (<i32>(at - from) === MOST_DIGITS) return NO_TIME;
    number = number * 10 + <i64>digitAt(at);
  }
  const digits = <i32>(at - from);
  if (at < end && load<u8>(at) !== DOT) return timeOfDate(from, end);
  let hasFraction = false;
  let fraction: i64 = 0;
  if (at < end) {
    const first = at + 1;
    at = digitsEnd(first, end);
    if (at === first || at < end) return NO_TIME;
    fraction = milliseconds(first, end);
    hasFraction = at - first > 1 || load<u8>(first) !== DIGIT_0;
  }
  if (digits === 0) return NO_TIME;
  if (!hasFraction && isStamp(from, digits)) {
    const time = timeOfStamp(from, digits);
    if (time !== NO_TIME || digits !== HOUR_DIGITS) return time;
  }
  if (number < FIRST_SECONDS) return NO_TIME;
  return number < FIRST_MILLISECONDS ? number * SECOND + fraction : number;
}

/** Whether so many digits may be a date: 8, 10, 12 or 14 of the years 1900 to 2099. */
function isStamp(from: usize, digits: i32): bool {
  if (digits < DAY_DIGITS || digits > SECOND_DIGITS || (digits & 1) !== 0) return false;
  const century = pairAt(from);
  return century === 19 || century === 20;
}

/** The time of `YYYYMMDDhhmmss`, or of its first 8, 10 or 12 digits. */
function timeOfStamp(at: usize, digits: i32): i64 {
  const day = dayOf(pairAt(at) * 100 + pairAt(at + 2), pairAt(at + 4), pairAt(at + 6));
  const hour = digits >= 10 ? pairAt(at + 8) : 0;
  const minute = digits >= 12 ? pairAt(at + 10) : 0;
  return inDay(day, hour, minute, digits >= 14 ? pairAt(at + 12) : 0);
}

/** The time of a date, perhaps with a time of day and an offset. */
function timeOfDate(from: usize, end: usize): i64 {
  if (end - from < DAY_BYTES || load<u8>(from, 4) !== HYPHEN || load<u8>(from, 7) !== HYPHEN) {
    return NO_TIME;
  }
  const year = twoAt(from) * 100 + twoAt(from + 2);
  if ((twoAt(from) | twoAt(from + 2) | twoAt(from + 5) | twoAt(from + 8)) < 0) return NO_TIME;
  const day = dayOf(year, twoAt(from + 5), twoAt(from + 8));
  if (day === NO_TIME || end - from === DAY_BYTES) return day;
  const separator: i32 = load<u8>(from, 10);
  const isTime = separator === SPACE || separator === UPPER_T || separator === LOWER_T;
  if (!isTime || end - from < MINUTE_BYTES || load<u8>(from, 13) !== COLON) return NO_TIME;
  const hour = twoAt(from + 11);
  const minute = twoAt(from + 14);
  let second = 0;
  let at = from + MINUTE_BYTES;
  let part: i64 = 0;
  if (at < end && load<u8>(at) === COLON) {
    if (end - at < 3) return NO_TIME;
    second = twoAt(at + 1);
    at += 3;
    if (at < end && (load<u8>(at) === DOT || load<u8>(at) === COMMA)) {
      const first = ++at;
      at = digitsEnd(first, end);
      if (at === first) return NO_TIME;
      part = milliseconds(first, at);
    }
  }
  if ((hour | minute | second) < 0) return NO_TIME;
  const time = inDay(day, hour, minute, second);
  const offset = offsetOf(at, end);
  return time === NO_TIME || offset === NO_TIME ? NO_TIME : time + part - offset;
}

/** The time of `10/Oct/2000:13:55:36`, with a space and an offset after it. */
function timeOfLog(from: usize, end: usize): i64 {
  const colons =
    load<u8>(from, 11) === COLON && load<u8>(from, 14) === COLON && load<u8>(from, 17) === COLON;
  if (load<u8>(from, 6) !== SLASH || !colons) return NO_TIME;
  const century = twoAt(from + 7);
  const day = twoAt(from);
  const hour = twoAt(from + 12);
  const minute = twoAt(from + 15);
  const second = twoAt(from + 18);
  if ((century | twoAt(from + 9) | day | hour | minute | second) < 0) return NO_TIME;
  const year = century * 100 + twoAt(from + 9);
  const time = inDay(dayOf(year, monthAt(from + 3), day), hour, minute, second);
  let zone = from + LOG_BYTES;
  if (zone < end && load<u8>(zone) === SPACE) zone++;
  const offset = offsetOf(zone, end);
  return time === NO_TIME || offset === NO_TIME ? NO_TIME : time - offset;
}

/** The number of the month with this English name of three letters, in any case; 0 for none. */
function monthAt(at: usize): i32 {
  // The first letter is the lowest byte.
  const letters = (load<u32>(at) & 0xff_ffff) | 0x20_2020;
  if (letters === 0x6e616a) return 1; // jan
  if (letters === 0x626566) return 2; // feb
  if (letters === 0x72616d) return 3; // mar
  if (letters === 0x727061) return 4; // apr
  if (letters === 0x79616d) return 5; // may
  if (letters === 0x6e756a) return 6; // jun
  if (letters === 0x6c756a) return 7; // jul
  if (letters === 0x677561) return 8; // aug
  if (letters === 0x706573) return 9; // sep
  if (letters === 0x74636f) return 10; // oct
  if (letters === 0x766f6e) return 11; // nov
  if (letters === 0x636564) return 12; // dec
  return 0;
}

/** The offset from UTC that is the text `at`–`end`; NO_TIME for any other text. */
function offsetOf(at: usize, end: usize): i64 {
  const bytes = <i32>(end - at);
  if (bytes === 0) return 0;
  const sign: i32 = load<u8>(at);
  if (bytes === 1) return (sign | LOWER_CASE_BIT) === LOWER_Z ? 0 : NO_TIME;
  if (bytes === 4 && load<u32>(at) === UTC) return 0;
  if (sign !== PLUS && sign !== HYPHEN) return NO_TIME;
  const hasColon = bytes === 6 && load<u8>(at, 3) === COLON;
  if (bytes !== 3 && bytes !== 5 && !hasColon) return NO_TIME;
  const hours = twoAt(at + 1);
  const minutes = bytes === 3 ? 0 : twoAt(at + (hasColon ? 4 : 3));
  if ((hours | minutes) < 0 || hours > 23 || minutes > 59) return NO_TIME;
  const offset = <i64>hours * HOUR + <i64>minutes * MINUTE;
  return sign === HYPHEN ? -offset : offset;
}

/** The start of a day of the proleptic Gregorian calendar; NO_TIME if there is no such day. */
function dayOf(year: i32, month: i32, day: i32): i64 {
  if (month < 1 || month > 12 || day < 1 || day > daysOf(year, month)) return NO_TIME;
  // Years that begin in March have the leap day at their end.
  const march = month > 2 ? year : year - 1;
  const era = (march >= 0 ? march : march - 399) / 400;
  const ofEra = march - era * 400;
  const ofYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
  const days = era * ERA_DAYS + ofEra * 365 + ofEra / 4 - ofEra / 100 + ofYear - DAYS_TO_1970;
  return <i64>days * DAY;
}

/** Days of a month, 1 to 12. */
function daysOf(year: i32, month: i32): i32 {
  if (month !== 2) return 30 + ((month + (month >> 3)) & 1);
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  return isLeap ? 29 : 28;
}

/** A time of day: 24:00:00 is the end of the day, and a 60th second the next minute. */
function inDay(day: i64, hour: i32, minute: i32, second: i32): i64 {
  const isEnd = hour === 24 && minute === 0 && second === 0;
  if (day === NO_TIME || (hour > 23 && !isEnd) || minute > 59 || second > 60) return NO_TIME;
  return day + <i64>hour * HOUR + <i64>minute * MINUTE + <i64>second * SECOND;
}

/** The first three digits of a fraction of a second. */
function milliseconds(at: usize, end: usize): i64 {
  let value: i64 = 0;
  for (let i = 0; i < 3; i++, at++) value = value * 10 + (at < end ? <i64>digitAt(at) : 0);
  return value;
}

function digitsEnd(at: usize, end: usize): usize {
  while (at < end && isDigit(load<u8>(at))) at++;
  return at;
}

function digitAt(at: usize): i32 {
  return <i32>load<u8>(at) - DIGIT_0;
}

/** The number of two digits. */
function pairAt(at: usize): i32 {
  return digitAt(at) * 10 + digitAt(at + 1);
}

/** The number of two bytes; negative if they are not digits. */
function twoAt(at: usize): i32 {
  return isDigit(load<u8>(at)) && isDigit(load<u8>(at, 1)) ? pairAt(at) : -1;
}

// ---- Writing

/** Writes a time in seconds since 1970 as `2025-03-10T12:00:00Z`; returns the end of the text. */
export function writeTime(seconds: u32, to: usize): usize {
  const days = <i32>(seconds / 86_400) + DAYS_TO_1970;
  const time = <i32>(seconds % 86_400);
  const era = days / ERA_DAYS;
  const ofEra = days - era * ERA_DAYS;
  const march = (ofEra - ofEra / 1460 + ofEra / 36_524 - ofEra / 146_096) / 365;
  const ofYear = ofEra - (365 * march + march / 4 - march / 100);
  const month = (5 * ofYear + 2) / 153;
  const year = march + era * 400 + (month > 9 ? 1 : 0);
  writePair(year / 100, to);
  writePair(year % 100, to + 2);
  store<u8>(to, HYPHEN, 4);
  writePair(month < 10 ? month + 3 : month - 9, to + 5);
  store<u8>(to, HYPHEN, 7);
  writePair(ofYear - (153 * month + 2) / 5 + 1, to + 8);
  store<u8>(to, UPPER_T, 10);
  writePair(time / 3600, to + 11);
  store<u8>(to, COLON, 13);
  writePair((time / 60) % 60, to + 14);
  store<u8>(to, COLON, 16);
  writePair(time % 60, to + 17);
  store<u8>(to, UPPER_Z, 19);
  return to + 20;
}

function writePair(value: i32, to: usize): void {
  store<u8>(to, DIGIT_0 + value / 10);
  store<u8>(to, DIGIT_0 + (value % 10), 1);
}
