import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect } from 'vitest';
import { Loopback, ROBOTS } from '../fetch/servers.js';
import { test, type Workplace } from './command-line.js';

const loopback = new Loopback();
afterAll(() => loopback.end());

/** No proxy of the machine on which the tests run. */
const CLEAN = Object.fromEntries(
  ['http', 'https', 'all', 'no'].flatMap((kind) =>
    [`${kind}_proxy`, `${kind.toUpperCase()}_PROXY`].map((name) => [name, '']),
  ),
);
const PASSWORD = 's3cr3t-w0rd';

/** Runs `fetch` for two hosts that this machine does not know. */
async function fetchThrough(place: Workplace, words: string, environment: NodeJS.ProcessEnv) {
  const { port } = await loopback.serving(ROBOTS);
  const urls = ['a', 'b'].map((name) => `http://${name}.test:${port}/private\n`).join('');
  const command = ['fetch --robots-dir cache --retries 0', words, '-'].filter(Boolean).join(' ');
  return { urls, ...(await place.runAlone(command, urls, { ...CLEAN, ...environment })) };
}

/** The contents of all files. */
function contentsOf(place: Workplace): string {
  const paths = readdirSync(place.path, { recursive: true, encoding: 'utf8' });
  return paths
    .map((path) => join(place.path, path))
    .filter((path) => statSync(path).isFile())
    .map((path) => readFileSync(path, 'latin1'))
    .join('\n');
}

describe('fetch --proxy', () => {
  test('finds robots.txt files, and leaves no password anywhere', async ({ place }) => {
    const proxy = await loopback.proxy();
    const environment = { HTTP_PROXY: `http://me:${PASSWORD}@127.0.0.1:${proxy.port}` };
    const words = '--proxy env --report report.ndjson --json';
    const { urls, code, text, stderr } = await fetchThrough(place, words, environment);
    expect({ code, stderr }).toMatchObject({
      code: 0,
      stderr: expect.stringContaining('2 successful'),
    });
    expect(proxy.requests).toHaveLength(2);
    expect(proxy.authorizations[0]).toMatch(/^Basic /);
    const everything = `${text}${stderr}${contentsOf(place)}`;
    expect(everything).toContain('a.test');
    for (const secret of [
      PASSWORD,
      Buffer.from(`me:${PASSWORD}`).toString('base64'),
      '127.0.0.1',
    ]) {
      expect(everything).not.toContain(secret);
    }
    const filtered = await place.run('-q --robots-dir cache -', urls);
    expect(filtered.text).toMatch(/^deny\t.*\ndeny\t.*\n$/);
  });

  test('records nothing about a host if the proxy refuses', async ({ place }) => {
    const proxy = await loopback.proxy((_request, answer) => {
      answer('HTTP/1.1 403 No\r\n\r\n');
      return true;
    });
    const { code, stderr, urls } = await fetchThrough(place, `--proxy ${proxy.url('')}`, {});
    expect(code).toBe(0);
    expect(stderr).toContain('2 not recorded (2 local-fault PROXY_REFUSED)');
    expect(stderr).toContain('If it refuses http hosts alone, add --proxy-forward');
    const filtered = await place.run('-q --allow-empty --robots-dir cache -', urls);
    expect(filtered.text).toMatch(/^unknown\t.*\nunknown\t.*\n$/);
  });

  test('is named in one line if the environment has a proxy and nobody asked', async ({
    place,
  }) => {
    const environment = { https_proxy: `http://me:${PASSWORD}@p.test:1`, ALL_PROXY: 'p.test:2' };
    const urls = 'http://127.0.0.1/\n';
    const said = async (words: string, more: NodeJS.ProcessEnv = environment) => {
      const command = ['fetch --robots-dir cache --retries 0', words, '-']
        .filter(Boolean)
        .join(' ');
      const { code, stderr } = await place.runAlone(command, urls, { ...CLEAN, ...more });
      expect(code).toBe(0);
      expect(stderr).not.toContain(PASSWORD);
      return stderr.split('\n').filter((line) => line.includes('roxy') || line.includes('PROXY'));
    };
    expect(await said('')).toEqual([
      'robots-filter: https_proxy and ALL_PROXY are set, but fetch goes through no proxy. To use the proxy, add --proxy env; to leave this line out, --proxy none',
    ]);
    expect(await said('--proxy none')).toEqual([]);
    expect(await said('-q')).toEqual([]);
    expect(await said('', {})).toEqual([]);
    expect(await said('--proxy env', {})).toEqual([
      'robots-filter: --proxy env has no effect: HTTP_PROXY, HTTPS_PROXY and ALL_PROXY are not set',
    ]);
    expect(await said('--proxy env', { https_proxy: 'p.test:1', NO_PROXY: '127.0.0.1' })).toEqual([
      'robots-filter: https_proxy alone is set, so http hosts are asked without a proxy. To ask them through one, set HTTP_PROXY, or ALL_PROXY for both',
    ]);
    for (const more of [
      { ALL_PROXY: 'p.test:1' },
      { http_proxy: 'p.test:1', HTTPS_PROXY: 'p.test:1' },
    ]) {
      expect(await said('--proxy env', { ...more, NO_PROXY: '*' })).toEqual([]);
    }
    expect(await said('--proxy http://p.test:3', { no_proxy: 'a.test' })).toEqual([
      'robots-filter: no_proxy is set, but all hosts are asked through http://p.test:3. To ask those of no_proxy without it, use --proxy env',
    ]);
  });

  test('is refused with a password, which no message shows', async ({ place }) => {
    for (const words of [
      `fetch --robots-dir cache --proxy http://me:${PASSWORD}@p.test:1 urls.txt`,
      `fetch --robots-dir cache --proxy me:${PASSWORD}@p.test:1 urls.txt`,
      `fetch --proxy ftp://me:${PASSWORD}@p.test:1 urls.txt`,
      `fetch --proxy http://me:${PASSWORD}@p.test:1 --proxy http://p.test urls.txt`,
      `--fetch --robots-dir cache --proxy=http://me:${PASSWORD}@p.test:1 urls.txt`,
    ]) {
      const { code, stderr } = await place.run(words);
      expect(code).toBe(2);
      expect(stderr).toContain('--proxy');
      expect(stderr).not.toContain(PASSWORD);
    }
    expect((await place.run(`--fetch --robots-dir c --proxy me:${PASSWORD}@p u`)).stderr).toContain(
      'use --proxy env',
    );
    expect(place.names()).not.toContain('cache');
  });
});
