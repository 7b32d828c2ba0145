/** The parts of a page: text, tables and charts as HTML. Only this file makes Html. */

import { printable } from '../../base/control-characters.js';
import { formatCount, formatNumber } from '../text.js';

/** Escaped text. Only the functions below make it: other text is escaped when it is shown. */
export class Html {
  readonly source: string;
  constructor(source: string) {
    this.source = source;
  }
}

/** A text, or an element. */
export type Inline = string | number | Html;

/** The colours of a page, by what they stand for. */
export type Colour = 'none' | 'pale' | 'part' | 'all' | 'open' | 'void' | 'blank';

/** Escapes a text for HTML, in elements and in quoted attributes, and shows control characters. */
function escaped(text: string): string {
  return printable(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

function sourceOf(content: Inline): string {
  if (typeof content === 'number') return formatNumber(content);
  return typeof content === 'string' ? escaped(content) : content.source;
}

/** An element with a class, or without one if it is empty. */
export function element(name: string, kind: string, ...content: readonly Inline[]): Html {
  const start = kind === '' ? name : `${name} class="${kind}"`;
  return new Html(`<${start}>${content.map(sourceOf).join('')}</${name}>`);
}

export const paragraph = (...content: readonly Inline[]): Html => element('p', '', ...content);
export const strong = (text: string): Html => element('strong', '', text);
export const code = (text: string): Html => element('code', '', text);

/** A figure, and the words after it. */
export const bold = (text: string, after: string): Html =>
  element('span', '', element('strong', '', text), after);

/** A list with an item for each text. */
export function list(items: readonly Inline[]): Html {
  return element('ul', '', ...items.map((item) => element('li', '', item)));
}

/** A sentence that no reader may miss. */
export function callout(...content: readonly Inline[]): Html {
  return element('p', 'callout', ...content);
}

/** Words under a chart. */
export const note = (...content: readonly Inline[]): Html => element('p', 'note', ...content);

/** Lines of a robots.txt. */
export function excerpt(caption: Inline, lines: readonly string[]): Html {
  const body = new Html(`<pre>${lines.map(escaped).join('\n')}</pre>`);
  return element('figure', 'file', element('figcaption', '', caption), body);
}

/** What only some readers want, behind a line that opens it. */
export function folded(summary: string, ...content: readonly Html[]): Html {
  return element('details', '', element('summary', '', summary), ...content);
}

/** Headings of columns whose cells stand alike. */
interface Columns {
  readonly kind: 'text' | 'number';
  readonly headings: readonly string[];
}
export const text = (...headings: readonly string[]): Columns => ({ kind: 'text', headings });
export const number = (...headings: readonly string[]): Columns => ({ kind: 'number', headings });

/** A table; the first cell of a row is its heading. On a narrow screen each row is a card. */
export function table(
  caption: string,
  headings: readonly Columns[],
  rows: readonly (readonly Inline[])[],
): Html {
  const columns = headings.flatMap(({ kind, headings: own }) =>
    own.map((heading) => [heading, kind] as const),
  );
  const head = columns.map(
    ([name, kind]) => `<th scope="col" class="${kind}">${escaped(name)}</th>`,
  );
  const body = rows.map(([first = '', ...cells]) => {
    const rest = cells.map((cell, index) => {
      const [name = '', kind = 'text'] = columns[index + 1] ?? [];
      return `<td class="${kind}" data-name="${escaped(name)}">${sourceOf(cell)}</td>`;
    });
    return `<tr><th scope="row">${sourceOf(first)}</th>${rest.join('')}</tr>`;
  });
  // A few numbers fit a telephone as they stand.
  const isSmall = columns.length <= 5 && columns.slice(1).every(([, kind]) => kind === 'number');
  return new Html(`<table class="${isSmall ? 'small' : 'wide'}"><caption>${escaped(caption)}</caption>
<thead><tr>${head.join('')}</tr></thead>
<tbody>
${body.join('\n')}
</tbody></table>`);
}

/** Rows of a long table that are not folded, and that are shown at most. */
const UNFOLDED_ROWS = 12;
const MOST_ROWS = 60;

/**
 * A table whose first rows are shown, and whose other rows are folded.
 *
 * @param noun what a row is about, in the singular
 * @param unfolded number of rows that are not folded
 */
export function longTable(
  caption: string,
  columns: readonly Columns[],
  rows: readonly (readonly Inline[])[],
  noun: string,
  unfolded = UNFOLDED_ROWS,
): Html[] {
  const first = rows.slice(0, unfolded);
  const others = rows.slice(unfolded, MOST_ROWS);
  const left = rows.length - MOST_ROWS;
  const note = left > 0 ? [paragraph(`The JSON in this page has ${formatNumber(left)} more.`)] : [];
  const shown = first.length > 0 ? [table(caption, columns, first)] : [];
  if (others.length === 0) return shown;
  const summary =
    first.length === 0
      ? `For each ${noun}`
      : formatCount(rows.length - first.length, `more ${noun}`);
  return [...shown, folded(summary, table(caption, columns, others), ...note)];
}

/** A table in which a row has several lines, each with a text under each of some headings. */
export function linesTable(
  caption: string,
  heading: string,
  heads: readonly string[],
  rows: readonly { readonly name: string; readonly lines: readonly (readonly Inline[])[] }[],
): Html {
  const of = (cells: readonly Inline[]): Html =>
    element(
      'div',
      'line',
      ...cells.map(
        (cell, index) =>
          new Html(`<span data-name="${escaped(heads[index] ?? '')}">${sourceOf(cell)}</span>`),
      ),
    );
  return new Html(`<table class="wide lined"><caption>${escaped(caption)}</caption>
<thead><tr><th scope="col">${escaped(heading)}</th><th scope="col">${of(heads).source}</th></tr></thead>
<tbody>
${rows.map(({ name, lines }) => `<tr><th scope="row">${escaped(name)}</th><td>${lines.map((line) => of(line).source).join('')}</td></tr>`).join('\n')}
</tbody></table>`);
}

// ---- Charts

/** Width and height of a bar in units of its own: the page stretches the bar. */
const WIDTH = 1000;
const BAR = 10;

/** The parts of a bar from left to right. */
export interface Bar {
  readonly parts: readonly (readonly [colour: Colour, count: number])[];
  /** What the bar says, for those who do not see it. */
  readonly label: string;
}

/** A row of a chart: a name, bars of which the first one is the thickest, and words beside them. */
export interface ChartRow {
  readonly name: Inline;
  /** Beside the name, smaller. */
  readonly about?: string | undefined;
  readonly bars: readonly Bar[];
  readonly figures: readonly Inline[];
}

type Legend = readonly (readonly [colour: Colour, meaning: string])[];

/** A chart of bars with a legend of its colours. */
export function barChart(legend: Legend, rows: readonly ChartRow[]): Html {
  const drawn = rows.map(({ bars, ...row }) => rowOf(row, ...bars.map(barOf)));
  return element('div', 'chart', legendOf(legend), ...drawn);
}

function legendOf(legend: Legend): Html {
  const items = legend.map(([colour, meaning]) =>
    element('li', '', element('span', `key ${colour}`), meaning),
  );
  return element('ul', 'legend', ...items);
}

/** A row of a chart: its name, what is drawn, and the words beside it. */
function rowOf(
  { name, about, figures }: Pick<ChartRow, 'name' | 'about' | 'figures'>,
  ...drawn: readonly Html[]
): Html {
  const small = about === undefined || about === '' ? [] : [' ', element('small', '', about)];
  return element(
    'div',
    'row',
    element('div', 'name', element('b', '', name), ...small),
    element('div', 'bars', ...drawn),
    element('div', 'figures', ...figures.map((each) => element('span', '', each))),
  );
}

/** A drawing that the page stretches, with what it says for those who do not see it. */
function drawing(label: string, height: number, content: string): Html {
  return new Html(
    `<svg viewBox="0 0 ${WIDTH} ${height}" preserveAspectRatio="none" role="img" aria-label="${escaped(label)}">${content}</svg>`,
  );
}

const sumOf = (parts: Bar['parts']): number => parts.reduce((sum, [, count]) => sum + count, 0);

const rectangle = (colour: Colour, x: number, width: number): string =>
  `<rect class="${colour}" x="${x.toFixed(1)}" width="${width.toFixed(1)}" height="${BAR}"/>`;

function barOf({ parts, label }: Bar): Html {
  const total = sumOf(parts);
  let sum = 0;
  const drawn = parts.map(([colour, count]) => {
    const x = total === 0 ? 0 : (WIDTH * sum) / total;
    sum += count;
    const width = total === 0 ? 0 : (WIDTH * sum) / total - x;
    return rectangle(colour, x, width);
  });
  return drawing(label, BAR, drawn.join(''));
}

/** A row of a chart with two sides: counts to the left of the middle, and to the right of it. */
interface TwoSidedRow extends Omit<ChartRow, 'bars'> {
  /** From the middle outwards. */
  readonly left: Bar['parts'];
  readonly right: Bar['parts'];
  readonly label: string;
}

/** A chart whose rows share one scale: at the left what goes down, at the right what goes up. */
export function twoSidedChart(
  legend: Legend,
  [leftName, rightName]: readonly [string, string],
  rows: readonly TwoSidedRow[],
): Html {
  const most = Math.max(1, ...rows.flatMap(({ left, right }) => [sumOf(left), sumOf(right)]));
  const drawn = rows.map(({ left, right, label, ...row }): Html => {
    let rectangles = '';
    for (const [side, sign] of [
      [left, -1],
      [right, 1],
    ] as const) {
      let sum = 0;
      for (const [colour, count] of side) {
        const width = (WIDTH / 2) * (count / most);
        const x = WIDTH / 2 + sign * sum - (sign < 0 ? width : 0);
        rectangles += rectangle(colour, x, width);
        sum += width;
      }
    }
    const axis = `<path class="axis" d="M${WIDTH / 2} 0V${BAR}"/>`;
    return rowOf(row, drawing(label, BAR, rectangles + axis));
  });
  const sides = element(
    'div',
    'row sides',
    element('div', 'name'),
    element('div', 'bars', element('span', '', leftName), element('span', '', rightName)),
    element('div', 'figures'),
  );
  return element('div', 'chart', legendOf(legend), sides, ...drawn);
}

/** A line of a chart: shares from 0 to 1, one for each time. */
export interface ChartLine {
  readonly name: string;
  readonly shares: readonly number[];
  /** Whether the line is one of those that the chart is about. */
  readonly isMain: boolean;
}

const HEIGHT = 400;
/** Names at the ends of lines are at least this far from each other, in parts of the height. */
const NAME_DISTANCE = 0.085;

/** Lines through time on a scale that begins at 0. */
export function lineChart(
  label: string,
  times: readonly string[],
  lines: readonly ChartLine[],
): Html {
  const most = Math.max(0, ...lines.flatMap(({ shares }) => shares));
  const step = [0.01, 0.02, 0.05, 0.1, 0.2, 0.25].find((each) => most / each <= 4) ?? 0.25;
  const top = step * Math.max(1, Math.ceil(most / step - 1e-9));
  const last = Math.max(1, times.length - 1);
  const y = (share: number): number => HEIGHT * (1 - share / top);
  const ticks = Array.from({ length: Math.round(top / step) + 1 }, (_, index) => index * step);
  const grid = ticks.map((tick) => `<path class="grid" d="M0 ${y(tick).toFixed(1)}H${WIDTH}"/>`);
  const drawn = lines.map(({ shares, isMain }, index) => {
    const points = shares.map(
      (share, at) => `${((WIDTH * at) / last).toFixed(1)} ${y(share).toFixed(1)}`,
    );
    const [only] = points;
    const path = points.length === 1 ? `M${only}H${WIDTH}` : `M${points.join('L')}`;
    return `<path class="${isMain ? `main line${index % 4}` : 'line'}" d="${path}"/>`;
  });
  // The lines of little interest lie below the others.
  const order = lines
    .map((_, index) => index)
    .sort((a, b) => Number(lines[a]?.isMain) - Number(lines[b]?.isMain));
  const tickNames = ticks.map(
    (tick) =>
      `<span style="top:${((100 * y(tick)) / HEIGHT).toFixed(1)}%">${Math.round(100 * tick)} %</span>`,
  );
  const names = placedNames(lines, (share) => y(share) / HEIGHT).map(
    ({ name, at, index, isMain }) =>
      `<span class="${isMain ? `main line${index % 4}` : 'line'}" style="top:${(100 * at).toFixed(1)}%">${escaped(name)}</span>`,
  );
  const marks = [0, 0.5, 1].map((part) =>
    times[Math.round(part * (times.length - 1))]?.slice(0, 7),
  );
  const shown = [...new Set(marks)].map((month) => `<span>${escaped(month ?? '')}</span>`);
  return new Html(`<figure class="lines"><div class="ticks" aria-hidden="true">${tickNames.join('')}</div>
${drawing(label, HEIGHT, grid.join('') + order.map((index) => drawn[index]).join('')).source}
<div class="ends" aria-hidden="true">${names.join('')}</div><div class="times" aria-hidden="true">${shown.join('')}</div></figure>`);
}

/** Where the names at the ends of lines stand, so that none covers another. */
function placedNames(
  lines: readonly ChartLine[],
  placeOf: (share: number) => number,
): readonly (ChartLine & { readonly at: number; readonly index: number })[] {
  const placed = lines
    .map((line, index) => ({ ...line, index, at: placeOf(line.shares.at(-1) ?? 0) }))
    .sort((a, b) => a.at - b.at);
  let least = Number.NEGATIVE_INFINITY;
  for (const own of placed) {
    own.at = Math.max(own.at, least);
    least = own.at + NAME_DISTANCE;
  }
  // What was pushed out at the foot pushes the others up.
  let most = 1;
  for (const own of placed.toReversed()) {
    own.at = Math.min(own.at, most);
    most -= NAME_DISTANCE;
  }
  return placed;
}

// ---- The frame

export type Section = readonly [heading: string, ...blocks: readonly Html[]];

/** What a page says, from the headline to the last line. */
export interface Story {
  /** What kind of report it is. */
  readonly kind: string;
  readonly headline: string;
  readonly lead: readonly Html[];
  readonly sections: readonly Section[];
  readonly foot: readonly string[];
}

/**
 * A whole page in one file: nothing is loaded, and no script runs. The page follows the light or
 * dark setting of the reader, and is light on paper. Each pair of colours has a contrast of 4.5 or
 * more.
 *
 * @param json the figures, which the page holds as they are
 */
export function pageOf({ kind, headline, lead, sections, foot }: Story, json: string): string {
  const parts = sections.map(([heading, ...blocks]) =>
    element('section', '', element('h2', '', heading), ...blocks),
  );
  const head = element(
    'header',
    '',
    element('p', 'kind', kind),
    element('h1', '', headline),
    ...lead,
  );
  const end = element('footer', '', ...foot.map((line) => paragraph(line)));
  const main = element('main', '', head, ...parts, end);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${escaped(headline)}</title>
<style>${STYLE}</style>
</head>
<body>
${main.source}
<script type="application/json" id="figures">${json.replaceAll('<', '\\u003c')}</script>
</body>
</html>
`;
}

const STYLE = `
:root { color-scheme: light dark; --page: #fffdf9; --text: #1d1c1a; --faint: #625e57; --line: #ddd8ce; --tint: #f5f1e8; --none: #a3271f; --pale: #d58f86; --part: #e6c48a; --all: #c6d3d6; --open: #2f6f86; --void: #e4dfd5; --line1: #1d4f72; --line2: #6b4c86; --line3: #43682b; }
@media (prefers-color-scheme: dark) { :root { --page: #15171a; --text: #ebe7df; --faint: #aaa59b; --line: #363a3f; --tint: #1f2327; --none: #ec7063; --pale: #8f443c; --part: #8a6a35; --all: #43545a; --open: #6fb6d0; --void: #2f343a; --line1: #7db8de; --line2: #c3a2e0; --line3: #9cc97e; } }
@media print { :root { color-scheme: light; --page: #fff; --text: #000; --faint: #444; --line: #bbb; --tint: #f4f4f4; --none: #a3271f; --pale: #d58f86; --part: #e6c48a; --all: #c6d3d6; --open: #2f6f86; --void: #e4dfd5; --line1: #1d4f72; --line2: #6b4c86; --line3: #43682b; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text); font: 1.0625rem/1.55 Charter, "Bitstream Charter", "Iowan Old Style", Georgia, Cambria, serif; -webkit-text-size-adjust: 100%; -webkit-print-color-adjust: exact; print-color-adjust: exact; }
main { max-width: 62rem; margin: 0 auto; padding: 2.5rem 1.25rem 3rem; }
.kind, .chart, .note, table, .lines, figcaption, summary, footer { font-family: system-ui, -apple-system, "Segoe UI", Roboto, "Liberation Sans", sans-serif; }
.kind { margin: 0 0 .5rem; font-size: .8125rem; letter-spacing: .04em; color: var(--faint); }
h1 { max-width: 22em; margin: 0 0 1rem; font-size: clamp(1.6rem, 4.6vw, 2.6rem); line-height: 1.15; font-weight: 700; letter-spacing: -.01em; text-wrap: balance; overflow-wrap: anywhere; }
h2 { margin: 0 0 .6rem; font-size: 1.375rem; line-height: 1.25; }
section { margin-top: 2.5rem; padding-top: 1.25rem; border-top: 1px solid var(--line); }
p, ul { max-width: 42rem; margin: 0 0 .8rem; overflow-wrap: anywhere; }
ul { padding-left: 1.2em; }
li { margin-bottom: .3rem; }
.callout { max-width: 46rem; padding: .7rem 1rem; background: var(--tint); border-left: 4px solid var(--none); }
code, pre { font: .8125rem/1.5 ui-monospace, SFMono-Regular, Consolas, "Liberation Mono", monospace; overflow-wrap: anywhere; }
footer { margin-top: 3rem; padding-top: 1rem; border-top: 1px solid var(--line); font-size: .8125rem; color: var(--faint); }
small { font-size: .8125rem; color: var(--faint); font-weight: 400; }
.legend { display: flex; flex-wrap: wrap; gap: .2rem 1.4rem; max-width: none; margin: 0 0 .8rem; padding: 0; list-style: none; font-size: .875rem; }
.chart { margin-bottom: 1.6rem; }
.note { max-width: none; margin: -1.2rem 0 1.6rem; font-size: .8125rem; color: var(--faint); }
.key { display: inline-block; width: .85rem; height: .85rem; margin-right: .45rem; vertical-align: -.08em; }
.none { fill: var(--none); background: var(--none); } .pale { fill: var(--pale); background: var(--pale); } .part { fill: var(--part); background: var(--part); } .all { fill: var(--all); background: var(--all); } .blank { fill: none; } .open { fill: var(--open); background: var(--open); } .void { fill: var(--void); background: var(--void); }
.row { display: grid; grid-template-columns: 13rem minmax(0, 1fr) 14rem; gap: 0 1rem; align-items: center; padding: .45rem 0; border-top: 1px solid var(--line); font-size: .9375rem; line-height: 1.3; break-inside: avoid; }
.name { overflow-wrap: anywhere; }
.name small { display: block; }
.bars svg { display: block; width: 100%; height: .55rem; margin-top: 2px; }
.bars svg:first-child { height: 1rem; margin-top: 0; }
.figures { display: flex; flex-direction: column; font-variant-numeric: tabular-nums; }
.sides { border: 0; padding: 0; font-size: .8125rem; color: var(--faint); }
.sides .bars { display: flex; justify-content: space-between; }
.axis { stroke: var(--text); stroke-width: 2; vector-effect: non-scaling-stroke; }
table { width: 100%; margin: 0 0 1.2rem; border-collapse: collapse; font-size: .875rem; line-height: 1.4; font-variant-numeric: tabular-nums; }
caption { padding: 0 0 .4rem; text-align: left; color: var(--faint); }
th, td { padding: .35rem .9rem .35rem 0; border-bottom: 1px solid var(--line); text-align: left; vertical-align: top; font-weight: 400; overflow-wrap: anywhere; }
th[scope=row] { min-width: 10rem; overflow-wrap: break-word; }
thead th { position: sticky; top: 0; background: var(--page); font-weight: 600; vertical-align: bottom; overflow-wrap: normal; }
.number { text-align: right; overflow-wrap: normal; }
.lined { table-layout: fixed; }
.lined th:first-child { width: 30%; }
.line { display: grid; grid-template-columns: minmax(0, 1.5fr); grid-auto-columns: minmax(0, 1fr); grid-auto-flow: column; gap: 0 1rem; }
.line + .line { margin-top: .3rem; }
tr { break-inside: avoid; }
figure { margin: 0 0 1.2rem; }
.file pre { margin: .3rem 0 0; padding: .6rem .9rem; background: var(--tint); white-space: pre-wrap; }
figcaption, summary { font-size: .9375rem; }
summary { margin: .8rem 0; cursor: pointer; color: var(--faint); text-decoration: underline; }
.lines { display: grid; grid-template-columns: 3rem minmax(0, 1fr) 11rem; grid-template-rows: 18rem auto; gap: .3rem .5rem; font-size: .8125rem; }
.lines svg { width: 100%; height: 100%; overflow: visible; }
.lines path { fill: none; stroke-width: 1.5; vector-effect: non-scaling-stroke; stroke: var(--faint); }
.lines .grid { stroke: var(--line); stroke-width: 1; }
.lines .main { stroke-width: 2.5; stroke: var(--none); font-weight: 600; color: var(--none); }
.lines .line1.main { stroke: var(--line1); color: var(--line1); } .lines .line2.main { stroke: var(--line2); color: var(--line2); } .lines .line3.main { stroke: var(--line3); color: var(--line3); }
.ticks, .ends { position: relative; }
.ticks span, .ends span { position: absolute; transform: translateY(-50%); line-height: 1.15; }
.ticks span { right: 0; color: var(--faint); }
.ends span { left: 0; right: 0; overflow: hidden; white-space: nowrap; text-overflow: ellipsis; }
.times { grid-column: 2; display: flex; justify-content: space-between; color: var(--faint); }
@media (max-width: 40rem) {
main { padding: 1.5rem 1rem 2rem; }
.row { grid-template-columns: minmax(0, 1fr); gap: .25rem; padding: .6rem 0; }
.name small { display: inline; }
.figures { flex-flow: row wrap; gap: 0 1rem; color: var(--faint); font-size: .875rem; }
.lines { grid-template-columns: 2.4rem minmax(0, 1fr) 10rem; font-size: .75rem; }
.times span:nth-child(2):nth-last-child(2) { display: none; }
.lined th:first-child { width: auto; }
.small th, .small td { padding-right: .5rem; }
.small th[scope=row] { min-width: 0; overflow-wrap: anywhere; }
.small :is(th, td):last-child { padding-right: 0; }
.wide thead { display: none; }
.wide, .wide tbody, .wide tr, .wide caption, .wide th { display: block; }
.wide tr { padding: .5rem 0; border-bottom: 1px solid var(--line); }
.wide th[scope=row] { min-width: 0; padding: 0 0 .2rem; border: 0; font-weight: 600; overflow-wrap: anywhere; }
.wide td { display: flex; justify-content: space-between; gap: 1rem; padding: .1rem 0; border: 0; text-align: right; }
.wide td::before { content: attr(data-name); flex: none; max-width: 50%; color: var(--faint); font-family: system-ui, sans-serif; text-align: left; white-space: normal; }
.wide td:empty, .line span:empty { display: none; }
.lined td { display: block; text-align: left; }
.lined td::before { content: none; }
.line { grid-auto-flow: row; grid-auto-columns: auto; }
.line span:not(:first-child)::before { content: attr(data-name) ": "; color: var(--faint); }
}
@media print {
@page { margin: 14mm; }
body { font-size: 9.5pt; line-height: 1.4; }
main { max-width: none; padding: 0; }
h1 { font-size: 21pt; } h2 { font-size: 12.5pt; break-after: avoid; }
section { margin-top: 5mm; padding-top: 3mm; }
.row, table, .legend, .note, figcaption { font-size: 8pt; } small, code, pre, .lines, footer { font-size: 7.5pt; }
.row { padding: .12rem 0; } th, td { padding: .1rem .5rem .1rem 0; } thead th { position: static; }
.row { grid-template-columns: 38mm minmax(0, 1fr) 46mm; }
.bars svg:first-child { height: 2.6mm; } .bars svg { height: 1.4mm; }
.lines { grid-template-rows: 50mm auto; break-inside: avoid; }
.file { break-inside: avoid; } .file pre { padding: 1mm 2mm; line-height: 1.25; }
details, details[open] { display: block; } summary { list-style: none; text-decoration: none; color: var(--faint); font-size: 8pt; margin: .2rem 0; } summary::-webkit-details-marker { display: none; } summary::after { content: ": in the page, not on paper"; } details > :not(summary) { display: none; }
}
`;
