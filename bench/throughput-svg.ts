import { VARIANT } from './competitors.js';
import type { ThroughputRecord } from './record.js';
import type { ResultRecord } from './report.js';

/** One bar. */
interface Bar {
  readonly label: string;
  readonly kind: ResultRecord['kind'];
  /** Records in a second. */
  readonly rate: number;
}

const WIDTH = 880;
const MARGIN = 24;
const LABELS = 326;
const VALUES = 128;
const BAR = 16;
const ROW = 25;
const GAP = 38;
const TOP = 78;

const OURS: Readonly<Record<string, string>> = {
  text: 'text file',
  ndjson: 'NDJSON file',
  pipe: 'NDJSON from a pipe',
  pipes: 'NDJSON from a pipe into a pipe',
  'one-thread': 'text file, one thread',
};
const FLOORS: Readonly<Record<string, string>> = {
  'cat-wc': 'cat f.ndjson | wc -l',
  split: 'finding line ends, one thread of Node',
  yardstick: 'md5sum f.ndjson',
};

/**
 * A record of bench:throughput as SVG, for light and dark backgrounds; the same octets for the same
 * record.
 */
export function drawThroughput({ date, machine, corpus, results }: ThroughputRecord): string {
  const sections = [
    { title: 'robots-filter, start-up included', bars: named(results, OURS) },
    { title: 'floors: no verdicts, only the same octets', bars: named(results, FLOORS) },
    {
      title:
        'one robots.txt a host, parsed once where the library can; one thread, start-up not counted',
      bars: rivals(results),
    },
  ].filter(({ bars }) => bars.length > 0);
  const most = Math.max(...sections.flatMap(({ bars }) => bars.map(({ rate }) => rate)));
  const text = results.find(({ id }) => id === 'text');
  const reference = text === undefined ? undefined : rateOf(text);
  const parts: string[] = [];
  let y = TOP;
  for (const { title, bars } of sections) {
    parts.push(`<text class="section" x="${MARGIN}" y="${y}">${escaped(title)}</text>`);
    y += 12;
    for (const bar of bars) {
      parts.push(...drawBar(bar, y, most, reference));
      y += ROW;
    }
    y += GAP - 12;
  }
  const { processor, cores, node } = machine;
  const size = `${corpus.urls / 1e6} million URLs, ${corpus.hosts.toLocaleString('en')} hosts`;
  const foot = `${size}; ${processor}, ${cores} cores; Node ${node}; ${date.slice(0, 10)}`;
  const height = y + 2;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-labelledby="title">
<title id="title">Million URLs in a second: robots-filter, floors and competitors</title>
<style>
text { font-family: system-ui, -apple-system, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif; font-size: 14px; fill: #24292f }
.head { font-size: 18px; font-weight: 600 }
.section, .foot, .share { fill: #57606a; font-size: 12.5px }
.value { font-weight: 600 }
.ours { fill: #0969da } .floor { fill: #afb8c1 } .competitor { fill: #bf8700 }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3 }
.section, .foot, .share { fill: #9198a1 }
.ours { fill: #4493f8 } .floor { fill: #656c76 } .competitor { fill: #d29922 }
}
</style>
<text class="head" x="${MARGIN}" y="34">Million URLs in a second</text>
${parts.join('\n')}
<text class="foot" x="${MARGIN}" y="${height - 16}">${escaped(foot)}</text>
</svg>
`;
}

function drawBar(bar: Bar, y: number, most: number, reference: number | undefined): string[] {
  const length = Math.max(1, ((WIDTH - 2 * MARGIN - LABELS - VALUES) * bar.rate) / most);
  const start = MARGIN + LABELS;
  const end = start + length + 8;
  const base = y + BAR - 3.5;
  const share =
    bar.kind === 'competitor' && reference !== undefined
      ? `<tspan class="share" dx="8">1/${(reference / bar.rate).toFixed(0)} of the text file</tspan>`
      : '';
  return [
    `<text x="${start - 12}" y="${base}" text-anchor="end">${escaped(bar.label)}</text>`,
    `<rect class="${bar.kind}" x="${start}" y="${y}" width="${length.toFixed(1)}" height="${BAR}" rx="2"/>`,
    `<text x="${end.toFixed(1)}" y="${base}"><tspan class="value">${inMillions(bar.rate)}</tspan>${share}</text>`,
  ];
}

/** Results with the labels that stand for them here, the fastest first. */
function named(results: readonly ResultRecord[], labels: Readonly<Record<string, string>>): Bar[] {
  const bars = results.flatMap((result): Bar[] => {
    const label = labels[result.id];
    return label === undefined ? [] : [{ label, kind: result.kind, rate: rateOf(result) }];
  });
  return bars.sort((a, b) => b.rate - a.rate);
}

/** Competitors over text, which suits all of them best. */
function rivals(results: readonly ResultRecord[]): Bar[] {
  const own = results.filter(({ id, kind }) => kind === 'competitor' && !VARIANT.test(id));
  return named(own, Object.fromEntries(own.map(({ id, name }) => [id, name])));
}

function rateOf({ records, medianSeconds }: ResultRecord): number {
  return records / medianSeconds;
}

function inMillions(rate: number): string {
  const millions = rate / 1e6;
  return millions.toFixed(millions < 0.995 ? 2 : 1);
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
