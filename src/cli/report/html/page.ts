import { html } from './html-text.js';

/** The parts of a report. */
export interface Page {
  readonly title: string;
  /** One line below the title. */
  readonly subtitle: string;
  /** Sections: a heading, and HTML. */
  readonly sections: readonly { readonly heading: string; readonly content: string }[];
  /** One line at the end. */
  readonly foot: string;
}

/**
 * A whole page in one file: nothing is loaded, and no script runs. It follows the light or dark
 * setting of the reader, and is light on paper. Each pair of colours has a contrast of 4.5 or more.
 */
export function htmlPage({ title, subtitle, sections, foot }: Page): string {
  const parts = sections.map(
    ({ heading, content }) => `<section><h2>${html(heading)}</h2>\n${content}</section>`,
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
<footer><p>${html(foot)}</p></footer>
</main>
</body>
</html>
`;
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
