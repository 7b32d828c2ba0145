import net from 'node:net';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FetchAuthority } from '../../src/fetch/result.js';
import { FtpServer } from './ftp-server.js';
import { fetchOnce, type Listening, Loopback, ROBOTS, textOf, unreachable } from './servers.js';

const loopback = new Loopback();
let ftp: FtpServer;

beforeAll(async () => {
  ftp = await FtpServer.start(
    loopback,
    new Map<string, string | Uint8Array>([
      ['/robots.txt', ROBOTS],
      ['/long.txt', Buffer.alloc(10_000_000, '#')],
    ]),
  );
});

afterAll(() => loopback.end());

async function freePort(): Promise<number> {
  const server = net.createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as net.AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

/** A control connection that answers each command as it is told to, and what the commands were. */
async function scripted(
  replies: Record<string, string | ((socket: net.Socket) => void)>,
): Promise<{ server: Listening; commands: string[] }> {
  const commands: string[] = [];
  const server = await loopback.raw((socket) => {
    socket.write(typeof replies.welcome === 'string' ? replies.welcome : '220 ready\r\n');
    socket.on('data', (data) => {
      for (const line of data.toString('latin1').split('\r\n')) {
        const verb = line.split(' ')[0] ?? '';
        if (verb === '') continue;
        commands.push(line);
        const reply = replies[verb];
        if (typeof reply === 'function') reply(socket);
        else socket.write(reply ?? (verb === 'USER' ? '230 in\r\n' : '200 ok\r\n'));
      }
    });
  });
  return { server, commands };
}

function asFtp(server: Listening): FetchAuthority {
  return { ...server.authority(), scheme: 'ftp' };
}

describe('RFC 9309, 2.3: ftp authorities', () => {
  it('anonymously: the file', async () => {
    const result = await loopback.fetch(ftp.authority);
    expect(result).toMatchObject({
      accessResult: 'successful',
      status: undefined,
      error: undefined,
      cut: false,
      policy: undefined,
      chain: [`ftp://127.0.0.1:${ftp.authority.port}/robots.txt`],
    });
    expect(textOf(result)).toBe(ROBOTS);
    expect(ftp.logins.at(-1)).toMatch(/^anonymous /);
  });

  it('2.3.1.2: by a redirect from http, to another file than robots.txt', async () => {
    const location = `ftp://user:secret@127.0.0.1:${ftp.authority.port}/robots%2Etxt`;
    const server = await loopback.redirecting(location);
    const result = await loopback.fetch(server);
    expect(result).toMatchObject({ accessResult: 'successful', authority: server.authority() });
    expect(result.chain).toHaveLength(2);
    expect(ftp.logins.at(-1)).toMatch(/^anonymous /);
  });

  it('2.3.1.3: without the file, unavailable', async () => {
    const server = await loopback.redirecting(`ftp://127.0.0.1:${ftp.authority.port}/absent.txt`);
    const result = await loopback.fetch(server);
    expect(result).toMatchObject({
      accessResult: 'unavailable',
      status: undefined,
      error: undefined,
    });
    expect(result.body).toBeUndefined();
  });

  it('2.5: no more than the limit', async () => {
    const server = await loopback.redirecting(`ftp://127.0.0.1:${ftp.authority.port}/long.txt`);
    const result = await loopback.fetch(server);
    expect(result).toMatchObject({ accessResult: 'successful', cut: true });
    expect(result.body?.length).toBe(512_001);
  });

  it('a path with a line end is no path', async () => {
    const { server: other, commands } = await scripted({});
    const server = await loopback.redirecting(
      `ftp://127.0.0.1:${other.port}/a%0D%0ADELE%20robots.txt`,
    );
    const result = await loopback.fetch(server);
    expect(result).toMatchObject(unreachable('redirect-refused'));
    expect(commands).toEqual([]);
  });

  describe('2.3.1.4: everything else is unreachable', () => {
    for (const [what, replies, code] of [
      ['a server that is full', { welcome: '421 too many\r\n' }, 'connect-failed'],
      [
        'a server that speaks another protocol',
        { welcome: 'HTTP/1.1 200 OK\r\n\r\n' },
        'connect-timeout',
      ],
      ['a login that is refused', { USER: '530 no\r\n' }, 'ftp-failed'],
      ['no passive mode', { EPSV: '500 no\r\n', PASV: '500 no\r\n' }, 'ftp-failed'],
      ['a reply that never comes', { USER: () => undefined }, 'body-timeout'],
      ['a connection that ends', { USER: (socket: net.Socket) => socket.destroy() }, 'ftp-failed'],
    ] as const) {
      it(what, async () => {
        const { server } = await scripted(replies);
        const fetcher = loopback.fetcher({ headerTimeout: 200, connectTimeout: 200 });
        expect(await fetchOnce(fetcher, asFtp(server))).toMatchObject({
          accessResult: 'unreachable',
          status: undefined,
          error: { code },
        });
      });
    }

    it('nobody there', async () => {
      const port = await freePort();
      expect(await loopback.fetch({ scheme: 'ftp', host: '127.0.0.1', port })).toMatchObject(
        unreachable('connect-failed'),
      );
    });

    it('a transfer that breaks off, and a file that is there but not to be had', async () => {
      for (const [reply, accessResult] of [
        ['150 coming\r\n426 broken\r\n', 'unreachable'],
        ['451 local error\r\n', 'unreachable'],
        ['550 not found\r\n', 'unavailable'],
      ] as const) {
        const data = await loopback.raw((socket) => {
          setTimeout(() => socket.end('user-agent'), 50);
        });
        const { server, commands } = await scripted({
          EPSV: `229 Entering Extended Passive Mode (|||${data.port}|)\r\n`,
          RETR: reply,
        });
        expect(await loopback.fetch(asFtp(server))).toMatchObject({ accessResult });
        expect(commands).toContain('RETR /robots.txt');
        expect(data.connections).toBe(1);
      }
    });

    describe('once a transfer has begun, only 226 and 250 end it well', () => {
      const LOST = unreachable('body-broken');
      const BAD_REPLY = unreachable('ftp-failed');
      const GONE = { accessResult: 'unavailable', error: undefined };
      const GOOD = { accessResult: 'successful', error: undefined };
      const FIN = 'FIN';
      const PIECE = 'PIECE';
      // What the server writes after RETR; the file comes with the first reply or after it.
      for (const [replies, expected] of [
        [['150 go\r\n', PIECE, '550 gone\r\n'], LOST],
        [['125 go\r\n', PIECE, '551 gone\r\n'], LOST],
        [['150 go\r\n', '550 gone\r\n'], LOST],
        [['110 marker\r\n550 gone\r\n'], LOST],
        [['150 go\r\n226 done\r\n550 no\r\n'], LOST],
        [['150 go\r\n', PIECE, '221 bye\r\n'], LOST],
        [['150 go\r\n', PIECE, FIN], LOST],
        [['150 go\r\n', PIECE, '226 done', FIN], LOST],
        [[PIECE, '550 gone\r\n'], LOST],
        [['550 no', FIN], BAD_REPLY],
        [['55', FIN], BAD_REPLY],
        [['550-no\r\n', FIN], BAD_REPLY],
        [['550 no', ' such file\r\n'], GONE],
        [['55', '0 no such file\r', '\n'], GONE],
        [['550-no\r\nsuch\r\n', '550 file\r\n'], GONE],
        [['15', '0 go\r\n', PIECE, '2', '26 done\r\n'], GOOD],
        [['150 go\r\n', PIECE, '250 done\r\n'], GOOD],
      ] as const) {
        it(JSON.stringify(replies), async () => {
          let give: (socket: net.Socket) => void = () => undefined;
          const given = new Promise<net.Socket>((resolve) => {
            give = resolve;
          });
          const data = await loopback.raw((socket) => give(socket));
          const { server } = await scripted({
            EPSV: `229 Entering Extended Passive Mode (|||${data.port}|)\r\n`,
            RETR: (control) => {
              control.setNoDelay(true);
              void (async () => {
                for (const reply of replies) {
                  if (reply === PIECE) (await given).end(ROBOTS);
                  else if (reply === FIN) control.end();
                  else control.write(reply);
                  // Long enough for one to be read before the next.
                  await new Promise((resolve) => setTimeout(resolve, 30));
                }
              })();
            },
          });
          const result = await loopback.fetch(asFtp(server), { headerTimeout: 2_000 });
          expect(result).toMatchObject(expected);
          expect(textOf(result)).toBe(expected === GOOD ? ROBOTS : undefined);
        });
      }

      it('a reply without an end is given up', async () => {
        const { server } = await scripted({ RETR: 'x', USER: '2'.repeat(200_000) });
        expect(await loopback.fetch(asFtp(server))).toMatchObject(BAD_REPLY);
      });
    });

    it('the deadline of all, and an abort, end it at once', async () => {
      const { server } = await scripted({ USER: () => undefined });
      const hurried = loopback.fetcher({ deadline: 100 });
      expect(await fetchOnce(hurried, asFtp(server))).toMatchObject({
        accessResult: 'unreachable',
        error: { message: 'the fetch took longer than 100 ms' },
      });
      const controller = new AbortController();
      setTimeout(() => controller.abort(), 50);
      const result = await loopback.fetcher().fetch(asFtp(server), undefined, controller.signal);
      expect(result).toMatchObject(unreachable('aborted'));
    });
  });

  it('the data connection goes nowhere but to the server itself', async () => {
    const elsewhere = await loopback.raw(() => undefined);
    const [high, low] = [elsewhere.port >> 8, elsewhere.port & 255];
    for (const host of ['10,0,0,1', '169,254,169,254', '8,8,8,8']) {
      const { server } = await scripted({
        EPSV: '500 no\r\n',
        PASV: `227 Entering Passive Mode (${host},${high},${low})\r\n`,
      });
      expect(await loopback.fetch(asFtp(server))).toMatchObject(unreachable('ftp-failed'));
    }
    expect(elsewhere.connections).toBe(0);
  });
});
