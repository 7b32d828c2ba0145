import { gzipSync } from 'node:zlib';
import { expect } from 'vitest';
import { test, type Workplace, workplace } from './command-line.js';

/*
 * Every command that takes robots.txt files as an argument takes each kind of them, and gives what
 * the options give.
 */

const FILES = {
  'robots/a.example': 'User-agent: *\nDisallow: /a\nCrawl-delay: 3\n',
  'robots/b.example': 'User-agent: GPTBot\nDisallow: /\n',
  'more.ndjson': '{"host":"c.example","robots":"User-agent: *\\nDisallow: /c\\n"}\n',
  'one.txt': 'User-agent: *\nDisallow: /a\n\nUser-agent: GPTBot\nDisallow: /b\n',
};

async function prepared(): Promise<Workplace> {
  const place = workplace();
  for (const [name, text] of Object.entries(FILES)) place.write(name, text);
  const { code } = await place.run('compile -q --records robots more.ndjson -o t');
  expect(code).toBe(0);
  return place;
}

test('audit, compile and serve take as arguments what their options name', async () => {
  const place = await prepared();
  await place.run('compile -q --records --robots-dir robots --robots-dir more.ndjson -o u');
  expect(place.read('t')).toEqual(place.read('u'));
  for (const [words, options] of [
    ['audit robots more.ndjson', 'audit --robots-dir robots --robots-dir more.ndjson'],
    ['audit t', 'audit --table t'],
    ['serve robots', 'serve --robots-dir robots'],
    ['serve t', 'serve --table t'],
  ] as const) {
    const [one, other] = [
      await place.run(`${words} -a GPTBot`),
      await place.run(`${options} -a GPTBot`),
    ];
    expect(one, words).toEqual(other);
    expect(one.code, words).toBe(0);
  }
  const joined = await place.run('audit t robots');
  expect(joined).toMatchObject({ code: 2, text: '' });
  expect(joined.stderr).toContain('robots-filter compile t robots -o all.table');
});

test('inspect shows files of many hosts as their table, and one robots.txt alone', async () => {
  const place = await prepared();
  for (const words of ['a.example', 'b.example -a GPTBot', 'https://a.example --json']) {
    const table = await place.run(`inspect t ${words}`);
    expect(table.text).toContain('example');
    expect(await place.run(`inspect robots ${words}`), words).toEqual(table);
  }
  const totals = await place.run('inspect robots');
  expect(totals.code).toBe(0);
  expect(totals.text).toMatch(/^hosts +\d, with \d authorities$/m);
  const missing = await place.run('inspect robots c.example');
  expect(missing).toMatchObject({ code: 2, stderr: expect.stringContaining('has no robots.txt') });
  const one = await place.run('inspect one.txt -a GPTBot');
  expect(one).toMatchObject({
    code: 0,
    text: `one.txt
  source  one.txt
  access  successful
  agent   GPTBot: part allowed, group gptbot; / allow

          User-agent: gptbot
       5  Disallow: /b
`,
  });
  const object = await place.run('inspect --json -', FILES['one.txt']);
  expect(JSON.parse(object.text)).toMatchObject({
    host: null,
    schemes: [],
    source: 'standard input',
    groups: [{ productTokens: ['*'] }, { productTokens: ['gptbot'] }],
  });
  place.write('dated.ndjson', '{"host":"a.example","robots":"","fetched":"2024-01-15"}\n');
  const history = await place.run('inspect dated.ndjson a.example --history');
  expect(history.text).toContain('2024-01-15T00:00:00Z  successful');
});

test('audit and diff take one robots.txt, whose host they call robots.txt', async () => {
  const place = await prepared();
  const audit = await place.run('audit one.txt -a GPTBot,* --format csv -q');
  expect(audit.text.split('\n').slice(1)).toEqual([
    'robots.txt,GPTBot,part,gptbot,1,allow,,,,,successful,',
    'robots.txt,*,part,*,1,allow,,,,,successful,',
    '',
  ]);
  const piped = await place.run('audit - -a GPTBot,* --format csv -q', FILES['one.txt']);
  expect(piped).toEqual(audit);
  place.write('two.txt', 'User-agent: *\nDisallow: /a\n');
  const diff = await place.run('diff - two.txt -a GPTBot --format csv -q', FILES['one.txt']);
  expect(diff.text.split('\n')[1]).toMatch(/^robots.txt,GPTBot,rules,part,part,/);
  const twice = await place.run('diff - -', FILES['one.txt']);
  expect(twice).toMatchObject({ code: 2, stderr: expect.stringContaining('only once') });
});

test('what is no robots.txt is refused, or said to allow everything, from a pipe too', async ({
  place,
}) => {
  place.write('two.txt', 'User-agent: *\nDisallow: /a\n');
  place.write('two.txt.gz', gzipSync('User-agent: *\nDisallow: /a\n'));
  const commands = ['audit -', 'inspect -', 'diff - two.txt', 'diff two.txt -'];
  for (const command of commands) {
    const packed = await place.shell(`$rf ${command} < two.txt.gz`);
    expect(packed, command).toMatchObject({ code: 2, text: '' });
    expect(packed.stderr).toContain('gzip -dc < FILE | robots-filter');
    for (const [text, what] of [
      ['', 'is empty'],
      ['a.example\nb.example\n', 'has no group'],
      ['{"host":"a.example","robots":"User-agent: *\\nDisallow: /"}\n', 'has no group'],
      ['\ufeff<!doctype html>\n', 'has no group'],
    ] as const) {
      const { code, stderr } = await place.run(command, text);
      expect(code).toBe(0);
      expect(stderr).toContain(`warning: standard input ${what}, so everything is allowed`);
    }
    for (const text of ['User-agent: a\n', '\ufeffuser-agent: *\ndisallow:\n']) {
      const { stderr } = await place.run(command, text);
      expect(stderr).not.toContain('warning: standard input');
    }
  }
  for (const command of ['audit', 'diff two.txt', 'records']) {
    const { code, stderr } = await place.run(`${command} two.txt.gz`);
    expect(code).toBe(2);
    expect(stderr).toContain('two.txt.gz: is gzip data, not text. Type: gzip -dc < FILE');
  }
});
