import { expect } from 'vitest';
import { TableBuilder } from '../../src/compile/table-builder.js';
import { TableDiff, type UseChange } from '../../src/inspect/table-diff.js';
import { Robots } from '../../src/judge/robots.js';
import { Table, tableMemory } from '../../src/judge/table.js';
import { parseAgent } from '../../src/protocol/agent.js';
import { useOf } from '../../src/protocol/uses.js';
import type { Profile } from '../../src/protocol/verdict.js';
import { test, type Workplace, workplace } from '../cli/command-line.js';
import { cases } from '../random/cases.js';
import { Random } from '../random/random.js';

const PAIRS = cases(100);
const HOST = { scheme: undefined, host: 'a.example', port: undefined };
const ASKED = { policyToken: 'NoTrain' };

function useChangesOf(files: readonly [string, string], profile: Profile): readonly UseChange[] {
  const [one, other] = files.map((text) => {
    const builder = new TableBuilder({ profile, signals: true });
    builder.add(HOST, Buffer.from(text), { source: '' });
    return tableMemory(Table.from(builder.build())).view;
  });
  const [old] = one?.find(HOST.host)?.authorities ?? [];
  const [next] = other?.find(HOST.host)?.authorities ?? [];
  if (one === undefined || other === undefined || old === undefined || next === undefined) {
    throw new Error('no host');
  }
  const agents = [parseAgent('bot', profile)];
  const uses = [useOf('train', ASKED.policyToken)];
  return new TableDiff(one, other, agents, profile === 'google', uses).useChanges(old, next);
}

/** All paths of up to so many pieces, and no path twice. */
function shortPaths(pieces: readonly string[], most: number): string[] {
  let longest = ['/'];
  const paths = [...longest];
  for (let length = 1; length <= most; length++) {
    longest = longest.flatMap((path) => pieces.map((piece) => path + piece));
    paths.push(...longest);
  }
  return paths;
}

const PATHS = shortPaths(['a', 'b', '/'], 4);

function drawnPath(random: Random): string {
  if (random.chance(0.2)) return '/';
  return `/${random.run(['a', 'b', '*', '/'], 1, 2)}${random.chance(0.15) ? '$' : ''}`;
}

/** Two files: the second is the first with a line more, some lines less, or with other lines. */
function drawnPair(random: Random): [string, string] {
  const drawLine = (): string =>
    random.pick([
      `Disallow: ${drawnPath(random)}`,
      `Disallow: ${drawnPath(random)}`,
      `Allow: ${drawnPath(random)}`,
      `Content-Usage: ${drawnPath(random)} train-ai=${random.pick(['y', 'n'])}`,
      `Content-Usage: ${drawnPath(random)} ${random.pick(['train-ai=y', 'search=n'])}`,
      `Content-Usage: train-ai=${random.pick(['y', 'n'])}`,
      `Content-Signal: ai-train=${random.pick(['yes', 'no'])}`,
    ]);
  const drawPolicy = (): string =>
    random.chance(0.7)
      ? ''
      : `User-agent: NoTrain\nDisallow: ${random.chance(0.4) ? '' : drawnPath(random)}\n\n`;
  const lines = Array.from({ length: random.between(0, 5) }, drawLine);
  const others = random.chance(0.2)
    ? Array.from({ length: random.between(0, 5) }, drawLine)
    : lines.filter(() => random.chance(0.8));
  if (random.chance(0.6)) others.push(drawLine());
  const of = (policy: string, own: readonly string[]): string =>
    `${policy}User-agent: *\n${own.join('\n')}\n`;
  const policy = drawPolicy();
  return [of(policy, lines), of(random.chance(0.8) ? policy : drawPolicy(), others)];
}

test.each<Profile>(['rfc9309', 'google'])(
  'the changes of answers are those on all short paths (%s)',
  (profile) => {
    const random = new Random(profile === 'google' ? 19 : 91);
    const seen = { changed: 0, same: 0, withAccess: 0 };
    for (let pair = 0; pair < PAIRS; pair++) {
      const files = drawnPair(random);
      const [change, ...more] = useChangesOf(files, profile);
      const shown = files.join('---\n');
      expect(more, shown).toEqual([]);
      const found = change?.paths ?? [];
      // One file after the other: a file that is asked anew costs more than its answer.
      const [old = [], next = []] = files.map((text) => {
        const robots = Robots.parse(text, { profile });
        return [...found, ...PATHS].map(
          (path) => robots.use(`https://a.example${path}`, 'bot', 'train', ASKED).answer,
        );
      });
      const isChanged = old.map(
        (answer, index) =>
          answer !== undefined && next[index] !== undefined && answer !== next[index],
      );
      // Some changes show on longer paths alone: each path that was found must be one.
      expect(isChanged.slice(0, found.length), shown).toEqual(found.map(() => true));
      const changed = PATHS.filter((_, index) => isChanged[found.length + index]);
      if (change === undefined) expect(changed, shown).toEqual([]);
      else expect(found.length, shown).toBeGreaterThan(0);
      seen[change === undefined ? 'same' : 'changed']++;
      const isMoved = old.some((answer, at) => (answer === undefined) !== (next[at] === undefined));
      if (isMoved && changed.length > 0) seen.withAccess++;
    }
    for (const [kind, count] of Object.entries(seen)) {
      expect(count, kind).toBeGreaterThan(PAIRS / 50);
    }
  },
);

/** Two directories whose hosts say other things about training. */
function twoSides(): Workplace {
  const place = workplace();
  const files = {
    'old/same.example': 'User-agent: *\nContent-Usage: train-ai=n\n',
    'new/same.example': 'User-agent: *\nContent-Usage: /a train-ai=n\nContent-Usage: train-ai=n\n',
    'old/refused.example': 'User-agent: *\nDisallow: /p\n',
    'new/refused.example': 'User-agent: *\nDisallow: /p\nContent-Signal: ai-train=no\n',
    'old/both.example': 'User-agent: *\nContent-Usage: train-ai=y\n',
    'new/both.example':
      'User-agent: *\nDisallow: /q\nContent-Usage: train-ai=y\nContent-Usage: /a train-ai=n\n',
    'old/closed.example': 'User-agent: *\nContent-Usage: train-ai=y\n',
    'new/closed.example':
      'User-agent: *\nDisallow: /a\nContent-Usage: train-ai=y\nContent-Usage: /a train-ai=n\n',
    'old/moved.example': 'User-agent: *\nContent-Usage: /a train-ai=y\n',
    'new/moved.example': 'User-agent: *\nContent-Usage: /b train-ai=y\n',
    'old/token.example': '',
    'new/token.example': 'User-agent: NoTrain\nDisallow: /\n',
    'new/come.example': 'User-agent: *\nContent-Usage: train-ai=n\n',
    'old/gone.example': 'User-agent: *\nContent-Signal: ai-train=yes\n',
    'new/quiet.example': 'User-agent: *\nDisallow:\n',
    'new/found.example': 'User-agent: *\nContent-Usage: train-ai=y\n',
    'new/down.example': 'User-agent: *\nContent-Usage: train-ai=y\n',
  };
  for (const [name, text] of Object.entries(files)) place.write(name, text);
  const failed = [
    { host: 'found.example', status: 404 },
    { host: 'down.example', status: 503 },
  ];
  place.write('old/failed.ndjson', failed.map((each) => `${JSON.stringify(each)}\n`).join(''));
  return place;
}

const ASKED_WORDS = ['-a', 'GPTBot', '--use', 'train,search', '--policy-token', 'train=NoTrain'];

const CSV = `host,agent,change,use,old,new,path,old_rule,new_rule
both.example,GPTBot,extent,,all,part,/q,no-rule,Disallow: /q (line 2)
both.example,GPTBot,use,train,granted,part,/a,Content-Usage: train-ai=y (line 2),Content-Usage: /a train-ai=n (line 4)
closed.example,GPTBot,extent,,all,part,/a,no-rule,Disallow: /a (line 2)
come.example,GPTBot,added,,,all,,,
come.example,GPTBot,added,train,,refused,,,
down.example,GPTBot,extent,,none,all,/,unreachable,no-rule
found.example,GPTBot,use,train,unstated,granted,/,no-signal,Content-Usage: train-ai=y (line 2)
gone.example,GPTBot,removed,,all,,,,
gone.example,GPTBot,removed,train,granted,,,,
moved.example,GPTBot,use,train,part,part,/a,Content-Usage: /a train-ai=y (line 2),no-signal
quiet.example,GPTBot,added,,,all,,,
refused.example,GPTBot,use,train,unstated,refused,/,no-signal,Content-Signal: ai-train=no (line 3)
token.example,GPTBot,use,train,unstated,refused,/,no-signal,Disallow: / (line 2)
`;

test('diff --use prints what hosts say otherwise: from directories, and from tables', async () => {
  const place = twoSides();
  const words = [...ASKED_WORDS, '--format', 'csv', '--exit-code'];
  const { code, text, stderr } = await place.run(['diff', 'old', 'new', ...words]);
  expect({ code, text }).toEqual({ code: 1, text: CSV });
  const [, counts = ''] = /GPTBot: 11 hosts: (.*)/.exec(stderr) ?? [];
  expect(counts.split(', ').sort()).toEqual([
    '1 none → all',
    '1 removed',
    '1 train by other signals',
    '1 train granted (removed)',
    '1 train granted → part',
    '1 train refused (added)',
    '1 train unstated → granted',
    '2 added',
    '2 all → part',
    '2 train unstated → refused',
  ]);
  expect(stderr).toContain('no robots.txt in old and new says anything about search');
  for (const side of ['old', 'new']) {
    await place.run(['compile', '-q', '--signals', '--robots-dir', side, '-o', `${side}.table`]);
  }
  const tables = await place.run(['diff', '-q', 'old.table', 'new.table', ...words]);
  expect(tables).toMatchObject({ code: 1, text: CSV });
});

test('diff --use refuses a table without signals, on either side', async () => {
  const place = twoSides();
  await place.run(['compile', '-q', '--robots-dir', 'old', '-o', 'old.table']);
  for (const sides of [
    ['old.table', 'new'],
    ['new', 'old.table'],
  ]) {
    const { code, stderr } = await place.run(['diff', ...sides, '--use', 'train']);
    expect({ code, stderr }).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('old.table was compiled without what robots.txt files say'),
    });
  }
});

test('diff --use --urls prints URLs with the same verdict and other answers', async () => {
  const place = twoSides();
  const paths = ['refused.example/x', 'refused.example/p', 'both.example/a', 'both.example/q'];
  const others = ['closed.example/a', 'moved.example/c', 'none.example/', 'come.example/'];
  place.write('urls', [...paths, ...others].map((path) => `https://${path}\n`).join(''));
  const words = [...ASKED_WORDS, '--format', 'csv', '--urls', 'urls'];
  const { text } = await place.run(['diff', '-q', 'old', 'new', ...words]);
  expect(text).toBe(`url,agent,use,old,new,old_rule,new_rule
https://refused.example/x,GPTBot,train,unstated,refused,no-signal,Content-Signal: ai-train=no (line 3)
https://both.example/a,GPTBot,train,granted,refused,Content-Usage: train-ai=y (line 2),Content-Usage: /a train-ai=n (line 4)
https://both.example/q,GPTBot,,allow,deny,no-rule,Disallow: /q (line 2)
https://closed.example/a,GPTBot,,allow,deny,no-rule,Disallow: /a (line 2)
https://come.example/,GPTBot,,unknown,allow,unknown-host,no-rule
`);
  const single = ['old/refused.example', 'new/refused.example'];
  const ofFiles = await place.run(['diff', '-q', ...single, ...words, '--exit-code']);
  expect(ofFiles.code).toBe(1);
  expect(ofFiles.text).toContain('https://none.example/,GPTBot,train,unstated,refused,');
  expect(ofFiles.text).not.toContain('/p,');
});

test('diff --use compares two times of one table, and writes a page', async ({ place }) => {
  const captures = [
    ['2024-01-15', 'Content-Signal: ai-train=yes'],
    ['2024-03-01T08:00:00Z', 'Content-Signal: ai-train=no'],
  ].map(([fetched, line]) => ({ host: 'a.example', robots: `User-agent: *\n${line}\n`, fetched }));
  place.write('dated.ndjson', captures.map((each) => `${JSON.stringify(each)}\n`).join(''));
  const source = ['--robots-dir', 'dated.ndjson', '--history', '--signals'];
  await place.run(['compile', '-q', ...source, '-o', 'h.table']);
  const words = ['diff', 'h.table', '--from', '2024-02-01', '--use', 'train', '--format'];
  const { text } = await place.run([...words, 'ndjson', '-q']);
  expect(JSON.parse(text)).toEqual({
    host: 'a.example',
    agent: '*',
    change: 'use',
    use: 'train',
    old: 'granted',
    new: 'refused',
    path: '/',
    old_rule: 'Content-Signal: ai-train=yes (line 2)',
    new_rule: 'Content-Signal: ai-train=no (line 2)',
  });
  const earlier = await place.run([...words, 'csv', '-q', '--to', '2024-02-20', '--exit-code']);
  expect(earlier).toMatchObject({ code: 0, text: '' });
  await place.run([...words.slice(0, -1), '-q', '--report', 'r.json']);
  const { old, new: next, uses } = JSON.parse(place.read('r.json'));
  expect([old, next]).toEqual(['h.table at 2024-02-01T23:59:59.999Z', 'h.table']);
  expect(uses).toEqual([{ agent: '*', use: 'train', old: 'granted', new: 'refused', count: 1 }]);
  await place.run([...words.slice(0, -1), '-q', '--report', 'r.html']);
  const page = place.read('r.html');
  expect(page).toContain('<h2>What the content may be used for (experimental)</h2>');
  expect(page).toContain('>refused</td>');
});
