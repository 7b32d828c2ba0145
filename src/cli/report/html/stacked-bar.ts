import { scaleLinear } from 'd3-scale';
import { stack } from 'd3-shape';
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
  const place = scaleLinear([0, Math.max(1, total)], [0, WIDTH]);
  const whole = Object.fromEntries(parts.map(({ kind, count }) => [kind, count]));
  const kinds = parts.map(({ kind }) => kind);
  const series = stack<Record<string, number>, string>().keys(kinds)([whole]);
  const rectangles = series.flatMap(({ key, 0: [start, end] = [0, 0] }) =>
    end === start
      ? []
      : [
          `<rect class="${key}" x="${place(start).toFixed(1)}" width="${(place(end) - place(start)).toFixed(1)}" height="${HEIGHT}"/>`,
        ],
  );
  return `<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${html(label)}">${rectangles.join('')}</svg>`;
}
