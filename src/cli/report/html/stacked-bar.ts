import { html } from './html-text.js';

/** A part of a bar. */
export interface BarPart {
  /** The class that gives the part its colour. */
  readonly kind: string;
  readonly count: number;
}

/** Width and height of a bar in its own units: the page stretches it. */
const WIDTH = 1000;
const HEIGHT = 20;

/**
 * Draws the parts of a whole beside each other, as SVG that fills its room.
 *
 * @param label says in words what the bar shows
 */
export function stackedBar(parts: readonly BarPart[], label: string): string {
  const total = parts.reduce((sum, { count }) => sum + count, 0);
  let start = 0;
  const rectangles = parts.map(({ kind, count }) => {
    if (count === 0) return '';
    const x = (WIDTH * start) / total;
    start += count;
    const width = (WIDTH * start) / total - x;
    return `<rect class="${kind}" x="${x.toFixed(1)}" width="${width.toFixed(1)}" height="${HEIGHT}"/>`;
  });
  return `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${html(label)}">${rectangles.join('')}</svg>`;
}
