import { readdirSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { COMMAND_DEFINITIONS } from '../../src/cli/definitions.js';
import { createProgram } from '../../src/cli/program.js';
import { every } from '../random/cases.js';
import { GREETING, request } from '../serve/frames.js';
import { captureOf, responseOf, robotsOf } from '../warc/warc-bytes.js';
import { Workplace } from './command-line.js';

/*
 * Every pair of options of every command is run: each option changes what the other one gives, or
 * the pair is refused, or it stands in a list below with its reason. So no option is dropped in
 * silence. The options come from their definitions: a new one fails here until it has a value.
 */

/** Of these many pairs one is run; with CASES=48 all are. */
const STEP = 48;

const DAY = 86_400_000;

/** The words of an option, by its long name; a command may have its own as `command --option`. */
const VALUES: Readonly<Record<string, string>> = {
  '--agent': 'GPTBot',
  '--agent-field': 'who',
  '--agents-file': 'agents.json',
  '--as-of': '2025-03-10',
  '--from': '2025-03-10',
  '--to': '2025-03-11',
  '--ca': 'ca.pem',
  '--color': 'always',
  '--concurrency': '2',
  '--disable': 'everything-denied',
  '--enable': 'trailing-slash',
  '--every': '30d',
  '--field': 'part',
  '--format': 'csv',
  ' --format': 'ndjson',
  'compile --output': 'out.table.gz',
  'lint --format': 'json',
  '--host': 'a.example',
  '--host-column': 'site',
  '--in-force': 'ever',
  '--hosts': 'hosts.txt',
  '--input': 'text',
  '--kind': 'sitemap',
  '--max-age': '3d',
  '--max-line-bytes': '200',
  '--max-robots-bytes': '600000',
  '--max-warnings': '0',
  '--of': '4',
  '--only': 'none',
  'compile --only': '0',
  '--output': 'out.txt',
  '--parts': '0',
  '--pause': '0',
  '--per-address': '1',
  '--policy-token': 'train=NoTrain',
  '--profile': 'google',
  '--proxy': 'env',
  '--report': 'out.json',
  '--date-column': 'day',
  '--robots-column': 'other',
  '--robots-dir': 'more',
  '--severity': 'warning',
  '--shards': '3',
  '--stale': 'unknown',
  '--stats': 'text',
  '--stats-by': 'host',
  '--status-column': 'code',
  '--table': 'table',
  '--targets': 'targets.txt',
  '--threads': '2',
  '--time-field': 'when',
  '--top': '1',
  '--unknown': 'deny',
  '--unreachable-after': '3',
  '--url-field': 'link',
  '--urls': 'list.txt',
  '--use': 'train',
  '--user-agent': 'mine/1.0',
  '--verdict-field': 'answer',
};

/** A command without options: its arguments, and the options that it cannot do without. */
interface Base {
  readonly files: readonly string[];
  /** The words that stand in unless one of these options is given. */
  readonly needs?: readonly (readonly [options: readonly string[], words: readonly string[]])[];
  readonly input?: Buffer;
}

const HOSTS = 'a b c d e g k l t w old down link'.split(' ').map((name) => `${name}.example`);

const URLS = HOSTS.flatMap((host) =>
  ['x', 'late', 'typo'].map((path) => `https://${host}/${path}`),
);

const SOURCE = [['--table'], ['--robots-dir', 'robots']] as const;

const BASES: Readonly<Record<string, Base>> = {
  '': { files: ['urls.csv'], needs: [SOURCE] },
  compile: {
    files: [],
    needs: [
      [[], ['--robots-dir', 'robots']],
      [['--output'], ['-o', 'out.table']],
    ],
  },
  check: {
    // A long robots.txt of v.example has a date, and only its end decides about this path.
    files: ['robots', ...URLS, 'https://v.example/late'],
    needs: [[['--agent'], ['--agent', 'GTPBot']]],
  },
  lint: { files: ['lint'] },
  agents: { files: [] },
  inspect: { files: ['table', 'a.example'] },
  audit: { files: [], needs: [SOURCE] },
  records: { files: ['robots'] },
  // CSV for spreadsheets marks the second agent, whose name could begin a formula.
  diff: { files: ['robots', 'more'], needs: [[['--agent'], ['--agent', '*,-mine']]] },
  shard: { files: ['urls.csv'], needs: [[['--of'], ['--of', '8']]] },
  captures: { files: ['robots/crawl.warc'] },
  serve: {
    files: [],
    needs: [
      [
        ['--table', '--shards'],
        ['--robots-dir', 'robots'],
      ],
    ],
    input: Buffer.concat([GREETING, request(URLS, '[]', true)]),
  },
  completion: { files: ['bash'] },
};

/** What is not run: it would need a network. */
const SKIPPED = ['fetch', '--fetch'];

/** Options that no run here can show, alone or beside others. */
const UNSEEN: Readonly<Record<string, string>> = {
  '--verify': 'a sound table passes',
  '--threads': 'the results are the same on any number of threads',
  '--progress': 'shows a line that is removed at the end',
  '--no-progress': 'there is no terminal, and so no progress',
  '--quiet': 'only messages are left out',
  '--color': 'colours stand in text for people only',
  '--allow-empty': 'permits what does not happen here',
  '--no-header': 'says what is found anyway, or that the header is a record',
  '--header': 'says what is found anyway',
};

/** Options beside which others cannot show, or need not, and why. */
const HIDING: Readonly<Record<string, string>> = {
  '--input': 'read as text, the rows have no URL',
  '--no-header': 'the header is a record, and no column has a name',
};

/** Pairs in which one option has no effect, and why that is meant. */
const MEANT: Readonly<Record<string, string>> = {
  '--enable beside --opinions': 'the rule is one of all opinions',
  '--date-column beside --in-force': 'any robots.txt may deny, whatever its date',
  '--unreachable-after beside --as-of': 'what fetch found later is left out',
  '--max-robots-bytes beside --profile': 'the google profile reads whole files: the help says so',
  '--profile beside --max-robots-bytes': 'here the limit is that of the whole file',
};

// On one core no run starts threads for its sources, which takes longer than the rest of it.
const place = new Workplace(false, 1);

beforeAll(async () => {
  const ago = (days: number): string => new Date(Date.now() - days * DAY).toISOString();
  const rules = (path: string): string => `User-agent: *\nDisallow: ${path}\nCrawl-delay: 2\n`;
  // More than the 512,000 bytes that count by default, in few lines.
  const filler = `# ${'x'.repeat(1000)}\n`.repeat(512);
  const names = `User-agent: NoTrain\nDisallow: /\n\nUser-agent: GPTBot\nContent-Signal: ai-train=no\nAllow: /x\nDisalow: /typo\n\n${rules('/x')}Sitemap: =1+1\nSite-map: https://a.example/\nDisalow: /typo\n`;
  const late = `Disallow: /late\nSitemap: https://a.example/late\n\nUser-agent: GPTBot\nDisallow: /late\n`;
  place.write('robots/a.example', `${names}${filler}${late}`);
  place.write('robots/b.example', 'User-agent: GPTBot\nDisallow: /\n');
  // The policy token of this one alone is in its way.
  place.write('more/w.example', 'User-agent: NoTrain\nDisallow: /x\n');
  place.write('robots/l.example', `User-agent: *\n${filler}Disallow: /\n`);
  place.write('robots/t.example', 'User-agent: *\nDisalow: /\n');
  place.write('robots.txt', `${names}${filler}${late}`);
  place.write('outside', rules('/'));
  symlinkSync('../outside', join(place.path, 'robots/link.example'));
  const captureAt = (date: string, path: string, at = 'w.example/robots.txt') =>
    captureOf(`https://${at}`, responseOf(200, robotsOf(path)), { date });
  const captures = [
    captureAt('2025-03-10T00:00:00Z', '/x\nCrawl-delay: 5\nSitemap: https://w.example/old'),
    captureAt('2025-04-10T00:00:00Z', '/\nDisallow: /%zz\nSitemap: https://w.example/new'),
  ];
  const longCapture = `/x\n${filler}Disallow: /`;
  place.write(
    'robots/crawl.warc',
    Buffer.concat([
      ...captures,
      captureAt('2025-03-10T00:00:00Z', longCapture, 'v.example/robots.txt'),
      captureAt('2025-03-10T00:00:00Z', longCapture, 'v.example/moved'),
      captureAt('2025-04-10T00:00:00Z', '/x', 'v.example/moved'),
    ]),
  );
  // Warnings, notes and opinions, but no error, which --max-warnings could not add to.
  place.write(
    'lint/a.example',
    'User-agent: CCBott\nDisallow: /x\nDisallow: /y*\nDisallow: /*.css$\nDisallow: /%zz\n',
  );
  place.write('lint/b.example', 'User-agent: *\nDisallow: /\n');
  place.write('lint/z.example', 'User-agent: *\nDisallow: /\nDisallow: /%zz\n');
  place.write('lint/crawl.warc', Buffer.concat(captures));
  symlinkSync('../outside', join(place.path, 'lint/link.example'));
  const finding = (host: string, state: object) => {
    place.write(`robots/https/${host}/robots.json`, JSON.stringify(state));
  };
  place.write('robots/https/old.example/robots.txt', rules('/x'));
  finding('old.example', {
    accessResult: 'successful',
    status: 200,
    respondedAt: ago(9),
    usableUntil: ago(8),
  });
  finding('down.example', {
    accessResult: 'unreachable',
    respondedAt: ago(0),
    unreachableSince: ago(9),
    failedOn: [9, 8, 7, 6, 5, 4, 3, 2, 1, 0].map((days) => ago(days).slice(0, 10)),
  });
  const maps = (path: string, name: string) =>
    `${rules(path)}Sitemap: https://${name}.example/map\n`;
  const text = (name: string, ...data: string[]) => ({ name, data, type: 'STRING' as const });
  place.write(
    'robots/set.parquet',
    new Uint8Array(
      parquetWriteBuffer({
        columnData: [
          text('host', 'c.example', 'k.example', 'e.example'),
          // One host less, so that counts of hosts show which column was read.
          text('site', 'd.example', 'm.example', 'm.example'),
          text('content', maps('/', 'c'), maps('/', 'k'), rules('/x')),
          text('other', maps('/x', 'd'), maps('/x', 'm'), rules('/x')),
          text('code', '404', '200', '200'),
          text('day', '2024-05-01', '2024-05-02', '2024-05-03'),
          // Before --as-of, which leaves out later files.
          text('fetched', '2025-02-01', '2025-02-02', '2025-02-03'),
        ],
      }),
    ),
  );
  place.write('more/e.example', 'User-agent: *\nDisallow: /\n');
  place.write('more/g.example', 'User-agent: *\nDisallow: /x\n');
  place.write('more/l.example', `User-agent: *\n${filler}Disallow: /late\n`);
  place.write('more/t.example', 'User-agent: *\nDisallow: /typo\n');
  const rows = URLS.map(
    // The last agent is one of the built-in lists alone.
    (url, row) =>
      `${row},${url},${URLS[row + 3] ?? 'https://new.example/'},2025-03-${row + 1},${row < 20 ? 'GPTBot/1' : 'Mozilla/5 (CCBot)'}`,
  );
  const long = `9,none,${'long'.repeat(99)},,`;
  place.write('urls.csv', `id,url,link,when,who\n${long}\n${rows.join('\n')}\n`);
  place.write('none.csv', `id,url,link\n1,none,no\n`);
  place.write('list.txt', URLS.join('\n'));
  place.write('hosts.txt', `${HOSTS.join('\n')}\nnew.example\n`);
  place.write('targets.txt', 'https://v.example/moved\n');
  place.write('ca.pem', '');
  place.write('agents.json', '[{"token":"GPTBot","purpose":"mine"}]');
  // In two shards, so that --parts can choose.
  const compiled = await place.run(
    'compile --robots-dir robots --robots-dir more --records --signals --shards 2 -q -o table'.split(
      ' ',
    ),
  );
  expect(compiled).toMatchObject({ code: 0, stderr: '' });
});

afterAll(() => place.remove());

/** What a run gives, apart from numbers in messages: they may be times. */
async function observed(name: string, options: readonly string[]): Promise<string> {
  const { files, needs = [], input = Buffer.alloc(0) } = BASES[name] as Base;
  const words = needs
    .filter(([given]) => !given.some((option) => options.includes(option)))
    .flatMap(([, missing]) => missing);
  const given = options.flatMap((option) => {
    const value = VALUES[`${name} ${option}`] ?? VALUES[option];
    return value === undefined || value === '' ? [option] : [option, value];
  });
  const before = new Set(place.names());
  const command = name === '' ? [] : [name];
  const { code, stdout, stderr } = await place.run(
    [...command, ...words, ...given, ...files],
    input,
  );
  const written = place.names().filter((file) => !before.has(file));
  const contents = written.map((file) => {
    const path = join(place.path, file);
    const isDirectory = statSync(path).isDirectory();
    const entries = isDirectory ? readdirSync(path, { withFileTypes: true }) : [];
    const inside = entries.filter((each) => each.isFile()).map((each) => join(path, each.name));
    const paths = isDirectory ? inside : [path];
    const text = paths.map((each) => readFileSync(each, 'latin1')).join('\n');
    rmSync(path, { recursive: true });
    return `${file}: ${file.endsWith('.json') ? withoutNumbers(text) : text}`;
  });
  return [code, stdout.toString('latin1'), withoutNumbers(stderr), ...contents].join('\n');
}

function withoutNumbers(text: string): string {
  return text.replaceAll(/\d[\d.,:TZ-]*/g, '#');
}

/** The result for each set of options, which pairs share. */
const results = new Map<string, Promise<string>>();

function resultOf(name: string, options: readonly string[]): Promise<string> {
  const key = [name, ...options].join(' ');
  const known = results.get(key) ?? observed(name, options);
  results.set(key, known);
  return known;
}

/** The long names of a command's options. */
function optionsOf({ options }: Command): string[] {
  const names = options.flatMap(({ long }) => long ?? []);
  return names.filter((long) => long !== '--version' && !SKIPPED.includes(long));
}

const program = createProgram(() => {}, COMMAND_DEFINITIONS);
test('each option that takes a value has one here', () => {
  const needing = [program, ...program.commands].filter((each) => !SKIPPED.includes(each.name()));
  const names = needing.flatMap(({ options }) =>
    options.flatMap(({ long, required }) => (required ? (long ?? []) : [])),
  );
  const known = [...Object.keys(VALUES), ...SKIPPED];
  expect(names.filter((name) => !known.includes(name))).toEqual([]);
});

const commands = new Map<string, string[]>([['', optionsOf(program)]]);
for (const command of program.commands) commands.set(command.name(), optionsOf(command));
for (const name of ['help', ...SKIPPED]) commands.delete(name);

describe.each([...commands])('robots-filter %s', (name, options) => {
  const pairs = options.flatMap((a, at) => options.slice(at + 1).map((b) => [a, b] as const));
  const step = every(STEP);
  const drawn = pairs.filter((_, at) => (at + name.length) % step === 0);

  test('each option of a pair has an effect, or the pair is refused', {
    timeout: 600_000,
  }, async () => {
    expect(Object.keys(BASES)).toContain(name);
    const silent: string[] = [];
    for (const [a, b] of drawn) {
      const both = await resultOf(name, [a, b]);
      if (both.startsWith('2\n')) continue;
      for (const [option, other] of [
        [a, b],
        [b, a],
      ] as const) {
        if (option in UNSEEN || `${name} ${option}` in UNSEEN || other in HIDING) continue;
        if (`${option} beside ${other}` in MEANT) continue;
        if (both === (await resultOf(name, [other]))) silent.push(`${option} beside ${other}`);
      }
    }
    expect(silent).toEqual([]);
  });
});
