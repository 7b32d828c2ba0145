import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, it } from 'vitest';
import { decodingFailure, localFaultOf, remedyOf, tlsFailure } from '../../src/fetch/answer.js';
import { withoutLocalAddress } from '../../src/fetch/connection.js';
import { type HostAddress, type NameServers, systemResolver } from '../../src/fetch/resolver.js';
import { errorText } from '../../src/files/system-error.js';
import { bundledScript } from '../bundled-script.js';
import { fetchOnce, Loopback, unreachable } from './servers.js';

const loopback = new Loopback();
afterAll(() => loopback.end());

function failing(code: string): Error {
  return Object.assign(new Error(`query ${code}`), { code });
}

const MUTE = { scheme: 'http', host: 'mute.test', port: undefined } as const;
const LOCAL = unreachable('local-fault');

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
    ['EAI_FAIL', 'EAI_AGAIN'],
    ['EMFILE', 'EMFILE'],
    ['ENOMEM', 'ENOMEM'],
    // What Node says if it has no descriptor for a question.
    ['EINVAL', 'EAI_AGAIN'],
    ['ECONNREFUSED', 'EAI_AGAIN'],
    ['EFILE', 'EAI_AGAIN'],
    ['EACCES', 'EAI_AGAIN'],
  ] as const) {
    it(`a look-up that fails with ${code} is no finding`, async () => {
      const fetcher = loopback.fetcher({ resolve: () => Promise.reject(failing(code)) });
      const result = await fetchOnce(fetcher, MUTE);
      expect(result).toMatchObject({ ...LOCAL, error: { code: 'local-fault', systemCode } });
    });
  }

  it('a name that does not exist, or whose servers fail, is one', async () => {
    for (const code of ['ENOTFOUND', 'ESERVFAIL', 'EREFUSED', 'ENODATA', 'EBADNAME']) {
      const fetcher = loopback.fetcher({ resolve: () => Promise.reject(failing(code)) });
      expect(await fetchOnce(fetcher, MUTE)).toMatchObject({ error: { code: 'dns-failed' } });
    }
  });
});

describe('a shortage that ends something else', () => {
  it('TLS, or the decoder of a body', () => {
    for (const code of ['EMFILE', 'ENFILE', 'ENOMEM', 'ENOBUFS', 'ENETDOWN']) {
      for (const failure of [tlsFailure(failing(code)), decodingFailure(failing(code))]) {
        expect(failure).toMatchObject({ code: 'local-fault', systemCode: code });
      }
    }
    expect(decodingFailure(failing('Z_MEM_ERROR'))).toMatchObject({ systemCode: 'ENOMEM' });
    expect(decodingFailure(failing('Z_DATA_ERROR'))).toMatchObject({ code: 'decoding-failed' });
    expect(tlsFailure(failing('ECONNRESET'))).toMatchObject({ code: 'tls-failed' });
  });
});

describe('name servers that cannot be asked', () => {
  /** What comes of these failures of both questions, and of these answers of the system. */
  async function outcome(v4: string, v6: string, system: (readonly HostAddress[] | string)[]) {
    const servers = {
      resolve4: async () => Promise.reject(failing(v4)),
      resolve6: async () => Promise.reject(failing(v6)),
    } as unknown as NameServers;
    const asked: string[] = [];
    const resolve = systemResolver(false, servers, async (host) => {
      asked.push(host);
      const next = system.shift() ?? 'unexpected';
      if (typeof next === 'string') throw failing(next);
      return next;
    });
    const result = await fetchOnce(loopback.fetcher({ resolve, allowPrivate: false }), MUTE);
    return `${result.error?.code} ${asked.length}`;
  }
  const HERE: readonly HostAddress[] = [{ address: '127.0.0.1', family: 4 }];

  it('are no finding, whoever else was answered, unless the system finds none twice', async () => {
    for (const [v4, v6, system, expected] of [
      ['ECONNREFUSED', 'ECONNREFUSED', [HERE], 'address-refused 1'],
      ['ECONNREFUSED', 'ECONNREFUSED', ['EINVAL'], 'local-fault 1'],
      ['ECONNREFUSED', 'ECONNREFUSED', ['EAI_AGAIN'], 'local-fault 1'],
      ['ECONNREFUSED', 'ECONNREFUSED', ['ENOTFOUND', 'ENOTFOUND'], 'dns-failed 2'],
      ['ECONNREFUSED', 'ECONNREFUSED', ['ENOTFOUND', 'EAI_AGAIN'], 'local-fault 2'],
      ['ECONNREFUSED', 'ECONNREFUSED', ['ENOTFOUND', HERE], 'address-refused 2'],
      // One family was answered: there may be addresses of the other.
      ['ENODATA', 'ECONNREFUSED', ['EINVAL'], 'local-fault 1'],
      ['EFILE', 'ENODATA', ['EINVAL'], 'local-fault 1'],
      ['ENOMEM', 'ENODATA', ['EINVAL'], 'local-fault 1'],
      ['ENOTFOUND', 'ENOTFOUND', [], 'dns-failed 0'],
      ['ESERVFAIL', 'ENODATA', [], 'dns-failed 0'],
      ['EBADNAME', 'EBADNAME', [], 'dns-failed 0'],
    ] as const) {
      expect(`${v4} ${v6}: ${await outcome(v4, v6, [...system])}`).toBe(`${v4} ${v6}: ${expected}`);
    }
  });

  it.skipIf(process.platform === 'win32')(
    'do not make localhost an absent name when no descriptor is left',
    async () => {
      const directory = mkdtempSync(join(tmpdir(), 'descriptors-'));
      try {
        const url = new URL('descriptor-shortage.ts', import.meta.url);
        const script = await bundledScript(url, directory);
        const command = 'ulimit -n 64; exec "$0" "$1"';
        const argv = ['-c', command, process.execPath, script];
        const { stdout } = await promisify(execFile)('/bin/sh', argv);
        const lines = stdout.trim().split('\n');
        expect(lines).toHaveLength(18);
        expect(lines[0]).toBe('localhost 0 local-fault');
        expect(lines[1]).toBe('absent.invalid 0 local-fault');
        expect(lines.filter((line) => line.startsWith('localhost')).at(-1)).toMatch('found');
        expect(lines.filter((line) => line.endsWith('dns-failed')).join()).not.toContain(
          'localhost',
        );
      } finally {
        rmSync(directory, { recursive: true, force: true });
      }
    },
  );
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
