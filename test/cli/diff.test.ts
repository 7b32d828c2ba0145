import { expect } from 'vitest';
import { Random } from '../random/random.js';
import { lines, test, type Workplace, workplace } from './command-line.js';

/** Two directories that differ in every way. */
function twoSides(): Workplace {
  const place = workplace();
  const files = {
    'old/same.example': 'User-agent: *\nDisallow: /a\n',
    'new/same.example': '# later\nUser-agent: *\n\nDisallow: /a\nDisallow: /ab\n',
    'old/closed.example': 'User-agent: *\nDisallow:\n',
    'new/closed.example': 'User-agent: GPTBot\nDisallow: /\n',
    'old/part.example': 'User-agent: *\nDisallow: /*.pdf$\n',
    'new/part.example': 'User-agent: *\nDisallow: /*.pdf\n',
    'old/gone.example': '',
    'new/come.example': 'User-agent: *\nDisallow: /\n',
    'old/https/scheme.example': '',
    'old/http/scheme.example': '',
    'new/https/scheme.example': 'User-agent: *\nDisallow: /\n',
    'new/http/scheme.example': '',
  };
  for (const [name, text] of Object.entries(files)) place.write(name, text);
  return place;
}

const CSV = `host,agent,change,old,new,path,old_rule,new_rule
closed.example,GPTBot,extent,all,none,/,no-rule,Disallow: / (line 2)
come.example,GPTBot,added,,none,,,
come.example,CCBot,added,,none,,,
gone.example,GPTBot,removed,all,,,,
gone.example,CCBot,removed,all,,,,
part.example,GPTBot,rules,part,part,/any.pdfany,no-rule,Disallow: /*.pdf (line 2)
part.example,CCBot,rules,part,part,/any.pdfany,no-rule,Disallow: /*.pdf (line 2)
https://scheme.example,GPTBot,extent,all,none,/,no-group,Disallow: / (line 2)
https://scheme.example,CCBot,extent,all,none,/,no-group,Disallow: / (line 2)
`;

test('diff prints hosts by effect: from directories, and the same from tables', async () => {
  const place = twoSides();
  const words = ['-a', 'GPTBot,CCBot', '--format', 'csv'];
  const { code, text, stderr } = await place.run(['diff', 'old', 'new', ...words]);
  expect({ code, text }).toEqual({ code: 0, text: CSV });
  const [, counts = ''] = /GPTBot: 6 hosts: (.*)/.exec(stderr) ?? [];
  expect(counts.split(', ').sort()).toEqual([
    '1 added',
    '1 all \u2192 none',
    // The http of scheme.example allows as much as before.
    '1 all \u2192 part',
    '1 by other rules',
    '1 removed',
  ]);
  for (const side of ['old', 'new']) {
    await place.run(['compile', '-q', '--robots-dir', side, '-o', `${side}.table`]);
  }
  const tables = await place.run(['diff', '-q', 'old.table', 'new.table', ...words]);
  expect(tables).toMatchObject({ code: 0, text: CSV, stderr: '' });
});

test('diff of single files, with an exit code for scripts', async () => {
  const place = twoSides();
  const [old, next] = ['old/part.example', 'new/part.example'];
  const changed = await place.run(['diff', '-q', old, next, '--exit-code', '--format', 'ndjson']);
  expect(changed.code).toBe(1);
  expect(JSON.parse(changed.text)).toMatchObject({
    host: 'robots.txt',
    agent: '*',
    change: 'rules',
  });
  const same = ['old/same.example', 'new/same.example'];
  const equal = await place.run(['diff', ...same, '--exit-code']);
  expect(equal).toMatchObject({ code: 0, text: '' });
  expect(equal.stderr).toBe('robots-filter: *: 1 host, no difference\n');
});

test('a reader that goes away ends diff with success', async ({ place }) => {
  // More output than a pipe holds.
  for (const [name, path] of [
    ['old', '/a'],
    ['new', '/b'],
  ]) {
    const robots = `User-agent: *\nDisallow: ${path}\n`;
    const records = Array.from({ length: 2000 }, (_, host) =>
      JSON.stringify({ host: `h${host}.example`, robots }),
    );
    place.write(`${name}.ndjson`, records.join('\n'));
  }
  const command = '$rf diff -q --exit-code old.ndjson new.ndjson | head -c 10; echo " $PIPESTATUS"';
  expect((await place.shell(command)).text).toMatch(/ 0\n$/);
});

test('diff shows what changes only where a wildcard rule meets an unchanged one', async ({
  place,
}) => {
  place.write('old', 'User-agent: *\nDisallow: /shop/\n');
  place.write('new', 'User-agent: *\nDisallow: /shop/\nAllow: /*.html$\n');
  const words = ['diff', '--exit-code', '--format', 'csv', 'old', 'new'];
  expect(await place.run(words)).toMatchObject({
    code: 1,
    text: `host,agent,change,old,new,path,old_rule,new_rule
robots.txt,*,rules,part,part,/shop/.html,Disallow: /shop/ (line 2),Allow: /*.html$ (line 3)
`,
    stderr: 'robots-filter: *: 1 host: 1 by other rules\n',
  });
});

test('diff says which hosts it could not compare on every path', async ({ place }) => {
  const rules = Array.from({ length: 40 }, (_, n) => `Disallow: /*a${n}*b${n}*c${n}*d${n}\n`);
  rules.push('Allow: /*e*f*g*h*i\n', 'Disallow: /*zq\n');
  place.write('old', `User-agent: *\n${rules.join('')}`);
  place.write('new', `User-agent: *\n${rules.join('')}Disallow: /*zq*a\n`);
  const { code, text, stderr } = await place.run('diff --exit-code old new');
  expect({ code, text }).toEqual({ code: 0, text: '' });
  expect(stderr).toBe('robots-filter: *: 1 host, no difference found, 1 not fully compared\n');
  await place.run('diff -q old new --report r.html');
  const page = place.read('r.html');
  expect(page).toContain('No difference was found.');
  expect(page).toContain(
    'many wildcard rules overlap: any other crawler (*): 1 host. A difference may',
  );
});

test('the page of diff says which hosts one side lacks, and what its bars stand for', async ({
  place,
}) => {
  const side = (bodies: Readonly<Record<string, string>>) =>
    Object.entries(bodies)
      .map(([host, robots]) => JSON.stringify({ host, robots }))
      .join('\n');
  const same = { 'a.example': 'User-agent: *\nDisallow: /x\n', 'b.example': '' };
  place.write('old.ndjson', side({ ...same, 'c.example': '', 'gone.example': '' }));
  const shut = 'User-agent: *\nDisallow: /\n';
  place.write('new.ndjson', side({ ...same, 'c.example': shut, 'come.example': '' }));
  await place.run('diff -q old.ndjson new.ndjson -a GPTBot --report r.html');
  const page = place.read('r.html');
  expect(page).toContain(
    'The figures include 1 host that only the new side has, and 1 that only the old side has.',
  );
  expect(page).toContain('The longest bar to a side stands for 20.0\u00a0% of 5 hosts.');
  expect(page).toContain('<span data-name="old rule">no group for it</span>');
});

test('diff counts a host once, by what audits of both sides say of all its schemes and ports', async ({
  place,
}) => {
  const random = new Random(31);
  const bodies = ['User-agent: *\nDisallow: /\n', 'User-agent: *\nDisallow: /a\n', ''];
  const extents: ReadonlyMap<string, string>[] = [];
  for (const side of ['old.ndjson', 'new.ndjson']) {
    const records = Array.from({ length: 80 }, (_, index) => {
      const host = `h${index}.example`;
      const labels = [host, `${host}:8443`, `http://${host}`, `https://${host}`];
      return labels.flatMap((label) =>
        random.chance(0.4) ? { host: label, robots: random.pick(bodies) } : [],
      );
    }).flat();
    place.write(side, records.map((record) => JSON.stringify(record)).join('\n'));
    const { text } = await place.run(['audit', '-q', side, '--format', 'ndjson']);
    const found = new Map<string, string>();
    for (const { host, allowed } of lines(text).map((line) => JSON.parse(line))) {
      const [name = ''] = /h\d+\.example/.exec(host) ?? [];
      found.set(name, (found.get(name) ?? allowed) === allowed ? allowed : 'part');
    }
    extents.push(found);
  }
  const [old, next] = extents;
  const hosts = new Set(extents.flatMap((side) => [...side.keys()]));
  const expected: Record<string, number> = {};
  for (const host of hosts) {
    const [before, after] = [old?.get(host), next?.get(host)];
    if (before === after) continue;
    const both = `${before} \u2192 ${after}`;
    const words = before === undefined ? 'added' : after === undefined ? 'removed' : both;
    expected[words] = (expected[words] ?? 0) + 1;
  }
  const { stderr } = await place.run('diff old.ndjson new.ndjson --report r.json');
  const [, compared, counts = ''] = /\*: (\d+) hosts: (.*)/.exec(stderr) ?? [];
  const told = counts.split(', ').map((each) => /^(\d+) (.*)$/.exec(each)?.slice(1) ?? []);
  const {
    'by other rules': byRules,
    'by other schemes or ports': byPorts,
    ...others
  } = Object.fromEntries(told.map(([count, words = '']) => [words, Number(count)]));
  expect(others).toEqual(expected);
  for (const count of [byRules, byPorts, ...Object.values(expected)]) {
    expect(count).toBeGreaterThan(0);
  }
  expect(Object.keys(expected).length).toBeGreaterThan(6);
  const report = JSON.parse(place.read('r.json'));
  const sumOf = (...words: readonly string[]) =>
    words.reduce((sum, word) => sum + (expected[word] ?? 0), 0);
  expect([report.compared, Number(compared)]).toEqual([hosts.size, hosts.size]);
  const [{ hosts: effects }] = report.agents;
  expect(effects).toMatchObject({
    added: expected.added,
    removed: expected.removed,
    shutOut: sumOf('all \u2192 none', 'part \u2192 none'),
    letIn: sumOf('none \u2192 all', 'none \u2192 part'),
  });
  expect(effects.narrower + effects.wider + effects.other).toBe(
    sumOf('all \u2192 part', 'part \u2192 all') + (byRules ?? 0) + (byPorts ?? 0),
  );
});

test('the page of diff --urls leaves out URLs without a robots.txt, and says how many', async () => {
  const place = twoSides();
  const paths = ['part.example/a.pdf?x', 'part.example/', 'come.example/', 'none.example/', 'x/y'];
  place.write('urls', [...paths.map((path) => `https://${path}`), 'mailto:a@b'].join('\n'));
  const words = ['diff', 'old', 'new', '--urls', 'urls', '-a', 'GPTBot'];
  await place.run([...words, '-q', '--report', 'r.json']);
  const { compared, changed, unknown, invalid } = JSON.parse(place.read('r.json'));
  expect([compared, changed, unknown, invalid]).toEqual([3, 2, 2, 1]);
  const { stderr } = await place.run([...words, '--report', 'r.html']);
  expect(stderr).toContain('GPTBot: 6 URLs (2 unknown, 1 invalid): ');
  const page = place.read('r.html');
  expect(page).toContain(
    '<h1>1 of 3 URLs whose robots.txt is known are newly denied to GPTBot, and 0 are newly allowed</h1>',
  );
  expect(page).toContain(
    'The list has 6 URLs. For 33.3\u00a0% (2) neither side has a robots.txt. 16.7\u00a0% (1) are no URL that a crawler could fetch. The figures leave these out.',
  );
  await place.run(
    [...words.slice(0, 3), '--urls', '-', '--report', 'r.html'],
    'https://x.example/',
  );
  expect(place.read('r.html')).toContain(
    '<h1>There is no URL whose robots.txt is known to compare',
  );
});

test('diff --urls prints the URLs whose verdicts differ, with both rules', async () => {
  const place = twoSides();
  const urls =
    'https://part.example/a.pdf\n\nhttps://part.example/a.pdf?x\nhttps://come.example/\n';
  const words = ['diff', '-q', 'old', 'new', '--urls', '-', '--format', 'csv'];
  const { code, text } = await place.run(words, urls);
  expect({ code, text }).toEqual({
    code: 0,
    text: `url,agent,old,new,old_rule,new_rule
https://part.example/a.pdf?x,*,allow,deny,no-rule,Disallow: /*.pdf (line 2)
https://come.example/,*,unknown,deny,unknown-host,Disallow: / (line 2)
`,
  });
  const records = await place.runAlone(words, '{"url":"https://part.example/"}\n');
  expect(records.code).toBe(2);
  expect(records.stderr).toContain('standard input: holds records, and not one URL on each line');
  for (const [line, message] of [
    ['https://part.example/a.pdf\tx', 'line 2 has a tab in it, so more than one URL'],
    ['https://part.example/\rhttps://come.example/', 'line 2 has a carriage return in it'],
  ] as const) {
    const { code, stderr } = await place.runAlone(words, `https://part.example/\r\n${line}\n`);
    expect(code).toBe(2);
    expect(stderr).toContain(`standard input: ${message}`);
  }
});

test('diff --urls and check judge bytes that are not UTF-8 as the filter does', async ({
  place,
}) => {
  place.write('old/a.example', 'User-agent: *\nDisallow: /%FF\n');
  place.write('new/a.example', 'User-agent: *\nDisallow: /%EF%BF%BD\n');
  place.write('urls', Buffer.from('https://a.example/\xff\n', 'latin1'));
  for (const [side, verdict] of [
    ['old', 'deny'],
    ['new', 'allow'],
  ] as const) {
    expect((await place.run(['-q', '--robots-dir', side, 'urls'])).text).toContain(`${verdict}\t`);
    const { text } = await place.run(['check', '-q', side, '*', '--urls', 'urls']);
    expect(text.split('\t')[0]).toBe(verdict);
  }
  const words = ['diff', '-q', 'old', 'new', '--urls', 'urls', '--format', 'csv'];
  expect((await place.run(words)).text).toContain('https://a.example/%FF,*,deny,allow');
  const utf16 = Buffer.from('\ufeffhttps://a.example/\n', 'utf16le');
  place.write('utf16', utf16);
  for (const path of ['utf16', '-']) {
    const asked = ['check', '-q', 'old', '*', '--urls', path];
    const { code, stderr } = await place.runAlone(asked, utf16);
    expect(code).toBe(2);
    expect(stderr).toContain('UTF-16');
  }
});

test('diff --urls leaves the groups of * out for an agent that disregards them', async ({
  place,
}) => {
  place.write('old/a.example', 'User-agent: *\nDisallow: /\n');
  place.write('new/a.example', 'User-agent: *\nDisallow: /x\n');
  place.write('urls', 'https://a.example/y\n');
  const asked = ['diff', '-q', 'old', 'new', '--format', 'csv', '--urls', 'urls', '-a'];
  expect((await place.run([...asked, 'MyBot:'])).text).toBe('');
  expect((await place.run([...asked, 'MyBot'])).text).toContain('deny,allow');
});

test('diff --urls asks a single robots.txt about the URLs of every host', async ({ place }) => {
  place.write('old.txt', 'User-agent: *\nDisallow: /shop/\n');
  place.write('new.txt', 'User-agent: *\nAllow: /\n');
  const words = ['diff', '--exit-code', '--urls', '-', '--format', 'csv', 'old.txt', 'new.txt'];
  const urls = 'https://shop.example/shop/a\nhttp://b.example:81/shop/\nhttps://b.example/\n';
  const { code, text, stderr } = await place.run(words, urls);
  expect({ code, text, stderr }).toEqual({
    code: 1,
    text: `url,agent,old,new,old_rule,new_rule
https://shop.example/shop/a,*,deny,allow,Disallow: /shop/ (line 2),Allow: / (line 2)
http://b.example:81/shop/,*,deny,allow,Disallow: /shop/ (line 2),Allow: / (line 2)
`,
    stderr: 'robots-filter: *: 3 URLs: 2 deny \u2192 allow\n',
  });
});

test('diff refuses a single robots.txt beside files by host, with and without --urls', async () => {
  const place = twoSides();
  const file = 'old/part.example';
  for (const words of [
    [file, 'new'],
    ['new', file],
    [file, 'new', '--urls', '-'],
  ]) {
    const { code, text, stderr } = await place.run(['diff', ...words], '');
    expect({ code, text }).toEqual({ code: 2, text: '' });
    expect(stderr).toContain(`${file} is one robots.txt, which names no host, and new holds files`);
  }
});

test('diff refuses sides that cannot be compared', async () => {
  const place = twoSides();
  await place.run('compile -q --robots-dir old --profile google -o g.table');
  const profiles = await place.run('diff g.table new');
  expect(profiles.code).toBe(2);
  expect(profiles.stderr).toContain('Compile both with one profile');
  const missing = await place.run('diff old nowhere');
  expect(missing.code).toBe(2);
  expect(missing.stderr).toContain('nowhere');
});
