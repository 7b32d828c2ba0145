import type http from 'node:http';
import { afterAll, describe, expect, it } from 'vitest';
import { remedyOf } from '../../src/fetch/answer.js';
import {
  environmentProxies,
  type ProxySettings,
  proxyFor,
  singleProxy,
} from '../../src/fetch/proxy.js';
import type { FetchAuthority, FetchResult } from '../../src/fetch/result.js';
import type { FetchOptions } from '../../src/fetch/robots-fetcher.js';
import { isWorthRetrying } from '../../src/fetch/schedule.js';
import { fetchOnce, Loopback, ROBOTS, textOf, unreachable } from './servers.js';

const loopback = new Loopback();
afterAll(() => loopback.end());

/** A host that has no address here: only the proxy knows one. */
const named = (scheme: 'http' | 'https', port: number, host = 'a.test'): FetchAuthority => ({
  scheme,
  host,
  port,
});

const UNKNOWN = { resolve: () => Promise.reject(new Error('this machine looked a name up')) };

function through(proxies: ProxySettings, options: Partial<FetchOptions> = {}) {
  return loopback.fetcher({ ...UNKNOWN, allowPrivate: false, proxies, ...options });
}

function fault(systemCode: string): object {
  return { accessResult: 'unreachable', error: { code: 'local-fault', systemCode } };
}

describe('a proxy', () => {
  it.each(['http', 'https'] as const)(
    'opens a tunnel to %s hosts, by their names',
    async (scheme) => {
      let seen: http.IncomingMessage | undefined;
      const host = await loopback[scheme]((request, response) => {
        seen = request;
        response.end(ROBOTS);
      });
      const proxy = await loopback.proxy();
      // The name in the certificate.
      const from = named(scheme, host.port, 'right.test');
      const result = await fetchOnce(through(singleProxy(proxy.url(''), false)), from);
      expect(result).toMatchObject({ accessResult: 'successful', status: 200 });
      expect(textOf(result)).toBe(ROBOTS);
      expect(proxy.requests).toEqual([`CONNECT ${from.host}:${host.port}`]);
      expect(seen).toMatchObject({
        url: '/robots.txt',
        headers: { host: `${from.host}:${host.port}` },
      });
    },
  );

  it('may speak TLS itself, also around that of the host', async () => {
    const proxy = await loopback.proxy(undefined, 'https');
    const proxies = singleProxy(proxy.url(''), false);
    for (const scheme of ['https', 'http'] as const) {
      const { port } = await loopback.serving(ROBOTS, scheme);
      const from = named(scheme, port, 'right.test');
      expect(textOf(await fetchOnce(through(proxies), from))).toBe(ROBOTS);
    }
    expect(proxy.requests).toHaveLength(2);
    const result = await fetchOnce(through(proxies, { ca: undefined }), named('http', 80));
    expect(result).toMatchObject(fault('PROXY_FAILED'));
  });

  it('forwards http requests if it is told to, and gets the credentials alone', async () => {
    let seen: http.IncomingMessage | undefined;
    const host = await loopback.http((request, response) => {
      seen = request;
      response.end(ROBOTS);
    });
    const proxy = await loopback.proxy();
    const url = `http://me:s%65cret@127.0.0.1:${proxy.port}`;
    for (const forwards of [true, false]) {
      const proxies = environmentProxies({ ALL_PROXY: url }, forwards) as ProxySettings;
      const result = await fetchOnce(through(proxies), named('http', host.port));
      expect(textOf(result)).toBe(ROBOTS);
      expect(seen?.headers).toMatchObject({ host: `a.test:${host.port}` });
      expect(JSON.stringify(seen?.headers)).not.toContain('authorization');
    }
    const robots = `http://a.test:${host.port}/robots.txt`;
    expect(proxy.requests).toEqual([`GET ${robots}`, `CONNECT a.test:${host.port}`]);
    const basic = `Basic ${Buffer.from('me:secret').toString('base64')}`;
    expect(proxy.authorizations).toEqual([basic, basic]);
  });

  it('is found in each redirect, by its scheme', async () => {
    const last = await loopback.serving(ROBOTS);
    const first = await loopback.redirecting(`http://b.test:${last.port}/moved`);
    const [one, other] = [await loopback.proxy(), await loopback.proxy()];
    const proxies = environmentProxies(
      { http_proxy: `127.0.0.1:${one.port}`, HTTPS_PROXY: other.url(''), no_proxy: '127.0.0.1' },
      false,
    ) as ProxySettings;
    expect(textOf(await fetchOnce(through(proxies), named('http', first.port)))).toBe(ROBOTS);
    expect(one.requests).toEqual([`CONNECT a.test:${first.port}`, `CONNECT b.test:${last.port}`]);
    expect(other.requests).toEqual([]);
  });

  it('leads to no private address that this machine knows', async () => {
    const proxy = await loopback.proxy();
    const proxies = singleProxy(proxy.url(''), false);
    for (const host of [
      '127.0.0.1',
      '10.1.2.3',
      '[::1]',
      '169.254.169.254',
      'localhost',
      'x.localhost',
    ]) {
      const result = await fetchOnce(through(proxies), { scheme: 'https', host, port: undefined });
      expect(result).toMatchObject(unreachable('address-refused'));
    }
    // A host cannot redirect there either.
    const host = await loopback.redirecting('http://127.0.0.1:1/');
    const result = await fetchOnce(through(proxies), named('http', host.port));
    expect(result).toMatchObject(unreachable('address-refused'));
    expect(proxy.requests).toEqual([`CONNECT a.test:${host.port}`]);
  });

  it('is not for ftp, to which no request is made', async () => {
    const proxies = singleProxy('http://127.0.0.1:9', false);
    const result = await fetchOnce(through(proxies), {
      scheme: 'ftp',
      host: 'a.test',
      port: undefined,
    });
    expect(result).toMatchObject(fault('PROXY_FTP'));
    expect(isWorthRetrying(result)).toBe(false);
  });
});

const head = (status: string, ...fields: string[]) =>
  `HTTP/1.1 ${[status, 'Content-Length: 3', ...fields].join('\r\n')}\r\n\r\nno\n`;

describe('an answer of the proxy', () => {
  const REFUSED = fault('PROXY_REFUSED');
  const FAILED = fault('PROXY_FAILED');
  const UNREACHED = unreachable('connect-failed');

  /** What comes of an answer of a proxy to CONNECT, or to a request. */
  async function resultOf(bytes: string, forwards: boolean): Promise<FetchResult> {
    const proxy = await loopback.proxy((_request, answer) => {
      answer(bytes);
      return true;
    });
    const proxies = singleProxy(proxy.url(''), forwards);
    return fetchOnce(through(proxies), named('http', 80));
  }

  it.each([
    ['407 Proxy Authentication Required', fault('PROXY_AUTHENTICATION'), false],
    ['403 Forbidden', REFUSED, false],
    ['404 Not Found', REFUSED, false],
    ['301 Moved Permanently', REFUSED, false],
    ['500 Internal Server Error', FAILED, true],
    ['502 Bad Gateway', UNREACHED, true],
    ['503 Service Unavailable', UNREACHED, true],
    ['504 Gateway Timeout', UNREACHED, true],
  ] as const)(
    'of %s in place of a tunnel is no answer of the host',
    async (status, expected, again) => {
      const result = await resultOf(head(status, 'Location: http://a.test/'), false);
      expect(result).toMatchObject({ ...expected, status: undefined });
      expect(isWorthRetrying(result)).toBe(again);
      const { code, systemCode } = result.error ?? {};
      expect(remedyOf(systemCode ?? '') === undefined).toBe(code === 'connect-failed');
    },
  );

  it.each([
    ['407 Proxy Authentication Required', '', fault('PROXY_AUTHENTICATION')],
    ['403 Forbidden', 'X-Squid-Error: ERR_ACCESS_DENIED 0', REFUSED],
    ['404 Not Found', 'Proxy-Status: p; error=http_request_denied', REFUSED],
    ['200 OK', 'X-Squid-Error: ERR_ACCESS_DENIED 0', REFUSED],
    ['503 Service Unavailable', 'X-Squid-Error: ERR_DNS_FAIL 0', UNREACHED],
    ['403 Forbidden', 'Via: 1.1 p', { accessResult: 'unavailable', status: 403 }],
    ['404 Not Found', 'Proxy-Status: p; received-status=404', { accessResult: 'unavailable' }],
    ['503 Service Unavailable', '', { accessResult: 'unreachable', status: 503 }],
  ] as const)('of %s with "%s" that is forwarded', async (status, field, expected) => {
    const fields = field === '' ? [] : [field];
    expect(await resultOf(head(status, ...fields), true)).toMatchObject(expected);
  });

  it.each([
    ['no HTTP', 'SOCKS\r\n\r\n', 'does not speak HTTP'],
    ['an interim status alone', 'HTTP/1.1 101 Upgrade\r\n\r\n', 'does not speak HTTP'],
    ['nothing', '', 'closed the connection'],
    ['half a head', 'HTTP/1.1 200 OK\r\nA: b\r\n', 'closed the connection'],
    [
      'an answer before the request',
      'HTTP/1.1 200 OK\r\n\r\nHTTP/1.1 404 No\r\n\r\n',
      'sent data before',
    ],
  ])('with %s opens no tunnel', async (_name, bytes, message) => {
    const result = await resultOf(bytes, false);
    expect(result).toMatchObject(FAILED);
    expect(result.error?.message).toContain(message);
  });

  it('that asks for a password is asked for once, however many hosts there are', async () => {
    const proxy = await loopback.proxy((_request, answer) => {
      answer(head('407 Proxy Authentication Required'));
      return true;
    });
    const url = `http://me:s3cr3t-word@127.0.0.1:${proxy.port}`;
    const fetcher = through(environmentProxies({ http_proxy: url }, false) as ProxySettings);
    for (const host of ['a.test', 'b.test', 'c.test']) {
      const result = await fetchOnce(fetcher, named('http', 80, host));
      expect(result).toMatchObject(fault('PROXY_AUTHENTICATION'));
      expect(JSON.stringify(result)).not.toContain('s3cr3t');
      expect(JSON.stringify(result)).toContain('refuses the name and password');
    }
    expect(proxy.requests).toEqual(['CONNECT a.test:80']);
  });
});

describe('a proxy that fails', () => {
  it('to be there is a fault of this machine', async () => {
    const gone = await loopback.proxy();
    const url = gone.url('');
    await gone.close();
    for (const [proxy, forwards] of [
      [url, false],
      [url, true],
    ] as const) {
      const result = await fetchOnce(through(singleProxy(proxy, forwards)), named('http', 80));
      expect(result).toMatchObject(fault('PROXY_FAILED'));
      expect(result.error?.message).toMatch(
        /^the proxy 127.0.0.1:\d+ cannot be reached: connect ECONNREFUSED/,
      );
      expect(isWorthRetrying(result)).toBe(true);
    }
  });

  it.each([true, false])(
    'by silence about all hosts too, but not by silence about one (forwarding: %s)',
    async (forwards) => {
      const good = await loopback.serving(ROBOTS);
      const proxy = await loopback.proxy((request) => request.url?.includes('mute.test') === true);
      const proxies = singleProxy(proxy.url(''), forwards);
      const mute = (limit: number) => {
        const times = { connectTimeout: limit, headerTimeout: limit };
        return fetchOnce(through(proxies, times), named('http', 80, 'mute.test'));
      };
      expect(await mute(150)).toMatchObject(fault('PROXY_FAILED'));
      let isOver = false;
      const waiting = mute(1500).finally(() => {
        isOver = true;
      });
      // On a busy machine the first of these may be answered before the other is asked, or after.
      while (!isOver) {
        await fetchOnce(through(proxies), named('http', good.port));
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      const late = await waiting;
      expect(late).toMatchObject(unreachable(forwards ? 'header-timeout' : 'connect-timeout'));
    },
  );

  it('within the time of a whole fetch is no finding either', async () => {
    const proxy = await loopback.proxy(() => true);
    for (const forwards of [true, false]) {
      const fetcher = through(singleProxy(proxy.url(''), forwards), { deadline: 100 });
      expect(await fetchOnce(fetcher, named('http', 80))).toMatchObject(fault('PROXY_FAILED'));
    }
  });

  it('to keep the connection loses a body, but a host may do so too', async () => {
    const host = await loopback.answering('HTTP/1.1 200 OK\r\nContent-Length: 99\r\n\r\na', 'end');
    const proxy = await loopback.proxy();
    for (const forwards of [true, false]) {
      const fetcher = through(singleProxy(proxy.url(''), forwards));
      expect(await fetchOnce(fetcher, named('http', host.port))).toMatchObject(
        unreachable('body-broken', { status: 200 }),
      );
    }
  });
});

describe('the environment', () => {
  it.each([
    ['a.test', 'https://a.test/', true],
    ['a.test', 'https://www.a.test/', true],
    ['.a.test', 'https://www.a.test/', true],
    ['*.a.test', 'https://a.test./', true],
    ['A.Test', 'https://a.test/', true],
    ['a.test', 'https://ba.test/', false],
    ['a.test', 'https://a.test.b/', false],
    ['a.test:8443', 'https://a.test:8443/', true],
    ['a.test:443', 'https://a.test/', true],
    ['a.test:443', 'http://a.test/', false],
    ['b.test, a.test', 'https://a.test/', true],
    ['b.test a.test', 'https://a.test/', true],
    ['*', 'https://a.test/', true],
    ['10.0.0.0/8', 'https://10.9.8.7/', true],
    ['10.0.0.0/8', 'https://11.9.8.7/', false],
    ['10.0.0.0/8', 'https://10.test/', false],
    ['10.1.1.1', 'https://10.1.1.1/', true],
    ['0.1', 'https://10.0.0.1/', false],
    ['2001:db8::/32', 'https://[2001:db8::7]/', true],
    ['2001:DB8::7', 'https://[2001:db8::7]/', true],
    ['[2001:db8::7]:443', 'https://[2001:db8::7]/', true],
    ['b\u00fccher.test', 'https://www.xn--bcher-kva.test/', true],
    ['a.test', 'ftp://a.test/', true],
    ['', 'https://a.test/', false],
  ])('with NO_PROXY=%s asks %s directly: %s', (value, url, expected) => {
    const settings = environmentProxies({ ALL_PROXY: 'http://p.test:1', NO_PROXY: value }, false);
    expect(settings?.isExempt(new URL(url))).toBe(expected);
    if (!url.startsWith('ftp')) {
      expect(proxyFor(new URL(url), settings) === undefined).toBe(expected);
    }
  });

  it('has a proxy for each scheme, and for both', () => {
    const [http, https] = ['http://a.test/', 'https://a.test/'].map((url) => new URL(url));
    if (http === undefined || https === undefined) throw new Error('no URL');
    const kinds = (environment: NodeJS.ProcessEnv) => {
      const settings = environmentProxies(environment, false);
      return [http, https].map((url) => proxyFor(url, settings) !== undefined);
    };
    expect(kinds({ http_proxy: 'p:1' })).toEqual([true, false]);
    expect(kinds({ HTTPS_PROXY: 'https://p' })).toEqual([false, true]);
    expect(kinds({ all_proxy: 'p:1' })).toEqual([true, true]);
    expect(kinds({ NO_PROXY: '*', HTTP_PROXY: ' ' })).toEqual([false, false]);
    // The one in lower case wins; an empty one does not count.
    expect(kinds({ http_proxy: 'p:1', HTTP_PROXY: 'socks5://p' })).toEqual([true, false]);
    expect(kinds({ http_proxy: '', HTTP_PROXY: 'p:1' })).toEqual([true, false]);
  });

  it.each([
    [
      { https_proxy: 'socks5://me:s3cr3t@p:1' },
      'https_proxy names no proxy',
      'only http and https',
    ],
    [{ HTTP_PROXY: 'http://me:s3cr3t@p/path' }, 'HTTP_PROXY names', 'more than a host and a port'],
    [{ HTTP_PROXY: 'http://me:s3cr3t%@p' }, 'HTTP_PROXY names', '%25'],
    [{ HTTP_PROXY: 'http://me:s3cr3t@' }, 'HTTP_PROXY names', 'not a URL'],
    [{ HTTP_PROXY: 'p', no_proxy: 'a.test, 10.0.0.0/33' }, 'no_proxy: 10.0.0.0/33', 'Correct it'],
  ])('with a wrong value is refused, without its password: %#', (environment, ...texts) => {
    let message = '';
    try {
      environmentProxies(environment, false);
    } catch (error) {
      message = String(error);
    }
    for (const text of texts) expect(message).toContain(text);
    expect(message).not.toContain('s3cr3t');
  });
});
