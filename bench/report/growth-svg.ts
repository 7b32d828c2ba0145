import type { GrowthRecord, ResultRecord } from './record.js';

/** The case with one URL. The curves are without its time. */
export const START_UP = 'start-up';

/** A curve over a logarithmic axis. */
interface Curve {
  readonly title: string;
  /** The name of the horizontal axis. */
  readonly axis: string;
  readonly points: readonly Point[];
}

/** `least` and `greatest` are missing where only the median was kept. */
interface Point {
  readonly at: number;
  readonly label: string;
  readonly median: number;
  readonly least?: number;
  readonly greatest?: number;
}

const WIDTH = 880;
const MARGIN = 24;
const PANEL = { width: 400, height: 236, left: 24, right: 24, top: 46, bottom: 46 } as const;
const TOP = 44;

/** A record of bench:growth as four curves, for light and dark backgrounds. */
export function drawGrowth(record: GrowthRecord): string {
  const curves = curvesOf(record).filter(({ points }) => points.length > 1);
  const rows = Math.ceil(curves.length / 2);
  const height = TOP + rows * PANEL.height + 34;
  const panels = curves.map((curve, index) => {
    const x = MARGIN + (index % 2) * (WIDTH - 2 * MARGIN - PANEL.width);
    return panel(curve, x, TOP + Math.floor(index / 2) * PANEL.height);
  });
  const { processor, cores, node } = record.machine;
  const foot = `robots-filter ${record.package.version}; ${processor}, ${cores} cores; Node ${node}`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" aria-labelledby="title">
<title id="title">How the time of robots-filter grows with hosts, sizes of records, agents and threads</title>
<style>
text { font-family: system-ui, -apple-system, 'Segoe UI', 'Helvetica Neue', Arial, sans-serif; font-size: 12.5px; fill: #57606a }
.head { font-size: 18px; font-weight: 600; fill: #24292f }
.name { font-size: 14px; font-weight: 600; fill: #24292f }
.value { font-weight: 600; fill: #24292f }
.curve { fill: none; stroke: #0969da; stroke-width: 2 } .dot { fill: #0969da }
.spread { stroke: #0969da; stroke-width: 1.5 } .base { stroke: #afb8c1 }
@media (prefers-color-scheme: dark) {
text { fill: #9198a1 }
.head, .name, .value { fill: #e6edf3 }
.curve { stroke: #4493f8 } .dot { fill: #4493f8 } .spread { stroke: #4493f8 } .base { stroke: #656c76 }
}
</style>
<text class="head" x="${MARGIN}" y="28">Nanoseconds a record, without start-up</text>
${panels.join('\n')}
<text x="${MARGIN}" y="${height - 12}">${escaped(foot)}</text>
</svg>
`;
}

function curvesOf({ growth, results = [] }: GrowthRecord): Curve[] {
  const hosts = (growth?.steps ?? []).map(({ hosts: at, nanoseconds: median }) => ({
    at,
    label: short(at),
    median,
  }));
  return [
    { title: 'by hosts in the table, without opening it', axis: 'hosts', points: hosts },
    {
      title: 'by the size of NDJSON records',
      axis: 'bytes a record',
      points: points(results, /^records of (\d+) B$/),
    },
    { title: 'by agents', axis: 'agents', points: points(results, /^(\d+) agents$/) },
    { title: 'by threads', axis: 'threads', points: points(results, /^(\d+) threads, file$/) },
  ];
}

/** The results whose names a pattern finds, with the number in the name. */
function points(results: readonly ResultRecord[], pattern: RegExp): Point[] {
  const startUp = results.find(({ id }) => id === START_UP)?.median ?? 0;
  return results.flatMap(({ id, records, median, least, greatest }) => {
    const at = Number(pattern.exec(id)?.[1] ?? 0);
    const nanoseconds = (seconds: number) => (Math.max(seconds - startUp, 0) / records) * 1e9;
    if (at === 0) return [];
    return [
      {
        at,
        label: short(at),
        median: nanoseconds(median),
        least: nanoseconds(least),
        greatest: nanoseconds(greatest),
      },
    ];
  });
}

function panel({ title, axis, points }: Curve, left: number, top: number): string {
  const width = PANEL.width - PANEL.left - PANEL.right;
  const height = PANEL.height - PANEL.top - PANEL.bottom;
  const base = top + PANEL.height - PANEL.bottom;
  const logs = points.map(({ at }) => Math.log(at));
  const [first = 0, last = 1] = [logs[0], logs.at(-1)];
  const most = Math.max(...points.map(({ median, greatest }) => greatest ?? median));
  const x = (at: number) => left + PANEL.left + (width * (Math.log(at) - first)) / (last - first);
  const y = (value: number) => base - (height * value) / most;
  const line = points.map(({ at, median }) => `${x(at).toFixed(1)} ${y(median).toFixed(1)}`);
  const marks = points.map(({ at, label, median, least, greatest }) => {
    const place = x(at).toFixed(1);
    const spread =
      least === undefined || greatest === undefined
        ? ''
        : `<path class="spread" d="M${place} ${y(least).toFixed(1)}V${y(greatest).toFixed(1)}"/>`;
    const above = (y(greatest ?? median) - 8).toFixed(1);
    return `${spread}<circle class="dot" cx="${place}" cy="${y(median).toFixed(1)}" r="3.5"/>
<text class="value" x="${place}" y="${above}" text-anchor="middle">${median.toFixed(0)}</text>
<text x="${place}" y="${base + 17}" text-anchor="middle">${label}</text>`;
  });
  return `<text class="name" x="${left}" y="${top + 14}">${escaped(title)}</text>
<path class="base" d="M${left} ${base}H${left + PANEL.width}"/>
<path class="curve" d="M${line.join('L')}"/>
${marks.join('\n')}
<text x="${left + PANEL.width}" y="${base + 33}" text-anchor="end">${axis}</text>`;
}

/** A number in at most four characters, as `300k`. */
function short(value: number): string {
  if (value >= 1e6) return `${value / 1e6}M`;
  return value >= 10_000 ? `${Math.round(value / 1000)}k` : value.toLocaleString('en');
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}
