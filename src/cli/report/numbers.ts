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

/** Formats the time until an end: `3 s left`, `3 min 05 s left`, `2 h 40 min left`. */
export function formatTimeLeft(seconds: number): string {
  const whole = Math.ceil(seconds);
  if (whole < 60) return `${whole} s left`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return `${minutes} min ${String(whole % 60).padStart(2, '0')} s left`;
  const hours = Math.floor(minutes / 60);
  return `${formatNumber(hours)} h ${String(minutes % 60).padStart(2, '0')} min left`;
}

/** Formats a part of a whole: `12.5 %`. A part of nothing is `0.0 %`. */
export function formatPercent(part: number, whole: number): string {
  return `${(whole === 0 ? 0 : (100 * part) / whole).toFixed(1)} %`;
}

/** Formats a share. A few are never 0 % but `<0.1 %`, and almost all are `>99.9 %`. */
export function formatShare(part: number, whole: number): string {
  const text = formatPercent(part, whole);
  if (part > 0 && text === '0.0 %') return '<0.1 %';
  return part < whole && text === '100.0 %' ? '>99.9 %' : text;
}

/** Formats a time: `0.35 s`, `12.1 s`, `3 min 05 s`. */
export function formatDuration(seconds: number): string {
  if (seconds < 9.995) return `${seconds.toFixed(2)} s`;
  if (seconds < 119.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  return `${formatNumber(Math.floor(whole / 60))} min ${String(whole % 60).padStart(2, '0')} s`;
} /**
 * Maximum characters of a list in a row. Site owners choose how long their lists are, and rows
 * repeat them for each agent.
 */
const MOST_CHARACTERS = 4096;

/**
 * The texts of a list that a row has; `undefined` for an empty list. Of a list that is too long the
 * first ones are left, and a last one that says how many more there are.
 */
export function boundedList(texts: readonly string[]): readonly string[] | undefined {
  let characters = 0;
  const end = texts.findIndex((text, index) => {
    characters += text.length;
    return index > 0 && characters > MOST_CHARACTERS;
  });
  if (end < 0) return texts.length === 0 ? undefined : texts;
  return [...texts.slice(0, end), `\u2026 ${texts.length - end} more`];
} /** Kinds of other records (RFC 9309 section 2.2.4) that reports count. */
export const RECORD_FIGURES = [
  'sitemap',
  'crawl-delay',
  'content-usage',
  'content-signal',
  'license',
] as const;

export type RecordFigure = (typeof RECORD_FIGURES)[number];
