import { afterAll, describe, expect, it } from 'vitest';
import { withoutLocalAddress } from '../../src/fetch/transport/connection.js';
import { localFaultOf, remedyOf } from '../../src/fetch/transport/local-fault.js';
import { type NameServers, systemResolver } from '../../src/fetch/transport/resolver.js';
import { errorText } from '../../src/files/system-error.js';
import { fetchOnce, Loopback } from './servers.js';

const loopback = new Loopback();
afterAll(() => loopback.end());

function failing(code: string): Error {
  return Object.assign(new Error(`query ${code}`), { code });
}

const MUTE = { scheme: 'http', host: 'mute.test', port: undefined } as const;
const LOCAL = { accessResult: 'unreachable', error: { code: 'local-fault' } };

describe('faults of this machine', () => {
  it('say nothing of an address that this side never had', () => {
    for (const [said, shown] of [
      // Node's words where no socket could be made, and where one was.
      ['connect EMFILE 127.0.0.1:80 - Local (undefined:undefined)', 'connect EMFILE 127.0.0.1:80'],
      [
        'connect EACCES 127.0.0.1:80 - Local (0.0.0.0:0)',
        'connect EACCES 127.0.0.1:80 - Local (0.0.0.0:0)',
      ],
    ] as const) {
      const error = Object.assign(new Error(said), { code: 'E' });
      expect(errorText(withoutLocalAddress(error))).toBe(shown);
      expect(withoutLocalAddress(error)).toBe(error);
    }
    expect(withoutLocalAddress(undefined)).toBe(undefined);
  });

  for (const [codes, fault] of [
    [['EMFILE'], 'EMFILE'],
    [['ENETUNREACH', 'ENETUNREACH'], 'ENETUNREACH'],
    [['EADDRNOTAVAIL', 'EACCES'], 'EADDRNOTAVAIL'],
    // One address was not tried at all: nobody knows.
    [['ECONNREFUSED', 'EMFILE'], 'EMFILE'],
    // IPv4 was tried, and there is no IPv6 here.
    [['ECONNREFUSED', 'ENETUNREACH'], undefined],
    [['ENETUNREACH', 'connect-timeout'], undefined],
    [['EHOSTUNREACH'], undefined],
    [['ETIMEDOUT'], undefined],
    [['ECONNRESET'], undefined],
    [[''], undefined],
  ] as const) {
    it(`${codes.join(', ')}: ${fault}`, () => {
      expect(localFaultOf(codes)).toBe(fault);
      if (fault !== undefined) expect(remedyOf(fault)).toBeTruthy();
    });
  }

  for (const [code, systemCode] of [
    ['EAI_AGAIN', 'EAI_AGAIN'],
    ['EAI_SYSTEM', 'EAI_AGAIN'],
    ['EMFILE', 'EMFILE'],
  ] as const) {
    it(`a look-up that fails with ${code} is no finding`, async () => {
      const fetcher = loopback.fetcher({ resolve: () => Promise.reject(failing(code)) });
      const result = await fetchOnce(fetcher, MUTE);
      expect(result).toMatchObject({ ...LOCAL, error: { code: 'local-fault', systemCode } });
    });
  }

  it('a name that does not exist, or whose servers fail, is one', async () => {
    for (const code of ['ENOTFOUND', 'ESERVFAIL', 'EREFUSED', 'ENODATA']) {
      const fetcher = loopback.fetcher({ resolve: () => Promise.reject(failing(code)) });
      expect(await fetchOnce(fetcher, MUTE)).toMatchObject({ error: { code: 'dns-failed' } });
    }
  });
});

describe('name servers that are silent', () => {
  /** Name servers that answer for `good.*`, and are silent for all others until that long after. */
  function servers(answering: boolean): NameServers {
    const question = async (host: string) => {
      if (host.startsWith('good') && answering) return ['127.0.0.1'];
      await new Promise((resolve) => setTimeout(resolve, 20));
      throw failing('ETIMEOUT');
    };
    return { resolve4: question, resolve6: question } as unknown as NameServers;
  }

  it('to all are the fault of this machine', async () => {
    const resolve = systemResolver(false, servers(false));
    for (const host of ['good.test', 'mute.test']) {
      expect(await fetchOnce(loopback.fetcher({ resolve }), { ...MUTE, host })).toMatchObject(
        LOCAL,
      );
    }
  });

  it('to one name while others are answered are that name’s own', async () => {
    const resolve = systemResolver(false, servers(true));
    const [mute, good] = await Promise.allSettled([resolve('mute.test'), resolve('good.test')]);
    expect(good.status).toBe('fulfilled');
    expect(mute).toMatchObject({ reason: { code: 'ETIMEOUT' } });
    // Nobody else was asked meanwhile: nobody knows.
    await expect(resolve('mute.test')).rejects.toMatchObject({ code: 'local-fault' });
  });
});
