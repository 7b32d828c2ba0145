import { expect, test } from 'vitest';
import { Workplace } from '../cli/command-line.js';
import { captureOf, recordOf, responseOf } from '../warc/warc-bytes.js';

/*
 * What went wrong where several sources, or two findings of one second, tell of one host.
 */

const URL_OF = 'https://tea.example/robots.txt';

function captured(rule: string, month: number): Buffer {
  const date = `2025-0${month}-01T00:00:00Z`;
  return captureOf(URL_OF, responseOf(200, `User-agent: *\n${rule}\n`), { date });
}

async function ask(place: Workplace, words: string, path = '/tea'): Promise<string> {
  const { text } = await place.run(`${words} -q`.split(' '), `https://tea.example${path}\n`);
  return text.split('\t')[0] ?? '';
}

test('equal captures count each, with another source between them', async () => {
  const place = new Workplace();
  const record = { url: URL_OF, robots: 'User-agent: *\nAllow: /\n', fetched: '2025-02-01' };
  place.write('mid.ndjson', `${JSON.stringify(record)}\n`);
  const equal = [1, 3, 5].map((month) => captured('Disallow: /tea', month));
  place.write('three.warc', Buffer.concat(equal));
  for (const shards of ['', ' --shards 2']) {
    const sources = '--robots-dir three.warc --robots-dir mid.ndjson';
    await place.run(`compile --history ${sources}${shards} -q -o table${shards.length}`);
    const table = `--table table${shards.length}`;
    expect(await ask(place, `${table} --as-of 2025-01-15`)).toBe('deny');
    expect(await ask(place, `${table} --as-of 2025-02-15`)).toBe('allow');
    expect(await ask(place, `${table} --as-of 2025-04-01`)).toBe('deny');
    expect(await ask(place, `${table} --as-of 2025-06-01`)).toBe('deny');
    // Each version names the capture with which it came into force.
    const later = equal[0]?.length ?? 0;
    const { text } = await place.run(
      `${table} --as-of 2025-04-01 --explain -q`.split(' '),
      'https://tea.example/tea\n',
    );
    expect(text).toContain(`three.warc:${later}`);
  }
});

test('--as-of leaves out what other sources found later, and says so', async () => {
  const place = new Workplace();
  const recordOfDate = (path: string, fetched: string) =>
    `${JSON.stringify({ url: URL_OF, robots: `User-agent: *\nDisallow: ${path}\n`, fetched })}\n`;
  place.write('old.ndjson', recordOfDate('/old', '2025-01-01'));
  place.write('late.ndjson', recordOfDate('/', '2026-02-01'));
  place.write('a.warc', captured('Disallow: /warc', 1));
  await place.run('compile --history --robots-dir old.ndjson -q -o h.table');
  for (const [sources, path] of [
    ['--robots-dir h.table --robots-dir late.ndjson', '/old'],
    ['--robots-dir late.ndjson --robots-dir h.table', '/old'],
    ['--robots-dir a.warc --robots-dir late.ndjson', '/warc'],
  ] as const) {
    for (const more of ['-o b.table', '--shards 2 -o b']) {
      const { code, stderr } = await place.run(`compile ${sources} --as-of 2025-02-01 ${more}`);
      expect(code).toBe(0);
      expect(stderr).toContain('late.ndjson:1: This robots.txt has a later date than --as-of');
      const table = `--table ${more.split(' ').at(-1)}`;
      expect(await ask(place, table, '/zzz')).toBe('allow');
      expect(await ask(place, table, path)).toBe('deny');
    }
    const asked = `--robots-dir a.warc --robots-dir late.ndjson --as-of 2025-02-01`;
    expect(await ask(place, asked, '/zzz')).toBe('allow');
  }
  // Without --as-of, the last one counts.
  await place.run('compile --robots-dir old.ndjson --robots-dir late.ndjson -q -o c.table');
  expect(await ask(place, '--table c.table', '/zzz')).toBe('deny');
});

test('a date to come is warned of', async () => {
  const place = new Workplace();
  const fetched = new Date(Date.now() + 5 * 86_400_000).toISOString();
  const soon = new Date(Date.now() + 3_600_000).toISOString();
  const body = 'User-agent: *\nDisallow: /\n';
  place.write(
    'to-come.ndjson',
    `${JSON.stringify({ host: 'a.example', robots: body, fetched })}\n`,
  );
  place.write(
    'soon.ndjson',
    `${JSON.stringify({ host: 'a.example', robots: body, fetched: soon })}\n`,
  );
  for (const more of ['-o a.table', '--shards 2 -o a']) {
    const { stderr } = await place.run(`compile --history --robots-dir to-come.ndjson ${more}`);
    expect(stderr).toContain('to-come.ndjson:1: This robots.txt has a date to come');
  }
  const { stderr } = await place.run('compile --history --robots-dir soon.ndjson -o b.table');
  expect(stderr).not.toContain('to come');
});

test('what was found again in the second of the next finding was found until then', async () => {
  const place = new Workplace();
  const host = 's/https/tea.example';
  place.write(`${host}/history/1/robots.txt`, 'User-agent: *\nDisallow: /tea\n');
  const state = (status: number, since: string, respondedAt: string) =>
    JSON.stringify({ status, since, respondedAt });
  place.write(
    `${host}/history/1/robots.json`,
    state(200, '2025-03-01T00:00:00Z', '2025-03-20T00:00:00.2Z'),
  );
  place.write(`${host}/robots.json`, state(404, '2025-03-20T00:00:00.7Z', '2025-03-25T00:00:00Z'));
  await place.run('compile --history --robots-dir s -q -o d.table');
  expect(await ask(place, '--table d.table --as-of 2025-03-15 --max-age 5d')).toBe('deny');
  expect(await ask(place, '--table d.table --as-of 2025-03-21 --max-age 5d')).toBe('allow');
});

test('a failure that was written by hand counts since its "since"', async () => {
  const place = new Workplace();
  const host = 'x/https/tea.example';
  place.write(`${host}/history/2025-03-01/robots.txt`, 'User-agent: *\nDisallow: /tea\n');
  const state = { status: 503, since: '2025-03-20T00:00:00Z', respondedAt: '2025-03-25T00:00:00Z' };
  place.write(`${host}/robots.json`, JSON.stringify(state));
  await place.run('compile --history --robots-dir x -q -o e.table');
  expect(await ask(place, '--table e.table --as-of 2025-03-19', '/a')).toBe('allow');
  expect(await ask(place, '--table e.table --as-of 2025-03-22', '/a')).toBe('deny');
});

test('a revisit whose payload comes later is warned of, also in a history', async () => {
  const place = new Workplace();
  const digest = { 'WARC-Payload-Digest': 'sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ' };
  const revisit = recordOf({
    type: 'revisit',
    uri: URL_OF,
    date: '2025-02-01T00:00:00Z',
    block: responseOf(200, ''),
    fields: digest,
  });
  const later = captureOf(URL_OF, responseOf(200, 'User-agent: *\nDisallow: /new\n'), {
    date: '2025-03-01T00:00:00Z',
    fields: digest,
  });
  place.write('r.warc', Buffer.concat([captured('Disallow: /old', 1), revisit, later]));
  const { code, stderr } = await place.run('compile --history --robots-dir r.warc -o f.table');
  expect(code).toBe(0);
  expect(stderr).toContain('is missing, or was made later; skipped');
});
