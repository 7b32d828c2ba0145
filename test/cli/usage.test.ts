import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { MAX_ROBOTS_BYTES, MIN_ROBOTS_BYTES } from '../../src/cli/options.js';
import { MAX_BYTES, MIN_BYTES } from '../../src/protocol/parse.js';
import { workplace } from './command-line.js';

test('--version prints the version', async () => {
  const { version } = JSON.parse(
    readFileSync(new URL('../../package.json', import.meta.url), 'utf8'),
  ) as { version: string };
  const { code, text, stderr } = await workplace().run(['--version']);
  expect({ code, text, stderr }).toEqual({ code: 0, text: `${version}\n`, stderr: '' });
});

describe('--help', () => {
  test('names every option and command, with examples', async () => {
    const { code, text, stderr } = await workplace().run(['--help']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    for (const word of [
      '--robots-dir <dir>',
      '--table <file>',
      '-a, --agent <token,…>',
      '--profile <profile>',
      '--input <format>',
      '--url-field <name>',
      '--verdict-field <name>',
      '--allowed',
      '--denied',
      '--unknown <verdict>',
      '--explain',
      '--strict',
      '-o, --output <file>',
      '--threads <n>',
      '--max-line-bytes <n>',
      '--max-robots-bytes <n>',
      '--follow-links',
      '--stats[=json]',
      '--progress',
      '--no-progress',
      '-q, --quiet',
      'compile',
      'check',
      'inspect',
      'Examples:',
    ]) {
      expect(text).toContain(word);
    }
    for (const line of text.split('\n')) expect(line.length).toBeLessThan(120);
  });

  test.each(['compile', 'check', 'inspect'])('%s --help, and help %s', async (command) => {
    const place = workplace();
    const { code, text } = await place.run([command, '--help']);
    expect(code).toBe(0);
    expect((await place.run(['help', command])).text).toBe(text);
    expect(text).toContain(`Usage: robots-filter ${command}`);
    expect(text).toContain('Examples:');
  });
});

describe('wrong usage: exit 2, nothing on standard output, and what to type instead', () => {
  const place = () => {
    const here = workplace();
    here.write('urls.txt', 'https://example.com/\n');
    return here;
  };

  test.each<[args: string, ...sentences: string[]]>([
    ['', 'no robots.txt files', '--robots-dir DIR', '--table FILE'],
    ['urls.txt', 'robots-filter --robots-dir DIR urls.txt', 'robots-filter --table FILE urls.txt'],
    ['robots urls.txt', 'type: robots-filter --robots-dir robots urls.txt'],
    ['--robots-dri robots', "unknown option '--robots-dri'", 'Did you mean --robots-dir?'],
    ['--robots-dir robots --agents GPTBot', "unknown option '--agents'", '--agent?'],
    ['--robots-dir robots compil', 'compil: no such file', 'Or was the command compile meant?'],
    ['--robots-dir robots --allowed --denied', "'--allowed' cannot be used with", "'--denied'"],
    ['--robots-dir robots --table t', '--table and --robots-dir cannot be combined', 'compile'],
    ['--table t --max-robots-bytes 600000', '--max-robots-bytes has no effect on a table'],
    ['--table t --follow-links', '--follow-links has no effect on a table'],
    ['--robots-dir robots --user-agent GPTBot', '--user-agent has no effect', '--fetch', '--agent'],
    ['--table t --concurrency 3', 'has no effect where nothing is fetched. Leave it out'],
    ['--robots-dir robots --allow-private', '--allow-private has no effect', '--fetch'],
    ['--robots-dir robots --ca x.pem', '--ca has no effect where nothing is fetched', '--fetch'],
    ['--robots-dir robots --verdict-field line', '--verdict-field line is the name of a member'],
    ['--robots-dir robots --verdict-field input', '--verdict-field input is the name of a member'],
    ['--table t --table u', "'--table <file>'", 'There is one already: t.'],
    ['compile --robots-dir a -o b -o c', "'-o, --output <file>'", 'There is one already: b.'],
    ['fetch --robots-dir a --ca b --ca c', "'--ca <file>'", 'There is one already: b.'],
    ['fetch --robots-dir a --robots-dir b', "'--robots-dir <dir>'", 'There is one already: a.'],
    ['--table t --stale unknown', '--stale has no effect on a table'],
    ['--table t --unreachable-after 3', '--unreachable-after has no effect on a table'],
    ['--table robots urls.txt', 'robots is a directory', '--robots-dir robots'],
    ['--table none urls.txt', 'none: cannot be read'],
    ['--robots-dir none urls.txt', 'none: cannot be read', 'A directory of robots.txt files'],
    ['--robots-dir urls.txt urls.txt', 'urls.txt: neither a directory nor a file of records'],
    ['--robots-dir robots --threads 0', '--threads', 'a whole number from 1 to 256'],
    ['--robots-dir robots --threads two', '--threads', 'a whole number from 1 to 256'],
    ['--robots-dir robots --max-line-bytes 1e6', '--max-line-bytes', '536,870,912 bytes'],
    ['--robots-dir robots --max-robots-bytes 1000', 'a whole number from 512,000'],
    ['--robots-dir robots --profile rfc', 'Allowed choices are rfc9309, google'],
    ['--robots-dir robots --unknown maybe', 'Allowed choices are allow, deny, unknown'],
    ['--robots-dir robots --input csv', 'Allowed choices are auto, text, ndjson, json'],
    ['--robots-dir robots --url-field a..b', 'such as request.url'],
    ['--robots-dir robots --stats=xml', 'Say --stats or --stats=json'],
    ['--robots-dir robots -a Foo/1.0', '"Foo/1.0" is no product token', 'use "Foo"'],
    ['--robots-dir robots -a A,,B', 'empty product token', '--agent GPTBot'],
    ['--robots-dir robots -a A,B,A', '--agent names "A" twice'],
    ['--robots-dir robots --explain --verdict-field rule', 'Choose another'],
    ['--robots-dir robots --verdict-field url', 'that the URL is read from. Choose another'],
    ['--robots-dir robots --url-field verdict', 'that the URL is read from. Choose another'],
    ['--robots-dir robots --explain --url-field rule', 'that the URL is read from'],
    ['--robots-dir robots --url-field a.b --verdict-field a', 'Choose another'],
    ['--robots-dir robots compile -o t', '--robots-dir stands before the command'],
    ['compile robots -o t', 'robots-filter compile --robots-dir robots -o t'],
    ['compile -o t', 'robots-filter compile --robots-dir DIR -o t'],
    ['compile --robots-dir robots -o -', 'a table is written to a file'],
    ['compile --robots-dir robots', 'robots-filter compile --robots-dir robots -o FILE'],
    ['check robots/example.com GPTBot', "missing required argument 'url'"],
    ['inspect', "missing required argument 'table'"],
    ['help nosuch', 'there is no command nosuch', 'robots-filter help COMMAND', 'compile, fetch'],
    ['help compil', 'there is no command compil', 'Was compile meant?'],
    [
      'check robots/example.com GPTBot,CCBot https://example.com/',
      '"GPTBot,CCBot" is a list',
      'robots-filter check robots/example.com GPTBot https://example.com/',
    ],
    ['--robots-dir robots --input text --url-field u', '--url-field has no effect on text'],
    ['--robots-dir robots --url-field u urls.txt', 'urls.txt is text', '--input ndjson'],
    ['--robots-dir robots --verdict-field record', 'records that are no objects'],
    ['inspect t --all', "unknown option '--all'"],
  ])('robots-filter %s', async (args, ...sentences) => {
    const here = place();
    const before = here.names();
    const { code, text, stderr } = await here.run(args === '' ? [] : args.split(' '));
    expect({ code, text }).toEqual({ code: 2, text: '' });
    expect(stderr.startsWith('robots-filter: ')).toBe(true);
    for (const sentence of sentences) expect(stderr).toContain(sentence);
    expect(stderr).not.toContain('    at ');
    expect(here.names()).toEqual(before);
  });

  test('a table in the place of a directory, or of a list', async () => {
    const here = place();
    await here.run(['compile', '--robots-dir', 'robots', '-o', 't', '-q']);
    expect((await here.run(['--robots-dir', 't'])).stderr).toContain('t is a table. Say --table t');
    expect((await here.run(['t', 'urls.txt'])).stderr).toContain(
      't is a table. Type: robots-filter --table t urls.txt',
    );
  });
});

test('--url-field is no error where an input may have the member', async () => {
  const here = workplace();
  here.write('urls.txt', 'https://example.com/\n');
  here.write('empty.txt', '\n');
  here.write('records', '{"u":"https://example.com/"}\n');
  for (const files of [['empty.txt'], ['records'], ['records', 'urls.txt']]) {
    const { code, stderr } = await here.run([
      '--robots-dir',
      'robots',
      '--url-field',
      'u',
      ...files,
    ]);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  }
  const { code, stderr } = await here.run([
    'fetch',
    '--robots-dir',
    'c',
    '--url-field',
    'u',
    'urls.txt',
  ]);
  expect(code).toBe(2);
  expect(stderr).toContain('urls.txt is text, one URL a line');
});

test('the bounds of --max-robots-bytes are those of the parser', () => {
  expect([MIN_ROBOTS_BYTES, MAX_ROBOTS_BYTES]).toEqual([MIN_BYTES, MAX_BYTES]);
});
