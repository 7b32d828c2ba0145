/** Formats a whole number with separators: `2,180,064`. */
export function formatNumber(value: number): string {
  const digits = Math.round(value).toString();
  let text = digits.slice(-3);
  for (let end = digits.length - 3; end > 0; end -= 3) {
    text = `${digits.slice(Math.max(0, end - 3), end)},${text}`;
  }
  return text;
}

/** Formats a count with its noun: `1 file`, `2,000 files`. */
export function formatCount(value: number, noun: string, plural = `${noun}s`): string {
  return `${formatNumber(value)} ${value === 1 ? noun : plural}`;
}

const UNITS = ['bytes', 'kB', 'MB', 'GB', 'TB'];

/** Formats bytes in powers of 1000, to three figures: `45.3 MB`. */
export function formatBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 999.5 && unit < UNITS.length - 1) {
    value /= 1000;
    unit++;
  }
  const decimals = unit === 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
  return `${value.toFixed(decimals)} ${UNITS[unit]}`;
}

/** Formats a part of a whole: `12.5 %`. A part of nothing is `0.0 %`. */
export function formatPercent(part: number, whole: number): string {
  return `${(whole === 0 ? 0 : (100 * part) / whole).toFixed(1)} %`;
}

/** Formats a time: `0.35 s`, `12.1 s`, `3 min 05 s`. */
export function formatDuration(seconds: number): string {
  if (seconds < 9.995) return `${seconds.toFixed(2)} s`;
  if (seconds < 119.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  return `${formatNumber(Math.floor(whole / 60))} min ${String(whole % 60).padStart(2, '0')} s`;
}
