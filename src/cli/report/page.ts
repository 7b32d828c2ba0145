import { printable } from '../../base/control-characters.js';
import { version } from '../../files/package-file.js';
import { formatCount, formatNumber } from '../text.js';

/** What has been escaped. Only this file makes it: any other text is escaped when it is shown. */
class Html {
  readonly source: string;
  constructor(source: string) {
    this.source = source;
  }
}

/** A text is a paragraph. */
export type Block = string | Html;
/** The colours of what is allowed. Some pages give them further meanings. */
export type Colour = 'all' | 'part' | 'none' | 'unknown';

/** The parts of a page. */
export interface Page {
  readonly title: string;
  readonly subtitle: string;
  readonly profile: string;
  readonly sections: readonly (readonly [heading: string, ...blocks: readonly Block[]])[];
  /** Follows the version and the profile in the last line. */
  readonly foot: string;
}

/**
 * A whole page in one file: nothing is loaded, and no script runs. The page follows the light or
 * dark setting of the reader, and is light on paper. Each pair of colours has a contrast of 4.5 or
 * more.
 */
export function htmlPage({ title, subtitle, profile, sections, foot }: Page): string {
  const parts = sections.map(
    ([heading, ...blocks]) =>
      `<section><h2>${html(heading)}</h2>\n${blocks.map(blockOf).join('\n')}</section>`,
  );
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<title>${html(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<header><h1>${html(title)}</h1>
<p>${html(subtitle)}</p></header>
${parts.join('\n')}
<footer><p>${html(`robots-filter ${version()}, profile ${profile}. ${foot}`)}</p></footer>
</main>
</body>
</html>
`;
}

/** Width and height of a bar in units of its own: the page stretches the bar. */
const WIDTH = 1000;
const HEIGHT = 20;

/**
 * A bar for each agent, with the counts of its parts and a text beside it, and a legend of the
 * parts that occur.
 *
 * @param noun what is counted, in the singular
 */
export function bars(
  parts: readonly (readonly [colour: Colour, meaning: string, ...unknown[]])[],
  noun: string,
  rows: readonly (readonly [agent: string, counts: readonly number[], beside: string])[],
): Html {
  const legend = parts.flatMap(([colour, meaning], part) =>
    rows.every(([, counts]) => counts[part] === 0)
      ? []
      : [`<li><span class="${colour}"></span>${html(meaning)}</li>`],
  );
  const drawn = rows.map(([agent, counts, beside]) => {
    const total = counts.reduce((sum, count) => sum + count, 0);
    const words: string[] = [];
    let rectangles = '';
    let sum = 0;
    parts.forEach(([colour, meaning], part) => {
      const count = counts[part] ?? 0;
      if (count === 0) return;
      const x = (WIDTH * sum) / total;
      sum += count;
      const width = ((WIDTH * sum) / total - x).toFixed(1);
      rectangles += `<rect class="${colour}" x="${x.toFixed(1)}" width="${width}" height="${HEIGHT}"/>`;
      words.push(`${meaning}: ${formatCount(count, noun)}`);
    });
    const label = html(`${agent}: ${words.join(', ') || beside}`);
    return `<b>${html(agent)}</b><svg viewBox="0 0 ${WIDTH} ${HEIGHT}" preserveAspectRatio="none" role="img" aria-label="${label}">${rectangles}</svg><span class="counts">${html(beside)}</span>`;
  });
  return new Html(
    `<ul class="legend">${legend.join('')}</ul>\n<div class="bars">${drawn.join('\n')}</div>`,
  );
}

/** Number of columns above which the headings of a grid stand upright. */
const MANY_COLUMNS = 10;

/**
 * A table; the first cell of a row is its heading.
 *
 * @param kind `numbers` are aligned at the right; a `grid` has a coloured cell for each agent
 */
export function table(
  kind: 'numbers' | 'words' | 'grid',
  caption: string,
  header: readonly string[],
  rows: readonly (readonly (string | number | Html)[])[],
): Html {
  const head = header.map((cell) => `<th scope="col">${html(cell)}</th>`).join('');
  const body = rows.map(([first = '', ...cells]) => {
    const rest = cells.map((cell) => `<td>${cellOf(cell)}</td>`).join('');
    return `<tr><th scope="row">${cellOf(first)}</th>${rest}</tr>`;
  });
  const many = kind === 'grid' && header.length > MANY_COLUMNS ? ' many' : '';
  // The wrapper can be focused, so that the keyboard scrolls it.
  return new Html(`<div class="scroll" tabindex="0" role="region" aria-label="${html(caption)}"><table class="${kind}${many}">
<caption>${html(caption)}</caption>
<thead><tr>${head}</tr></thead>
<tbody>
${body.join('\n')}
</tbody></table></div>`);
}

/** A cell of a table with a colour. */
export function coloured(text: string, colour: Colour): Html {
  return new Html(`<span class="cell ${colour}">${html(text)}</span>`);
}

/** A text inside an element. */
export function element(name: 'code' | 'h3', text: string): Html {
  return new Html(`<${name}>${html(text)}</${name}>`);
}

/** Lines of a robots.txt, of which one is marked. */
export function excerpt(caption: string, lines: readonly string[], marked: number): Html {
  const shown = lines.map((line, index) =>
    index === marked ? `<strong>${html(line)}</strong>` : html(line),
  );
  return new Html(
    `<figure><figcaption>${html(caption)}</figcaption>\n<pre>${shown.join('\n')}</pre></figure>`,
  );
}

function blockOf(block: Block): string {
  return typeof block === 'string' ? `<p>${html(block)}</p>` : block.source;
}

function cellOf(cell: string | number | Html): string {
  if (typeof cell === 'number') return formatNumber(cell);
  return typeof cell === 'string' ? html(cell) : cell.source;
}

/** Escapes a text for HTML, in elements and in quoted attributes, and shows control characters. */
function html(text: string): string {
  return printable(text)
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

const STYLE = `
:root { color-scheme: light dark; --text: #1f2328; --soft: #59636e; --page: #ffffff; --line: #d1d9e0; --all: #0969da; --part: #69737d; --none: #bc4c00; --unknown: #8250df; }
@media (prefers-color-scheme: dark) { :root { --text: #f0f6fc; --soft: #9198a1; --page: #0d1117; --line: #3d444d; --all: #1f6feb; --part: #656c76; --none: #bd561d; --unknown: #8957e5; } }
@media print { :root { --text: #000; --soft: #444; --page: #fff; --line: #bbb; --all: #0969da; --part: #69737d; --none: #bc4c00; --unknown: #8250df; } * { print-color-adjust: exact; -webkit-print-color-adjust: exact; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--page); color: var(--text); font: 15px/1.5 system-ui, -apple-system, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif; }
main { max-width: 60rem; margin: 0 auto; padding: 1.5rem 1rem 3rem; }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .25rem; }
h2 { font-size: 1.15rem; margin: 2.25rem 0 .5rem; break-after: avoid; }
h3 { font-size: 1rem; margin: 1.5rem 0 .25rem; break-after: avoid; }
figure { margin: 1rem 0; break-inside: avoid; }
figcaption { color: var(--soft); font-size: .875rem; overflow-wrap: anywhere; }
pre, code { font: .85rem/1.45 ui-monospace, 'SF Mono', Menlo, Consolas, monospace; }
pre { margin: .25rem 0 0; padding: .5rem .75rem; border: 1px solid var(--line); border-radius: 3px; white-space: pre-wrap; overflow-wrap: anywhere; }
p { margin: .25rem 0 .75rem; max-width: 45rem; }
header p, footer p, caption, .legend, .counts { color: var(--soft); }
footer { margin-top: 3rem; border-top: 1px solid var(--line); padding-top: .5rem; font-size: .85rem; }
.legend { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; margin: 0 0 .75rem; padding: 0; list-style: none; }
.legend span { display: inline-block; width: .8rem; height: .8rem; border-radius: 2px; margin-right: .4rem; vertical-align: -1px; }
.bars { display: grid; grid-template-columns: minmax(8rem, max-content) 1fr minmax(9rem, max-content); gap: .4rem .9rem; align-items: center; }
.bars > b { font-weight: 600; overflow-wrap: anywhere; }
.bars svg { display: block; width: 100%; height: 1.25rem; border-radius: 3px; background: var(--line); }
.counts { font-variant-numeric: tabular-nums; font-size: .85rem; }
@media (max-width: 40rem) { .bars { grid-template-columns: 1fr; gap: .15rem; } .bars > .counts { margin-bottom: .6rem; } }
rect.all { fill: var(--all); } rect.part { fill: var(--part); } rect.none { fill: var(--none); } rect.unknown { fill: var(--unknown); }
span.all, td .all { background: var(--all); } span.part, td .part { background: var(--part); } span.none, td .none { background: var(--none); } span.unknown, td .unknown { background: var(--unknown); }
.scroll { overflow-x: auto; margin-top: 1.25rem; }
table { border-collapse: collapse; font-size: .875rem; font-variant-numeric: tabular-nums; }
caption { text-align: left; padding: 0 0 .4rem; }
th, td { text-align: left; padding: .25rem .6rem; border-bottom: 1px solid var(--line); font-weight: 400; white-space: nowrap; }
thead th { font-weight: 600; }
.numbers td, .numbers thead th + th { text-align: right; }
tr { break-inside: avoid; }
tbody th, thead th:first-child { position: sticky; left: 0; background: var(--page); }
tbody th { min-width: min(14rem, 40vw); max-width: 45vw; white-space: normal; overflow-wrap: anywhere; }
thead th { white-space: normal; vertical-align: bottom; }
td .cell { display: inline-block; min-width: 3.2rem; padding: 0 .4rem; border-radius: 3px; color: #fff; text-align: center; }
.many thead th + th { white-space: nowrap; writing-mode: vertical-rl; transform: rotate(180deg); padding: .6rem .25rem; }
.many td { padding: .25rem .15rem; }
.many td .cell { min-width: 2.6rem; padding: 0 .1rem; }
@media print { .scroll { overflow: visible; } table { font-size: 7pt; } th, td { padding: .1rem .25rem; white-space: normal; overflow-wrap: anywhere; } tbody th { position: static; min-width: 6rem; max-width: 12rem; } .many td { padding: .1rem 1px; } .many td .cell { min-width: 0; width: 100%; padding: 0; font-size: 5pt; } }
`;
