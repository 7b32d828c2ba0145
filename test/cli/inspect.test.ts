import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { checksum } from '../../src/kernel/hashes.js';
import { HEADER_CHECKSUM, HEADER_TOKENS } from '../../src/table/format.js';
import { type Workplace, workplace } from './command-line.js';

async function compiled(...options: string[]): Promise<Workplace> {
  const place = workplace();
  place.write('robots/https/example.com_8443/robots.txt', 'user-agent: *\ndisallow: /8443\n');
  place.write('robots/odd.example', 'user-agent: *\ndisallow: /\u001b[31m\n');
  place.write('records.ndjson', '{"host":"gone.example","status":404}\n');
  const args = ['compile', '--robots-dir', 'robots', '--robots-dir', 'records.ndjson'];
  await place.run([...args, '-o', 't', '-q', ...options]);
  return place;
}

test('totals: profile, agents, hosts, rules and the bytes of each section', async () => {
  const place = await compiled();
  const { code, text, stderr } = await place.run('inspect t');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(text).toMatch(/^profile +rfc9309$/m);
  expect(text).toMatch(/^agents +all$/m);
  expect(text).toMatch(/^hosts +4, with 5 authorities$/m);
  expect(text).toMatch(/^rules +8$/m);
  expect(text).toMatch(/^bytes +[\d,]+, [\d,]+ a host$/m);
  for (const section of ['tokens', 'buckets', 'hosts', 'sources']) {
    expect(text).toMatch(new RegExp(`^ {2}${section} +[\\d,]+ +[\\d.]+ %$`, 'm'));
  }
});

test('a reduced table names its agents', async () => {
  const place = await compiled('-a', 'CCBot', '--profile', 'google');
  const { text } = await place.run('inspect t');
  expect(text).toMatch(/^agents +only \*, ccbot$/m);
  expect(text).toMatch(/^profile +google$/m);
});

test('a host: source, access result, groups and rules with their lines', async () => {
  const place = await compiled();
  const { code, text } = await place.run('inspect t http://EXAMPLE.com/any?path');
  expect(code).toBe(0);
  expect(text).toBe(
    [
      'http://example.com, https://example.com',
      '  source  example.com',
      '  access  successful',
      '',
      '          User-agent: *',
      '       2  Disallow: /private/',
      '       3  Allow: /private/open',
      '',
      '          User-agent: ccbot',
      '       9  Disallow: /cc/',
      '      10  Disallow: /*.gif$',
      '',
      '          User-agent: gptbot',
      '       6  Disallow: /',
      '',
    ].join('\n'),
  );
});

test('a bare host means all of its authorities, HOST:PORT one', async () => {
  const place = await compiled();
  const all = await place.run('inspect t example.com');
  expect(all.text).toContain('http://example.com, https://example.com\n');
  expect(all.text).toContain('https://example.com:8443\n');
  const one = await place.run('inspect t example.com:8443');
  expect(one.text.startsWith('https://example.com:8443\n')).toBe(true);
  expect(one.text).not.toContain('/private/');
});

test('an access result without groups', async () => {
  const place = await compiled();
  const { text } = await place.run('inspect t gone.example');
  expect(text).toBe(
    'http://gone.example, https://gone.example\n  source  records.ndjson:1\n  access  unavailable\n',
  );
});

test('rules cannot control a terminal', async () => {
  const place = await compiled();
  const { text } = await place.run('inspect t odd.example');
  expect(text).toContain('Disallow: /\\u001b[31m');
});

test('a host that is not in the table: exit 2; its neighbour with or without www. is named', async () => {
  const place = await compiled();
  const host = await place.run('inspect t example.org');
  expect({ code: host.code, text: host.text }).toEqual({ code: 2, text: '' });
  expect(host.stderr).toBe(
    'robots-filter: t has no robots.txt for example.org. It has www.example.org\n',
  );
  const port = await place.run('inspect t http://example.com:81');
  expect(port.stderr).toContain(
    'It has http://example.com, https://example.com, https://example.com:8443',
  );
  for (const url of [
    'http://u@example.com:81/',
    'http:\\\\example.com:81',
    'http:example.com:81',
  ]) {
    expect((await place.run(['inspect', 't', url])).stderr).toBe(port.stderr);
  }
  const noHost = await place.run(['inspect', 't', 'a b']);
  expect(noHost.stderr).toContain('"a b" is not a host');
});

test('--verify checks the whole table first and prints its counts in further lines', async () => {
  const place = await compiled();
  const { text: totals } = await place.run('inspect t');
  const { code, text, stderr } = await place.run('inspect --verify t');
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(text.startsWith(totals)).toBe(true);
  expect(text.slice(totals.length)).toMatch(
    /^verified +4 hosts, 5 authorities, 5 robots records,\n +\d+ groups, \d+ automata, \d+ states,\n +\d+ blocks?, 8 rules, \d+ texts?\n$/,
  );
  const host = await place.run('inspect --verify t example.com');
  expect(host.text).toBe((await place.run('inspect t example.com')).text);
});

test('--verify refuses a forged table: exit 2, the byte, and what to do', async () => {
  const place = await compiled();
  const path = join(place.path, 't');
  const table = readFileSync(path);
  table.writeUInt32LE(table.readUInt32LE(HEADER_TOKENS) - 1, HEADER_TOKENS);
  table.writeUInt32LE(checksum(table), HEADER_CHECKSUM);
  writeFileSync(path, table);
  expect((await place.run('inspect t')).code).toBe(0);
  const { code, text, stderr } = await place.run('inspect --verify t');
  expect({ code, text }).toEqual({ code: 2, text: '' });
  expect(stderr).toMatch(
    /^robots-filter: t: not a sound table: section tokens, byte 352: .+: do not use it\. Compile the robots\.txt files again\n$/,
  );
});
