/** What the page of a run must show, for figures that were counted anew. */

import type { expectedFigures } from './expected-figures.js';
import { AGENTS } from './generated-run.js';
import type { PageTable } from './page-tables.js';

type Figures = ReturnType<typeof expectedFigures>;
type Counts = Readonly<Record<string, number>>;

export const number = (count: number) => count.toLocaleString('en');
export const share = (part: number, whole: number) =>
  `${(whole === 0 ? 0 : (100 * part) / whole).toFixed(1)} %`;

/** A share that shows a few as none, or almost all as all, in no case. */
const roundedShare = (part: number, whole: number) => {
  const text = share(part, whole);
  if (text === '0.0 %' && part > 0) return '<0.1 %';
  return text === '100.0 %' && part < whole ? '>99.9 %' : text;
};

const numbers = (counts: Counts, keys: readonly string[]) =>
  keys.map((key) => number(counts[key] ?? Number.NaN));

/** The tables of the page by caption, without the one of the rules that deny. */
export function expectedTables({
  records,
  hosts: { seen },
  agents,
  access,
  ages,
  otherRecords,
  busiest,
}: Figures): PageTable[] {
  const outcomes = new Map(
    agents.flatMap((each) =>
      each.outcomes.map(({ verdict, reason }) => [`${verdict}, ${reason}`, { verdict, reason }]),
    ),
  );
  const reasonRows = (cell: (outcome: Figures['agents'][number]['outcomes'][number]) => string) =>
    agents.map((each) => [
      each.agent,
      ...Array.from(outcomes.values(), ({ verdict, reason }) => {
        const own = each.outcomes.find((it) => it.verdict === verdict && it.reason === reason);
        return cell(own ?? { verdict, reason, urls: 0, hosts: 0 });
      }),
    ]);
  return [
    {
      caption: 'Records by verdict',
      header: ['agent', 'deny', 'allow', 'unknown', 'invalid'],
      rows: agents.map(({ agent, urls }) => [
        agent,
        ...numbers(urls, ['deny', 'allow', 'unknown', 'invalid']),
      ]),
    },
    {
      caption: 'Hosts by what they allow of their URLs',
      header: ['agent', 'all URLs denied', 'a part denied', 'all URLs allowed'],
      rows: agents.map(({ agent, hosts }) => [agent, ...numbers(hosts, ['none', 'part', 'all'])]),
    },
    {
      caption: 'Records, and their share of all records',
      header: ['agent', ...outcomes.keys()],
      rows: reasonRows(({ urls }) => `${number(urls)} (${share(urls, records)})`),
    },
    {
      caption:
        'Hosts with such a URL, and their share of all hosts; a host counts once for each reason',
      header: ['agent', ...outcomes.keys()],
      rows: reasonRows(({ hosts }) =>
        hosts === null ? 'not counted' : `${number(hosts)} (${share(hosts, seen)})`,
      ),
    },
    {
      caption: 'Allowed, and of these allowed because nothing is known',
      header: [
        'agent',
        'URLs allowed',
        'nothing known',
        'share',
        'hosts',
        'nothing known',
        'share',
      ],
      rows: agents.map(({ agent, urls, hosts, nothingKnown }) => {
        const [allowed = 0, some] = [urls.allow, (hosts.all ?? 0) + (hosts.part ?? 0)];
        return [
          agent,
          number(allowed),
          number(nothingKnown.urls),
          share(nothingKnown.urls, allowed),
          number(some),
          number(nothingKnown.hosts),
          share(nothingKnown.hosts, some),
        ];
      }),
    },
    {
      caption: 'Hosts with URLs',
      header: ['robots.txt', 'hosts', 'share', 'meaning'],
      rows: Object.entries({
        unavailable: access.unavailable ?? 0,
        unreachable: access.unreachable ?? 0,
        stale: ages.stale,
        dated: ages.dated,
      }).map(([name, count]) => [name, number(count), share(count, seen)]),
    },
    {
      caption: 'Hosts that have a record',
      header: ['record', 'hosts', 'share'],
      rows: Object.entries(otherRecords).map(([kind, count]) => [
        kind,
        number(count),
        share(count, seen),
      ]),
    },
    {
      caption: `The ${busiest.length} hosts with most URLs`,
      header: ['host', 'URLs', ...AGENTS],
      rows: busiest.map(({ host, urls, allowed }) => [
        host,
        number(urls),
        ...allowed.map((count) => roundedShare(count, urls).replace(' %', '')),
      ]),
    },
  ];
}
