import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { TableBuilder } from '../../src/compile/table-builder.js';
import { Table } from '../../src/judge/table.js';
import { Robots } from '../../src/library/index.js';
import { parseUses } from '../../src/protocol/uses.js';
import { lines, test, workplace } from '../cli/command-line.js';

/* Results about uses that are almost certainly not meant. */

const NO_TRAIN =
  'User-agent: NoTrain\nDisallow: /\n\nUser-agent: *\nContent-Signal: ai-train=yes\n';
const TWO_HOSTS = ['a', 'b'].map(
  (host) => `${JSON.stringify({ host: `${host}.example`, robots: NO_TRAIN })}\n`,
);
const ASK = ['--use', 'train', '--policy-token'];
const MISSPELT =
  'has a group for the policy token NoTrian, so nothing is said by it. Did you mean notrain?';

test('a policy token that no robots.txt names is warned of', async ({ place }) => {
  place.write('r.ndjson', TWO_HOSTS.join(''));
  place.write('a.txt', NO_TRAIN);
  await place.run('compile -q --signals --robots-dir r.ndjson -o t');
  await place.run('compile -q --signals --shards 2 --robots-dir r.ndjson -o d');
  const url = 'https://a.example/\nhttps://b.example/\n';
  for (const [source, name] of [
    [['--robots-dir', 'r.ndjson'], 'r.ndjson'],
    [['--table', 't'], 't'],
    [['--table', 'd'], 'd'],
    [['audit', '--table', 't', '-a', 'bot'], 't'],
    [['diff', 't', 't', '-a', 'bot'], 't'],
  ] as const) {
    const wrong = await place.run([...source, ...ASK, 'train=NoTrian'], url);
    expect(wrong.stderr, source.join(' ')).toContain(
      `warning: no robots.txt in ${name} ${MISSPELT}`,
    );
    const right = await place.run([...source, ...ASK, 'train=notrain'], url);
    expect(right.stderr).not.toContain('policy token');
  }
  const checked = await place.run(['check', ...ASK, 'train=NoTrian', 'a.txt', 'bot', '/']);
  expect(checked.stderr).toContain(`warning: a.txt has no group for the policy token NoTrian`);
});

test('a misspelt use is warned of, although its policy token is kept in the table', async ({
  place,
}) => {
  place.write('r.ndjson', TWO_HOSTS.join(''));
  const args = ['--robots-dir', 'r.ndjson', '--use', 'trian', '--policy-token', 'trian=X'];
  const { stderr } = await place.run(args, 'https://a.example/\n');
  expect(stderr).toContain('no robots.txt in r.ndjson says anything about trian');
});

test('a warning about shards that were read does not speak of others', async ({ place }) => {
  const records = ['a', 'b', 'c', 'd', 'e'].map((host) => {
    const key = host === 'b' ? 'ai-train=no' : 'search=no';
    const robots = `User-agent: *\nContent-Signal: ${key}\n`;
    return `${JSON.stringify({ host: `${host}.example`, robots })}\n`;
  });
  place.write('r.ndjson', records.join(''));
  await place.run('compile -q --signals --shards 8 --robots-dir r.ndjson -o d');
  const short = await place.run('--table d --use train', 'https://a.example/\n');
  expect(short.stderr).toContain('no robots.txt in the shards in memory of d says anything about');
  const long = await place.run('--table d --use train', 'https://b.example/\n');
  expect(long.stderr).toBe('');
});

test.each(['--signals', '--records'])('shards with and without %s are no table', async (option) => {
  const place = workplace();
  place.write('r.ndjson', TWO_HOSTS.join(''));
  const compile = 'compile -q --robots-dir r.ndjson --shards 2 -o d --only';
  await place.run(`${compile} 0 ${option}`);
  await place.run(`${compile} 1`);
  const joined = await place.run(`${compile} manifest ${option}`);
  expect(joined.code).toBe(2);
  expect(joined.stderr).toContain(`without ${option}, unlike part-00000.table`);
  // A manifest of another program may name such parts all the same.
  const other = compile.replace('-o d', '-o other');
  for (const part of ['0', '1', 'manifest']) await place.run(`${other} ${part}`);
  for (const part of ['0', '1', 'manifest']) await place.run(`${compile} ${part} ${option}`);
  const [mixed, plain] = ['d', 'other'].map((name) =>
    JSON.parse(place.read(`${name}/manifest.json`)),
  );
  mixed.parts[1] = plain.parts[1];
  mixed.bytes = mixed.parts[0].bytes + mixed.parts[1].bytes;
  place.write('mixed/manifest.json', JSON.stringify(mixed));
  for (const [part, from] of ['d', 'other'].entries()) {
    const name = `part-0000${part}.table`;
    place.write(`mixed/${name}`, readFileSync(join(place.path, from, name)));
  }
  const opened = await place.run('inspect mixed');
  expect(opened.code).toBe(2);
  expect(opened.stderr).toContain(`only some of the parts were compiled with ${option}`);
});

test('shards that all have signals answer about uses', async ({ place }) => {
  place.write('r.ndjson', TWO_HOSTS.join(''));
  const compile = 'compile -q --robots-dir r.ndjson --shards 2 -o d --only';
  await place.run(`${compile} 0 --signals`);
  await place.run(`${compile} 1 --signals`);
  expect((await place.run(`${compile} manifest --signals`)).code).toBe(0);
  const { text } = await place.run('--table d --use train', 'https://a.example/\n');
  expect(lines(text)).toEqual(['allow\tgranted\thttps://a.example/']);
});

test('two columns with one name are refused', async ({ place }) => {
  place.write('r.ndjson', TWO_HOSTS.join(''));
  place.write('u.csv', 'url\nhttps://a.example/\n');
  const ask = ['--robots-dir', 'r.ndjson', '-q', 'u.csv'];
  for (const more of [
    ['-a', 'a,a_b', '--use', 'b_c,c'],
    ['-a', 'a,reason_a', '--use', 'train', '--explain'],
  ]) {
    const { code, stderr, text } = await place.run([...ask, ...more]);
    expect({ code, text }).toEqual({ code: 2, text: '' });
    expect(stderr).toContain('the output would have two columns called "');
  }
});

test('policy tokens that are no object of texts are refused', () => {
  const robots = Robots.parse(NO_TRAIN);
  for (const policyToken of [5, new Map(), ''] as unknown as string[]) {
    expect(() => robots.use('/', 'bot', 'train', { policyToken })).toThrow(/policyToken of/);
  }
  for (const policyTokens of [new Map([['train', 'T']]), 'T', { train: 5 }] as unknown[]) {
    const given = policyTokens as Record<string, string>;
    expect(() => parseUses(['train'], given)).toThrow(/the policy tokens are|not a product token/);
  }
});

test('the name of signals is no product token of an agent', () => {
  const text = 'User-agent: *\nContent-Usage: /press train-ai=y\nDisallow: /x\n';
  const builder = new TableBuilder({ profile: 'google', signals: true });
  const host = { scheme: undefined, host: 'h', port: undefined };
  builder.add(host, Buffer.from(text), { source: 'a' });
  const table = Table.from(builder.build());
  const agent = ['content-usage:train-ai:*'];
  expect(table.verdict('http://h/press', agent).verdict).toBe('allow');
  expect(table.verdict('http://h/x', agent).verdict).toBe('deny');
  expect(table.use('http://h/press', agent, 'train').answer).toBe('granted');
});
