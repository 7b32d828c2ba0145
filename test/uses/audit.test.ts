import { readFileSync } from 'node:fs';
import { parquetReadObjects } from 'hyparquet';
import { describe, expect, it } from 'vitest';
import { formatNumber } from '../../src/cli/text.js';
import { TableBuilder } from '../../src/compile/table-builder.js';
import { TableAudit } from '../../src/inspect/table-audit.js';
import { UseAudit } from '../../src/inspect/use-audit.js';
import { Table, tableMemory } from '../../src/judge/table.js';
import { parseAgent } from '../../src/protocol/agent.js';
import { useOf } from '../../src/protocol/uses.js';
import type { Profile } from '../../src/protocol/verdict.js';
import { lines, test, type Workplace, workplace } from '../cli/command-line.js';
import { cases } from '../random/cases.js';
import { Random } from '../random/random.js';

interface AuditCase {
  readonly id: string;
  readonly clause: string;
  readonly robots: string;
  readonly extent: 'granted' | 'refused' | 'part' | 'unstated' | null;
  readonly signals: string;
  readonly agent?: string;
  readonly use?: string;
  readonly policyToken?: string;
  readonly profile?: Profile;
}

const CASES = readFileSync('fixtures/uses/audit.ndjson', 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line) as AuditCase);

const HOST = { scheme: undefined, host: 'a.example', port: undefined };

function saidIn(asked: Omit<AuditCase, 'id' | 'clause' | 'extent' | 'signals'>) {
  const { robots, agent = 'bot', use = 'train', policyToken, profile = 'rfc9309' } = asked;
  const builder = new TableBuilder({ profile, signals: true });
  builder.add(HOST, Buffer.from(robots), { source: '' });
  const { view } = tableMemory(Table.from(builder.build()));
  const [authority] = view.find(HOST.host)?.authorities ?? [];
  if (authority === undefined) throw new Error('no host');
  const isGoogle = profile === 'google';
  const audit = new TableAudit(view, [parseAgent(agent, profile)], isGoogle);
  const uses = new UseAudit(view, audit, [useOf(use, policyToken)], isGoogle);
  const summaries = audit.summaries(authority.robots, authority.accessResult);
  const said = uses.summaries(authority, summaries)[0]?.[0];
  if (said === undefined) throw new Error('no answer');
  return { extent: said.extent ?? null, signals: said.signals.join(' ') };
}

describe('what a host says about a use', () => {
  it.each(CASES)('$id: $clause', ({ extent, signals, ...asked }) => {
    expect(saidIn(asked)).toEqual({ extent, signals });
  });

  it('is "part", by all signals that are there, where a proof would take too long', () => {
    // Nothing that is refused may be fetched. But each rule may have come half its way, or not.
    const paths = Array.from({ length: 20 }, (_, index) => {
      const letter = String.fromCharCode(97 + index);
      return `/*${letter}${letter}*y${letter}`;
    });
    const refusals = paths.flatMap((path) => [
      `Disallow: ${path}`,
      `Content-Usage: ${path} train-ai=n`,
    ]);
    const others = ['Content-Usage: train-ai=y', 'Content-Signal: ai-train=yes'];
    const of = (lines: readonly string[]): string => `User-agent: *\n${lines.join('\n')}\n`;
    const signals = 'content-usage content-signal';
    const few = of([...refusals.slice(0, 6), ...others]);
    expect(saidIn({ robots: few })).toEqual({ extent: 'granted', signals });
    const many = of([...refusals, ...others]);
    expect(saidIn({ robots: many })).toEqual({ extent: 'part', signals });
  });
});

// ---- An independent count: the filter's answers about many URLs

const AGENTS = ['bot', 'image:bot'];
const HOSTS = cases(160);
const PIECES = ['a', 'b', '/'];
const MOST_PIECES = 5;

/** All paths of some pieces. */
function allPaths(): string[] {
  let longest = ['/'];
  const paths = [...longest];
  for (let length = 1; length <= MOST_PIECES; length++) {
    longest = longest.flatMap((path) => PIECES.map((piece) => path + piece));
    paths.push(...longest);
  }
  return paths;
}

function drawnPath(random: Random): string {
  if (random.chance(0.25)) return '/';
  const path = `/${random.run(['a', 'b', '*', '/'], 1, 2)}`;
  return random.chance(0.2) ? `${path}$` : path;
}

function drawnGroup(random: Random, token: string): string[] {
  const rules = Array.from({ length: random.between(0, 3) }, () => {
    const kind = random.chance(0.35) ? 'Allow' : 'Disallow';
    return `${kind}: ${drawnPath(random)}`;
  });
  const usage = Array.from({ length: random.pick([0, 0, 1, 2, 3]) }, () => {
    const path = random.chance(0.4) ? '' : `${drawnPath(random)} `;
    return `Content-Usage: ${path}${random.pick(['train-ai=y', 'train-ai=n', 'search=y'])}`;
  });
  const signal = random.chance(0.3)
    ? [`Content-Signal: ai-train=${random.pick(['yes', 'no'])}`]
    : [];
  return [`User-agent: ${token}`, ...rules, ...usage, ...signal];
}

function drawnFile(random: Random): string {
  const lines = random.chance(0.08) ? ['Content-Signal: ai-train=no'] : [];
  for (const [token, share] of [
    ['*', 0.8],
    ['bot', 0.4],
    ['image', 0.2],
    ['NoTrain', 0.25],
  ] as const) {
    if (random.chance(share)) lines.push(...drawnGroup(random, token));
  }
  return `${lines.join('\n')}\n`;
}

/** What the paths of a host say together about `train`, by the answers of each. */
interface Found {
  readonly answers: Set<string>;
  readonly signals: Set<string>;
}

/** The signals, and the uses that ask each of them alone. */
const ALONE = [
  ['content-usage', 'train-ai'],
  ['content-signal', 'ai-train'],
  ['policy-token', 'none'],
] as const;
const USES = ['train', ...ALONE.map(([, use]) => use)];
const POLICIES = ['--policy-token', 'train=NoTrain'];

async function answersOfFilter(
  place: Workplace,
  profile: Profile,
  hosts: readonly string[],
): Promise<Map<string, Found>> {
  const paths = allPaths();
  const urls = hosts.flatMap((host) => paths.map((path) => `https://${host}${path}`));
  place.write('urls.txt', `${urls.join('\n')}\n`);
  const asked = ['--use', USES.join(), ...POLICIES, '--policy-token', 'none=NoTrain'];
  const words = ['--robots-dir', 'files.ndjson', '--profile', profile, '-a', AGENTS.join()];
  const run = await place.run([...words, ...asked, '--format', 'verdicts', '-q', 'urls.txt']);
  expect(run.stderr).toBe('');
  const found = new Map<string, Found>();
  lines(run.text).forEach((line, index) => {
    const host = hosts[Math.floor(index / paths.length)] ?? '';
    const columns = line.split(',').slice(AGENTS.length);
    AGENTS.forEach((agent, at) => {
      const [answer = '', ...alone] = columns.slice(at * USES.length, (at + 1) * USES.length);
      if (answer === '') return;
      const key = `${host} ${agent}`;
      const known = found.get(key) ?? { answers: new Set(), signals: new Set() };
      found.set(key, known);
      known.answers.add(answer);
      ALONE.forEach(([signal], which) => {
        if (answer !== 'unstated' && alone[which] === answer) known.signals.add(signal);
      });
    });
  });
  return found;
}

interface Row {
  readonly host: string;
  readonly agent: string;
  readonly use: string | null;
  readonly use_signal: string | null;
}

interface Figures {
  readonly uses: readonly {
    readonly agent: string;
    readonly use: string;
    readonly answers: Readonly<Record<string, number>>;
    readonly signals: Readonly<Record<string, Readonly<Record<string, number>>>>;
  }[];
}

test.each<Profile>(['rfc9309', 'google'])(
  'audit --use agrees with the answers of the filter on all short paths (%s)',
  async (profile) => {
    const place = workplace();
    const random = new Random(profile === 'google' ? 48 : 84);
    const hosts = Array.from({ length: HOSTS }, (_, index) => `h${index}.example`);
    const records = hosts.map((host) => ({ host, robots: drawnFile(random) }));
    place.write('files.ndjson', records.map((record) => `${JSON.stringify(record)}\n`).join(''));
    const expected = await answersOfFilter(place, profile, hosts);
    const source = ['--robots-dir', 'files.ndjson', '--profile', profile];
    const words = ['-a', AGENTS.join(), '--use', 'train', ...POLICIES, '--report', 'figures.json'];
    const audit = await place.run(['audit', ...source, ...words, '--format', 'ndjson']);
    expect(audit.code, audit.stderr).toBe(0);

    const counts = new Map<string, number>();
    const count = (key: string): void => {
      counts.set(key, (counts.get(key) ?? 0) + 1);
    };
    for (const { host, agent, use, use_signal } of lines(audit.text).map(
      (line) => JSON.parse(line) as Row,
    )) {
      const { answers, signals } = expected.get(`${host} ${agent}`) ?? {};
      const truth = answers === undefined ? null : answers.size > 1 ? 'part' : [...answers][0];
      const order = ALONE.map(([signal]) => signal).filter((signal) => signals?.has(signal));
      const robots = records.find((record) => record.host === host)?.robots;
      const found = { use, signals: use_signal ?? '' };
      expect(found, `${agent}\n${robots}`).toEqual({ use: truth, signals: order.join(' ') });
      count(`${agent} ${truth}`);
      if (truth !== null && truth !== 'unstated') {
        for (const signal of order) count(`${agent} ${truth} ${signal}`);
      }
    }
    for (const answer of ['granted', 'refused', 'part', 'unstated', null]) {
      for (const agent of AGENTS) {
        expect(counts.get(`${agent} ${answer}`) ?? 0, `${answer}`).toBeGreaterThan(HOSTS / 50);
      }
    }

    const { uses } = JSON.parse(place.read('figures.json')) as Figures;
    expect(uses.map(({ agent, use }) => [agent, use])).toEqual(
      AGENTS.map((name) => [name, 'train']),
    );
    for (const { agent, answers, signals } of uses) {
      for (const [answer, number] of Object.entries(answers)) {
        expect(number).toBe(counts.get(`${agent} ${answer}`) ?? 0);
      }
      for (const [signal, by] of Object.entries(signals)) {
        for (const [answer, number] of Object.entries(by)) {
          expect(number).toBe(counts.get(`${agent} ${answer} ${signal}`) ?? 0);
        }
      }
      const { granted = 0, refused = 0, part = 0, unstated = 0 } = answers;
      expect(audit.stderr).toContain(
        `${agent}, train: ${formatNumber(granted)} granted, ${formatNumber(refused)} refused, ${formatNumber(part)} part, ${formatNumber(unstated)} unstated\n`,
      );
    }
  },
);

/** Hosts with every answer about training. */
function everyAnswer(): Workplace {
  const place = workplace();
  const files = {
    'closed.example': 'User-agent: *\nDisallow: /\nContent-Usage: train-ai=n\n',
    'granted.example': 'User-agent: *\nContent-Usage: train-ai=y\n',
    'part.example': 'User-agent: *\nContent-Usage: /a train-ai=n\n',
    'refused.example': 'User-agent: *\nContent-Signal: ai-train=no, search=yes\n',
    'unstated.example': 'User-agent: *\nDisallow: /p\n',
  };
  for (const [host, text] of Object.entries(files)) place.write(`robots/${host}`, text);
  place.write('more.ndjson', '{"host":"gone.example","status":404}\n');
  place.write('hosts', `${[...Object.keys(files), 'gone.example', 'none.example'].join('\n')}\n`);
  return place;
}

/** Host, allowed, and the columns of two uses. */
const ROWS = [
  ['closed.example', 'none', '', '', '', ''],
  ['gone.example', 'all', 'unstated', '', 'unstated', ''],
  ['granted.example', 'all', 'granted', 'content-usage', 'unstated', ''],
  ['none.example', 'unknown', '', '', '', ''],
  ['part.example', 'all', 'part', 'content-usage', 'unstated', ''],
  ['refused.example', 'all', 'refused', 'content-signal', 'granted', 'content-signal'],
  ['unstated.example', 'part', 'unstated', '', 'unstated', ''],
];
const COLUMNS = ['use_train', 'use_signal_train', 'use_search', 'use_signal_search'];

test('audit --use has columns for each use in every format', async () => {
  const place = everyAnswer();
  const source = ['--robots-dir', 'robots', '--robots-dir', 'more.ndjson', '--hosts', 'hosts'];
  const words = ['audit', ...source, '-a', 'GPTBot', '--use', 'train,search', '-q', '--format'];
  const of = async (format: string) => place.run([...words, format]);
  const [header = '', ...rows] = lines((await of('csv')).text).map((line) => line.split(','));
  expect(header.slice(2, 7)).toEqual(['allowed', ...COLUMNS]);
  expect(rows.map(([host, , ...cells]) => [host, ...cells.slice(0, 5)])).toEqual(ROWS);

  const objects = lines((await of('ndjson')).text).map((line) => JSON.parse(line));
  const valuesOf = (row: Record<string, unknown>) =>
    ['host', 'allowed', ...COLUMNS].map((name) => row[name] ?? '');
  expect(objects.map(valuesOf)).toEqual(ROWS);

  const [, ...lined] = lines((await of('table')).text).map((line) =>
    line.split(' ').filter((word) => word !== ''),
  );
  const shown = lined.map(([host, , ...cells]) => [host, ...cells.slice(0, 5)]);
  expect(shown).toEqual(ROWS.map((row) => row.map((cell) => cell || '-')));

  const { stdout } = await of('parquet');
  const file = new Uint8Array(stdout).buffer;
  expect((await parquetReadObjects({ file })).map(valuesOf)).toEqual(ROWS);

  const report = words.slice(0, -1);
  const { code } = await place.run([...report, '--report', 'r.html']);
  expect(code).toBe(0);
  const page = place.read('r.html');
  expect(page).toContain('<h2>What the content may be used for (experimental)</h2>');
  const label = 'train, GPTBot, hosts: refused: 1, differs by path: 1, granted: 1, unstated: 2';
  expect(page).toContain(label);
});

test('audit --use refuses what it cannot answer, and says of what nobody speaks', async () => {
  const place = everyAnswer();
  await place.run('compile -q --robots-dir robots -o plain.table');
  const refused = [
    ['--table plain.table --use train', 'Compile it again with --signals'],
    ['--robots-dir robots --use train --history', '--use asks about the newest robots.txt files'],
    ['--robots-dir robots --policy-token train=X', 'has no effect without --use train'],
    ['--robots-dir robots --use /', 'is no purpose and no key of a signal'],
  ] as const;
  for (const [words, message] of refused) {
    const { code, text, stderr } = await place.run(`audit ${words}`);
    expect({ code, text }, words).toEqual({ code: 2, text: '' });
    expect(stderr).toContain(message);
  }
  const { code, stderr } = await place.run('audit --robots-dir robots --use input,train');
  expect(code).toBe(0);
  expect(stderr).toContain('no robots.txt in robots says anything about input, so each answer');
});
