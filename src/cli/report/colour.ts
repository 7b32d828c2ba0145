import { isatty } from 'node:tty';

/** The values of `--color`. */
export const COLOUR_CHOICES = ['auto', 'always', 'never'] as const;

export type ColourChoice = (typeof COLOUR_CHOICES)[number];

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

export type Style = keyof typeof STYLES;

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
]);

let choice: ColourChoice = 'auto';

/** Chooses whether the command line writes colours, from now on. */
export function chooseColours(chosen: ColourChoice): void {
  choice = chosen;
}

/** Whether a descriptor is a terminal that can move its cursor and show colours. */
export function isCapableTerminal(descriptor: number): boolean {
  const { TERM } = process.env;
  return isatty(descriptor) && TERM !== 'dumb';
}

/** Whether the text on a descriptor is for people: on a terminal, or on its way to a pager. */
export function isForPeople(descriptor: number): boolean {
  return choice === 'always' || isatty(descriptor);
}

/**
 * How text on a descriptor is coloured. On a terminal it is, unless NO_COLOR is set (no-color.org).
 * No variable of the environment adds colours, because it would change the bytes of a pipe.
 */
export function paintOf(descriptor: number): Paint {
  return isColoured(descriptor)
    ? (style, text) => `\u001b[${STYLES[style]}m${text}\u001b[0m`
    : (_style, text) => text;
}

export function isColoured(descriptor: number): boolean {
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
