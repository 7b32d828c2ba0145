import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { parquetWriteBuffer } from 'hyparquet-writer';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AccessResult, PROFILES, type Profile } from '../../src/protocol/verdict.js';
import { Workplace } from '../cli/command-line.js';
import { captureOf, responseOf } from '../warc/warc-bytes.js';

/*
 * One status means the same by whichever way it comes: by a fetch, from what a fetch stored under
 * any profile, and from records, Parquet, WARC files, captures of them, and tables.
 */

type Case = { readonly [P in Profile]: AccessResult } & { readonly status: number };

const FILE = new URL('../../fixtures/conformance/statuses.ndjson', import.meta.url);
const CASES = readFileSync(FILE, 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Case);

/** Only a success may make these rules count. */
const ROBOTS = 'user-agent: *\ndisallow: /private\n';

/** `VERDICT REASON` of /page and of /private. */
const VERDICTS: Readonly<Record<AccessResult, string>> = {
  successful: 'allow no-rule, deny rule',
  unavailable: 'allow unavailable, allow unavailable',
  unreachable: 'deny unreachable, deny unreachable',
};

const servers: Server[] = [];
let requests = 0;
let place: Workplace;
/** `http://127.0.0.1:PORT` of the server that answers with the status of each case. */
let origins: readonly string[] = [];
let urls = '';

async function originOf(status: number): Promise<string> {
  const server = createServer((_request, response) => {
    requests++;
    response.writeHead(status);
    response.end(ROBOTS);
  });
  servers.push(server);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** Runs the program; its exit status must be 0. */
async function run(...words: readonly string[]): Promise<string> {
  const { code, text, stderr } = await place.run(words, urls);
  expect(stderr).toBe('');
  expect(code).toBe(0);
  return text;
}

/** Fetches from the servers of a list into a new store. */
async function fetchInto(store: string, list: string, ...words: readonly string[]): Promise<void> {
  const fetching = ['fetch', '--quiet', '--allow-private', '--retries', '0', '--pause', '0'];
  await run(...fetching, '--robots-dir', store, ...words, list);
}

/** What a run of the filter says of each case; all but 200 to 299 look alike in their two URLs. */
async function judged(...words: readonly string[]): Promise<string[]> {
  const text = await run('--quiet', '--explain', ...words, 'urls.txt');
  const verdicts = text
    .trim()
    .split('\n')
    .map((line) => line.split('\t', 3).filter((_, column) => column !== 1));
  return origins.map((_, index) =>
    verdicts
      .slice(2 * index, 2 * index + 2)
      .map((words) => words.join(' '))
      .join(', '),
  );
}

function expected(profile: Profile): string[] {
  return CASES.map((one) => VERDICTS[one[profile]]);
}

beforeAll(async () => {
  place = new Workplace(false);
  origins = await Promise.all(CASES.map(({ status }) => originOf(status)));
  urls = origins.map((origin) => `${origin}/page\n${origin}/private\n`).join('');
  place.write('urls.txt', urls);
  const asked = origins.map((origin) => `${origin}/robots.txt`);
  const records = CASES.map(({ status }, index) => ({ url: asked[index], status, robots: ROBOTS }));
  place.write('records.ndjson', records.map((record) => JSON.stringify(record)).join('\n'));
  const columnData = [
    { name: 'url', data: asked, type: 'STRING' as const },
    { name: 'robots', data: asked.map(() => ROBOTS), type: 'STRING' as const },
    { name: 'status', data: CASES.map(({ status }) => status), type: 'INT32' as const },
  ];
  place.write('rows.parquet', new Uint8Array(parquetWriteBuffer({ columnData })));
  const captured = CASES.map(({ status }, index) =>
    captureOf(asked[index] ?? '', responseOf(status, ROBOTS)),
  );
  place.write('captured.warc', Buffer.concat(captured));
  for (const profile of PROFILES) {
    const lines = await run('captures', '--quiet', '--profile', profile, 'captured.warc');
    place.write(`${profile}.captures.ndjson`, lines);
    const words = ['--profile', profile, '--report', `report-${profile}`];
    await fetchInto(`store-${profile}`, 'urls.txt', ...words);
    const table = ['--profile', profile, '-o', `${profile}.table`];
    await run('compile', '--quiet', '--robots-dir', 'records.ndjson', ...table);
  }
});

afterAll(() => {
  place.remove();
  for (const server of servers) server.close();
  for (const server of servers) server.closeAllConnections();
});

it('has 429, its neighbours and one of each hundred, and profiles that differ in 429 alone', () => {
  const differing = CASES.filter((one) => one.google !== one.rfc9309);
  expect(differing.map(({ status }) => status)).toEqual([429]);
  expect(CASES.every((one) => one['draft-koster-rep-00'] === one.rfc9309)).toBe(true);
  const statuses = CASES.map(({ status }) => status);
  for (const status of [300, 404, 428, 429, 430, 500]) expect(statuses).toContain(status);
});

describe.each(PROFILES)('%s: a status means the same', (profile) => {
  it('in a fetch', () => {
    const lines = place.read(`report-${profile}`).trim().split('\n');
    const found = new Map(
      lines.map((line) => {
        const { authority, accessResult } = JSON.parse(line) as Record<string, string>;
        return [authority, accessResult];
      }),
    );
    expect(origins.map((origin) => found.get(origin))).toEqual(CASES.map((one) => one[profile]));
  });

  it('in a run of the filter that finds each stored answer still fresh', async () => {
    const words = ['--fetch', '--robots-dir', `store-${profile}`, '--profile', profile];
    expect(await judged(...words)).toEqual(expected(profile));
    expect(requests).toBe(PROFILES.length * CASES.length);
  });

  it.each(PROFILES)('in what a fetch under %s stored', async (other) => {
    const words = ['--robots-dir', `store-${other}`, '--profile', profile];
    expect(await judged(...words)).toEqual(expected(profile));
  });

  it.each(['records.ndjson', 'rows.parquet', 'captured.warc'])('in %s', async (source) => {
    expect(await judged('--robots-dir', source, '--profile', profile)).toEqual(expected(profile));
  });

  it.each(PROFILES)('in captures that were written under %s', async (other) => {
    const words = ['--robots-dir', `${other}.captures.ndjson`, '--profile', profile];
    expect(await judged(...words)).toEqual(expected(profile));
  });

  it('in what check says of records', async () => {
    const words = ['check', '--quiet', '--profile', profile, 'records.ndjson', '*', '-'];
    const { text } = await place.run(words, urls);
    const lines = text.trim().split('\n');
    const found = origins.map((_, index) =>
      lines
        .slice(2 * index, 2 * index + 2)
        .map((line) =>
          line
            .split('\t', 3)
            .filter((_, column) => column !== 1)
            .join(' '),
        )
        .join(', '),
    );
    expect(found).toEqual(expected(profile));
  });

  it('in a table, and in a table of a table', async () => {
    const words = ['compile', '--quiet', '--robots-dir', `${profile}.table`, '--profile', profile];
    await run(...words, '-o', `${profile}.again.table`);
    for (const table of [`${profile}.table`, `${profile}.again.table`]) {
      expect(await judged('--table', table)).toEqual(expected(profile));
    }
  });
});

describe.each([
  ['allow', 'unavailable'],
  ['deny', 'unreachable'],
] as const)('with --on-429 %s', (choice, access) => {
  it.each(PROFILES)(
    '429 means so in each profile, and 428 stays, after a fetch under %s',
    async (by) => {
      const chosen = [428, 429].map((status) => CASES.findIndex((one) => one.status === status));
      const two = `two-${choice}-${by}`;
      place.write(`${two}.txt`, chosen.map((index) => `${origins[index]}/page\n`).join(''));
      await fetchInto(two, `${two}.txt`, '--profile', by, '--on-429', choice);
      for (const profile of PROFILES) {
        const words = ['--quiet', '--explain', '--robots-dir', two, '--profile', profile];
        const lines = (await run(...words, `${two}.txt`)).trim().split('\n');
        expect(lines.map((line) => line.split('\t')[2])).toEqual(['unavailable', access]);
      }
    },
  );
});
