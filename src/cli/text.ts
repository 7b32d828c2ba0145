/** Text for people: numbers, and on terminals colours, widths and columns. */

import { DELETE } from '../base/ascii.js';
import { isTerminal } from '../files/openings.js';
import type { LineLayout } from '../pipeline/output/output.js';

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
  if (bytes === 1) return '1 byte';
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
}

// ---- Colours, widths and columns of terminals

export const STANDARD_OUTPUT_DESCRIPTOR: number = 1;
export const STANDARD_ERROR_DESCRIPTOR = 2;

/** The values of `--color`. */
export const COLOUR_CHOICES = ['auto', 'always', 'never'] as const;

type ColourChoice = (typeof COLOUR_CHOICES)[number];

const STYLES = {
  error: '1;31',
  warning: '1;33',
  note: '1;36',
  strong: '1',
  faint: '2',
  good: '32',
  bad: '31',
  mixed: '33',
  void: '35',
} as const;

type Style = keyof typeof STYLES;

/** Colours a text that is safe on a terminal. */
export type Paint = (style: Style, text: string) => string;

/** The styles of verdicts, and of how much a robots.txt allows. */
const WORD_STYLES: ReadonlyMap<string, Style> = new Map([
  ['allow', 'good'],
  ['deny', 'bad'],
  ['unknown', 'mixed'],
  ['invalid', 'void'],
  ['all', 'good'],
  ['none', 'bad'],
  ['part', 'mixed'],
  ['granted', 'good'],
  ['refused', 'bad'],
]);

let choice: ColourChoice = 'auto';

/** Chooses whether the command line writes colours, from now on. */
export function chooseColours(chosen: ColourChoice): void {
  choice = chosen;
}

/** Whether a descriptor is a terminal that can move its cursor and show colours. */
export function isCapableTerminal(descriptor: number): boolean {
  const { TERM } = process.env;
  return isTerminal(descriptor) && TERM !== 'dumb';
}

/** Whether standard output is for people: a terminal, or on its way to a pager. */
export function isForPeople(): boolean {
  return choice === 'always' || isTerminal(STANDARD_OUTPUT_DESCRIPTOR);
}

/**
 * How text on a descriptor is coloured. On a terminal it is, unless NO_COLOR is set (no-color.org).
 * No variable of the environment adds colours, because it would change the bytes of a pipe.
 */
export function paintOf(descriptor = STANDARD_OUTPUT_DESCRIPTOR): Paint {
  return isColoured(descriptor)
    ? (style, text) => `\u001b[${STYLES[style]}m${text}\u001b[0m`
    : (_style, text) => text;
}

function isColoured(descriptor: number): boolean {
  if (choice !== 'auto') return choice === 'always';
  const { NO_COLOR = '' } = process.env;
  return isCapableTerminal(descriptor) && NO_COLOR === '';
}

/** Colours verdicts, or how much is allowed, with commas between several. */
export function paintWords(paint: Paint, words: string): string {
  return words
    .split(',')
    .map((word) => {
      const style = WORD_STYLES.get(word);
      return style === undefined ? word : paint(style, word);
    })
    .join(',');
}

/** Blocks of characters that take two columns (Unicode Standard Annex #11), first and last. */
const WIDE: readonly (readonly [number, number])[] = [
  [0x1100, 0x115f],
  [0x2e80, 0xa4cf],
  [0xac00, 0xd7a3],
  [0xf900, 0xfaff],
  [0xfe30, 0xfe6f],
  [0xff00, 0xff60],
  [0xffe0, 0xffe6],
  [0x1f300, 0x1faff],
  [0x20000, 0x3fffd],
];

/** The number of columns that a text without control characters takes on most terminals. */
export function widthOnTerminal(text: string): number {
  let width = 0;
  for (const character of text) width += widthOf(character);
  return width;
}

/** Cuts a text that takes more columns than this, so that it ends in U+2026. */
export function cutToWidth(text: string, columns: number): string {
  if (widthOnTerminal(text) <= columns) return text;
  let width = 1;
  let kept = '';
  for (const character of text) {
    width += widthOf(character);
    if (width > columns) break;
    kept += character;
  }
  return `${kept}\u2026`;
}

function widthOf(character: string): number {
  const code = character.codePointAt(0) ?? 0;
  return code > DELETE && WIDE.some(([first, last]) => code >= first && code <= last) ? 2 : 1;
}

/** Between two columns. */
export const GAP = '  ';
/** A column is never wider than this share of the window. */
const MOST_OF_WINDOW = 1 / 2;
const LEAST_CAP = 8;

/** Columns of a window whose width is unknown. */
const USUAL_WINDOW = 80;

/**
 * Aligns rows for people as they come. A column is as wide as its longest value so far, up to half
 * of the window. A longer value comes out whole, and moves what follows it.
 */
export class RecordColumns {
  readonly #paint: Paint;
  readonly #window: () => number;
  readonly #widths: number[] = [];

  /** @param window the width of the window, which may change */
  constructor(paint = paintOf(), window = windowOfOutput) {
    this.#paint = paint;
    this.#window = window;
  }

  /** Lays out rows, whose first value is a verdict; each becomes a line without its end. */
  lines(rows: readonly (readonly string[])[]): string[] {
    const cap = Math.max(LEAST_CAP, Math.floor(this.#window() * MOST_OF_WINDOW));
    const widths = rows.map((row) => row.map(widthOnTerminal));
    for (const row of widths) {
      row.forEach((width, column) => {
        this.#widths[column] = Math.max(this.#widths[column] ?? 0, Math.min(width, cap));
      });
    }
    return rows.map((row, index) => this.#line(row, widths[index] ?? []));
  }

  #line(row: readonly string[], widths: readonly number[]): string {
    const texts = row.map((value, column) => {
      const text = column === 0 ? paintWords(this.#paint, value) : value;
      const missing = (this.#widths[column] ?? 0) - (widths[column] ?? 0);
      return missing > 0 ? text + ' '.repeat(missing) : text;
    });
    return texts.join(GAP).trimEnd();
  }
}

/** The width of the window of standard output; of a usual one if it is no terminal. */
export function windowOfOutput(): number {
  return process.stdout.columns || USUAL_WINDOW;
}

/** Rows as text for standard output: in columns for people, and with tabs for programs. */
export function rowsText(rows: readonly (readonly string[])[]): string {
  const columns = new RecordColumns();
  const lines = isForPeople() ? columns.lines(rows) : rows.map((row) => row.join('\t'));
  return lines.map((line) => `${line}\n`).join('');
}

/**
 * The layout of lines with verdicts on standard output; undefined if they come out as they are.
 *
 * @param added number of columns after the URL that explain the verdict; 0 for none
 * @param leading as `alignedColumns`
 */
export function verdictLayout(added: number, leading = 1): LineLayout | undefined {
  if (!isForPeople()) return undefined;
  if (added > 0) return alignedColumns(new RecordColumns(), added, leading);
  return isColoured(STANDARD_OUTPUT_DESCRIPTOR) ? colouredVerdicts(paintOf()) : undefined;
}

/** Colours the verdicts of lines of text. */
function colouredVerdicts(paint: Paint): LineLayout {
  return (lines) =>
    lines.map((line) => {
      const end = line.indexOf('\t');
      return end < 0 ? line : `${paintWords(paint, line.slice(0, end))}${line.slice(end)}`;
    });
}

/**
 * Aligns lines of text with verdicts and explanations.
 *
 * @param added number of columns after the URL, which may hold tabs if it is invalid
 * @param leading number of columns before the URL: the verdicts, and the answers about uses
 */
export function alignedColumns(columns: RecordColumns, added: number, leading = 1): LineLayout {
  return (lines) =>
    columns.lines(
      lines.map((line) => {
        const values = line.split('\t');
        const urlEnd = Math.max(leading, values.length - added);
        const url = values.slice(leading, urlEnd).join('\t');
        return [...values.slice(0, leading), url, ...values.slice(urlEnd)];
      }),
    );
}
