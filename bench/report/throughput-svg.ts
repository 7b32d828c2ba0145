import { VARIANT } from '../competitors/competitor.js';
import { SHAPES } from '../corpus/shapes.js';
import type { ResultRecord, ThroughputRecord } from './record.js';

/** One bar, in million records per second. */
interface Bar {
  readonly label: string;
  readonly kind: string;
  readonly median: number;
  readonly least: number;
  readonly greatest: number;
}

const WIDTH = 880;
const MARGIN = 24;
const LABELS = 338;
const VALUES = 150;
const BAR = 16;
const ROW = 25;
const GAP = 38;
const TOP = 78;

/** One input, and four programs that read it. DuckDB and jq decide nothing. */
const ROWS: Readonly<Record<string, string>> = {
  'index-middle': 'robots-filter: a verdict in each row',
  'duckdb-extract': 'DuckDB, 2 threads: only writes the URLs',
  'md5-index': 'md5sum: only reads',
  'robots-parser-index': 'Node: readline, JSON.parse, robots-parser',
  'jq-extract': 'jq: only writes the URLs',
};
const OURS: Readonly<Record<string, string>> = {
  text: 'URLs as text',
  'short-first': `NDJSON of ${SHAPES.short.meanBytes} bytes a record`,
  pipe: `NDJSON of ${SHAPES.short.meanBytes} bytes, from a pipe`,
  'nested-middle': `NDJSON of ${SHAPES.nested.meanBytes.toLocaleString('en')} bytes, nested`,
};
/** Without `wc -l`: on its scale all other bars would be too short to compare. */
const FLOORS: Readonly<Record<string, string>> = {
  'cat-wc': `cat | wc -l, NDJSON of ${SHAPES.short.meanBytes} bytes`,
  'md5-short': `md5sum, NDJSON of ${SHAPES.short.meanBytes} bytes`,
  'md5-text': 'md5sum, URLs as text',
};

/** Bars under a title. With a reference, each other bar says what part of the reference it is. */
interface Section {
  readonly title: string;
  readonly bars: readonly Bar[];
  readonly reference?: { readonly id: string; readonly name: string };
}

/** The rows of a record of bench:throughput, five bars at most, as SVG. */
export function drawRows(record: ThroughputRecord): string {
  return draw(record, [rowsSection(record)]);
}

/** A record of bench:throughput as SVG for light and dark backgrounds. */
export function drawThroughput(record: ThroughputRecord): string {
  const { results } = record;
  const rivals = results.filter(({ id, kind }) => kind === 'competitor' && !VARIANT.test(id));
  return draw(record, [
    rowsSection(record),
    { title: 'robots-filter on other inputs', bars: bars(results, OURS) },
    { title: 'floors: the same bytes, but no verdicts', bars: bars(results, FLOORS) },
    {
      title: 'one thread, URLs as text; for libraries parsing and start-up are not counted',
      bars: bars(results, {
        'one-thread': 'robots-filter, start-up counted',
        ...Object.fromEntries(rivals.map(({ id, name }) => [id, name])),
      }),
      reference: { id: 'one-thread', name: 'robots-filter' },
    },
  ]);
}

function rowsSection({ results }: ThroughputRecord): Section {
  return {
    title: `rows of Common Crawl's index, ${SHAPES.index.meanBytes} bytes of NDJSON`,
    bars: bars(results, ROWS),
    reference: { id: 'index-middle', name: 'robots-filter' },
  };
}

function draw(record: ThroughputRecord, all: readonly Section[]): string {
  const { results, runs } = record;
  const sections = all.filter(({ bars }) => bars.length > 0);
  const most = Math.max(...sections.flatMap(({ bars }) => bars.map(({ greatest }) => greatest)));
  const parts: string[] = [];
  let y = TOP;
  for (const { title, bars, reference } of sections) {
    parts.push(`<text class="section" x="${MARGIN}" y="${y}">${escaped(title)}</text>`);
    y += 12;
    for (const bar of bars) {
      parts.push(...drawBar(bar, y, most, shareOf(bar, results, reference)));
      y += ROW;
    }
    y += GAP - 12;
  }
  return page(parts, y + 8, footOf(record), runs);
}

function page(parts: readonly string[], height: number, foot: string, runs: number): string {
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-labelledby="title">
<title id="title">Million URLs a second: robots-filter, floors and other libraries</title>
<style>
text { font-family: system-ui, -apple-system, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif; font-size: 14px; fill: #24292f }
.head { font-size: 18px; font-weight: 600 }
.section, .foot, .share { fill: #57606a; font-size: 12.5px; font-weight: 400 }
.value { font-weight: 600 }
.ours { fill: #0969da } .floor { fill: #afb8c1 } .competitor { fill: #bf8700 }
.spread { stroke: #24292f; stroke-width: 1.5 }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 }
.section, .foot, .share { fill: #9198a1 }
.ours { fill: #4493f8 } .floor { fill: #656c76 } .competitor { fill: #d29922 }
.spread { stroke: #e6edf3 }
}
</style>
<text class="head" x="${MARGIN}" y="34">Million URLs a second<tspan class="share" dx="14">as npm installs it, start-up included; median of ${runs} whole runs, and their spread</tspan></text>
${parts.join('\n')}
<text class="foot" x="${MARGIN}" y="${height - 16}">${escaped(foot)}</text>
</svg>
`;
}

function footOf({ corpus, machine, date, ...record }: ThroughputRecord): string {
  const size = `${corpus.urls / 1e6} million URLs, ${corpus.hosts.toLocaleString('en')} hosts`;
  const { processor, cores, node } = machine;
  const version = `robots-filter ${record.package.version}`;
  return `${version}; ${size}; ${processor}, ${cores} cores; Node ${node}; ${date.slice(0, 10)}`;
}

/** A competitor's rate as a share of the filter's. */
function shareOf(
  { kind, median }: Bar,
  results: readonly ResultRecord[],
  reference: { readonly id: string; readonly name: string } | undefined,
): string {
  const ours = results.find(({ id }) => id === reference?.id);
  if (kind !== 'competitor' || reference === undefined || ours === undefined) return '';
  const times = ours.records / ours.median / median;
  if (times < 1) return `${(1 / times).toFixed(1)} times ${reference.name}`;
  return `1/${times.toFixed(times < 10 ? 1 : 0)} of ${reference.name}`;
}

/** @param share text after the rate, or nothing */
function drawBar(bar: Bar, y: number, most: number, share: string): string[] {
  const start = MARGIN + LABELS;
  const room = WIDTH - MARGIN - VALUES - start;
  const place = (rate: number) => start + Math.max(1, (room * rate) / most);
  const end = place(bar.median);
  const base = y + BAR - 3.5;
  const middle = y + BAR / 2;
  const shown = share === '' ? '' : `<tspan class="share" dx="8">${share}</tspan>`;
  const from = place(bar.least).toFixed(1);
  const to = place(bar.greatest).toFixed(1);
  const valueStart = (place(bar.greatest) + 8).toFixed(1);
  return [
    `<text x="${start - 12}" y="${base}" text-anchor="end">${escaped(bar.label)}</text>`,
    `<rect class="${bar.kind}" x="${start}" y="${y}" width="${(end - start).toFixed(1)}" height="${BAR}" rx="2"/>`,
    `<path class="spread" d="M${from} ${middle}H${to}"/>`,
    `<text x="${valueStart}" y="${base}"><tspan class="value">${inMillions(bar.median)}</tspan>${shown}</text>`,
  ];
}

/** The results that have labels, the fastest first. */
function bars(results: readonly ResultRecord[], labels: Readonly<Record<string, string>>): Bar[] {
  const drawn = results.flatMap(({ id, kind, records, median, least, greatest }): Bar[] => {
    const label = labels[id];
    if (label === undefined) return [];
    const rates = { median: records / median, least: records / greatest };
    return [{ label, kind, ...rates, greatest: records / least }];
  });
  return drawn.sort((a, b) => b.median - a.median);
}

function inMillions(rate: number): string {
  const millions = rate / 1e6;
  return millions.toFixed(millions < 0.995 ? 2 : 1);
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
