import { expect, it } from 'vitest';
import { timeOf as expectedTime } from '../../oracle/time.js';
import { FIRST_ADDRESS, PrivateKernel } from '../../src/kernel/kernel.js';
import { timeOf } from '../../src/kernel/times.js';
import { cases } from '../random/cases.js';
import { Random } from '../random/random.js';

const SEPARATORS = ['T', 't', ' ', '', '-', 'T ', '/'];
const OFFSETS = ['', 'Z', 'z', ' UTC', ' GMT', '+00', '-05:30', '+0100', '+1', '+01:', '+24', 'Z '];
const YEARS = [0, 1, 4, 100, 400, 1582, 1899, 1900, 1969, 1970, 2000, 2024, 2038, 2100, 2106, 9999];
const NUMBERS = [99_999_999, 1e8, 2 ** 31, 2 ** 32, 99_999_999_999, 1e11, 1e14, 1e15 - 1, 1e15];

const padded = (value: number, digits: number): string => String(value).padStart(digits, '0');

/** A text that is a time, or nearly one. */
function nearlyTime(random: Random): string {
  const year = padded(random.pick(YEARS), 4);
  const [month, day] = [padded(random.between(0, 13), 2), padded(random.between(0, 32), 2)];
  const clock = [random.between(0, 25), random.between(0, 61), random.between(0, 62)];
  const [hour, minute, second] = clock.map((each) => padded(each, 2));
  const fraction = random.chance(0.3)
    ? `${random.pick(['.', ','])}${random.between(0, 99_999)}`
    : '';
  const forms = [
    () => `${year}-${month}-${day}`,
    () =>
      `${year}-${month}-${day}${random.pick(SEPARATORS)}${hour}:${minute}${random.pick(OFFSETS)}`,
    () =>
      `${year}-${month}-${day}${random.pick(SEPARATORS)}${hour}:${minute}:${second}${fraction}${random.pick(OFFSETS)}`,
    () =>
      `${year}${month}${day}${hour}${minute}${second}`.slice(
        0,
        random.pick([4, 8, 10, 12, 13, 14]),
      ),
    () => String(random.pick(NUMBERS) + random.between(-1, 1)) + fraction.replace(',', '.'),
  ];
  const text = random.pick(forms)();
  if (random.chance(0.8)) return text;
  const at = random.between(0, text.length);
  const change = random.pick(['', '0', '9', ':', '-', '.', 'é', ' ', '٣', '\0']);
  return text.slice(0, at) + change + text.slice(at + random.between(0, 1));
}

it('reads what Date reads, and the other forms', () => {
  const random = new Random(1970);
  const seen = { times: 0, others: 0, beforeEpoch: 0 };
  for (let left = cases(15_000); left > 0; left--) {
    const text = nearlyTime(random);
    const time = timeOf(text);
    expect(time, JSON.stringify(text)).toBe(expectedTime(text));
    if (time === undefined) seen.others++;
    else seen.times++;
    if (time !== undefined && time < 0) seen.beforeEpoch++;
  }
  expect(seen.times).toBeGreaterThan(2000);
  expect(seen.others).toBeGreaterThan(2000);
  expect(seen.beforeEpoch).toBeGreaterThan(150);
});

it('does not depend on the bytes around the text', () => {
  const own = new PrivateKernel();
  const random = new Random(1971);
  for (let left = cases(4000); left > 0; left--) {
    const text = Buffer.from(nearlyTime(random));
    const end = FIRST_ADDRESS + text.length;
    const times = ['9', ':', 'Z', '\xff'].map((guard) => {
      const bytes = own.bytes(end + 64).subarray(0, end + 64);
      bytes.fill(guard.charCodeAt(0));
      bytes.set(text, FIRST_ADDRESS);
      return own.kernel.readTime(FIRST_ADDRESS, end);
    });
    expect(new Set(times).size, text.toString()).toBe(1);
  }
});

it('reads no text beyond the longest', () => {
  const time = timeOf('2024-01-01T00:00:00.0');
  expect(timeOf(`2024-01-01T00:00:00.${'0'.repeat(236)}`)).toBe(time);
  expect(timeOf(`2024-01-01T00:00:00.${'0'.repeat(237)}`)).toBeUndefined();
});
