import { expect, test } from 'vitest';
import { Random } from '../../random/random.js';
import { lines, workplace } from '../command-line.js';
import { figuresOf } from './page-tables.js';

const AGENTS = ['GPTBot', 'CCBot'];

/** Bodies, and what each allows to the agents. */
const BODIES: readonly (readonly [robots: string, extents: readonly string[]])[] = [
  ['User-agent: *\nDisallow: /\n', ['none', 'none']],
  ['User-agent: *\nDisallow:\n', ['all', 'all']],
  ['User-agent: GPTBot\nDisallow: /\n', ['none', 'all']],
  ['User-agent: CCBot\nDisallow: /\n\nUser-agent: *\nDisallow: /a\n', ['part', 'none']],
  ['User-agent: *\nDisallow: /b\n', ['part', 'part']],
];

interface Capture {
  readonly host: string;
  readonly day: number;
  /** Index of its body; -1 for a status of 404. */
  readonly body: number;
}

const DAY = 86_400_000;
const START = Date.UTC(2024, 0, 10) / DAY;

/** Captures of hosts, and of one of their ports, of which no two are of one day. */
function captures(random: Random): Capture[] {
  return Array.from({ length: 40 }, (_, index) => {
    const hosts =
      index % 8 === 0 ? [`h${index}.example`, `h${index}.example:8080`] : [`h${index}.example`];
    return hosts.flatMap((host) => {
      let day = START + random.between(0, 90);
      return Array.from({ length: random.between(1, 6) }, () => {
        day += random.between(1, 90);
        const body = random.chance(0.1) ? -1 : random.between(0, BODIES.length - 1);
        return { host, day, body };
      });
    });
  }).flat();
}

test('the figures through time count the captures in force, by host and by distinct file', async () => {
  const place = workplace();
  const all = captures(new Random(4910));
  const records = all.map(({ host, day, body }) => {
    const fetched = new Date(DAY * day).toISOString();
    const answer = body < 0 ? { status: 404 } : { robots: BODIES[body]?.[0] };
    return `${JSON.stringify({ host, ...answer, fetched })}\n`;
  });
  place.write('captures.ndjson', records.join(''));
  const words = [
    'audit',
    '-q',
    '--robots-dir',
    'captures.ndjson',
    '-a',
    AGENTS.join(),
    '--history',
  ];
  const { code, text, stderr } = await place.run([
    ...words,
    '--every',
    '20d',
    '--report',
    'r.json',
  ]);
  expect({ code, text, stderr }).toEqual({ code: 0, text: '', stderr: '' });
  const report = JSON.parse(place.read('r.json'));
  const { schema, every, hosts, times, agents } = report;
  expect({ schema, every, hosts }).toEqual({
    ...{ schema: 'robots-filter/history/1', every: '20d', hosts: 40 },
  });
  expect(times.length).toBeGreaterThan(10);
  const seen = { none: 0, part: 0, all: 0, unknown: 0 };
  for (const [index, time] of (times as string[]).entries()) {
    const now = Date.parse(time) / DAY;
    // The last capture of each host and port; then those of a host together.
    const last = new Map<string, Capture>();
    for (const capture of all) if (capture.day <= now) last.set(capture.host, capture);
    const byHost = new Map<string, Capture[]>();
    for (const capture of last.values()) {
      const host = capture.host.replace(':8080', '');
      byHost.set(host, [...(byHost.get(host) ?? []), capture]);
    }
    const files = new Set([...last.values()].map(({ body }) => body).filter((body) => body >= 0));
    for (const [agent, own] of agents.entries()) {
      const extentOf = ({ body }: Capture) => BODIES[body]?.[1][agent] ?? 'all';
      const counts = { none: 0, part: 0, all: 0, unknown: 40 - byHost.size };
      for (const parts of byHost.values()) {
        const extents = new Set(parts.map(extentOf));
        const extent = extents.size > 1 ? 'part' : [...extents][0];
        counts[extent as keyof typeof counts]++;
      }
      const ofFiles = { none: 0, part: 0, all: 0 };
      for (const body of files) ofFiles[BODIES[body]?.[1][agent] as keyof typeof ofFiles]++;
      for (const kind of ['none', 'part', 'all', 'unknown'] as const) {
        expect([time, kind, own.hosts[kind][index]]).toEqual([time, kind, counts[kind]]);
        seen[kind] += counts[kind];
        if (kind === 'unknown') continue;
        expect([time, kind, own.files[kind][index]]).toEqual([time, kind, ofFiles[kind]]);
      }
    }
  }
  for (const count of Object.values(seen)) expect(count).toBeGreaterThan(20);

  // The rows count the same hosts, and the page embeds the same figures.
  const rows = lines((await place.run([...words, '--every', '20d', '--format', 'csv'])).text);
  const [first] = agents;
  expect(rows.filter((row) => row.includes(',GPTBot,')).slice(0, times.length)).toEqual(
    (times as string[]).map((time, index) =>
      [
        time,
        'GPTBot',
        ...['all', 'part', 'none', 'unknown'].map((kind) => first.hosts[kind][index]),
      ].join(),
    ),
  );
  await place.run([...words, '--every', '20d', '--report', 'r.html']);
  const page = place.read('r.html');
  expect(figuresOf(page)).toEqual({ ...report, created: expect.any(String) });
  expect(page).not.toMatch(/NaN|undefined/);
  expect(page.match(/<figure class="lines">/g)).toHaveLength(2);
  expect(page).toContain('one each 20 days. Until a newer robots.txt of a host is known');
  expect(page).toContain('If each distinct file counts once, the share for ');

  const tooLong = await place.run([
    ...words,
    '--every',
    '1d',
    '-a',
    '@all-known',
    '--report',
    'r.html',
  ]);
  expect(tooLong.code).toBe(2);
  expect(tooLong.stderr).toContain('Use more days with --every, or fewer agents');
});
