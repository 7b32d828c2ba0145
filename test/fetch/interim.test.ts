import { afterAll, describe, expect, it } from 'vitest';
import { Loopback, ROBOTS, unreachable } from './servers.js';

const loopback = new Loopback();
afterAll(() => loopback.end());

const OK = `HTTP/1.1 200 OK\r\nContent-Length: ${ROBOTS.length}\r\n\r\n${ROBOTS}`;

describe('interim responses (RFC 9110, 15.2)', () => {
  for (const [what, interim] of [
    ['100', 'HTTP/1.1 100 Continue\r\n\r\n'],
    ['100 three times', 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(3)],
    ['102', 'HTTP/1.1 102 Processing\r\n\r\n'],
    ['103', 'HTTP/1.1 103 Early Hints\r\nLink: </x>; rel=preload\r\n\r\n'],
    ['100, 102, 103', '100 Continue,102 Processing,103 Early Hints'],
  ] as const) {
    const bytes = interim.startsWith('HTTP')
      ? interim
      : interim
          .split(',')
          .map((line) => `HTTP/1.1 ${line}\r\n\r\n`)
          .join('');
    it(`${what} before 200 is passed by, in one piece or several`, async () => {
      const whole = await loopback.answering(bytes + OK, 'keep');
      const pieces = await loopback.raw((socket) => {
        socket.once('data', () => {
          socket.write(bytes);
          setTimeout(() => socket.write(OK), 20);
        });
      });
      for (const server of [whole, pieces]) {
        expect(await loopback.fetch(server)).toMatchObject({
          accessResult: 'successful',
          status: 200,
          body: Buffer.from(ROBOTS),
        });
      }
    });
  }

  for (const status of ['100 Continue', '103 Early Hints']) {
    it(`${status} without end takes no longer than an answer may`, async () => {
      let sent = 0;
      const server = await loopback.raw((socket) => {
        const timer = setInterval(() => {
          socket.write(`HTTP/1.1 ${status}\r\n\r\n`);
          sent++;
        }, 20);
        socket.on('close', () => clearInterval(timer));
      });
      expect(await loopback.fetch(server, { headerTimeout: 200 })).toMatchObject(
        unreachable('header-timeout'),
      );
      expect(sent).toBeGreaterThan(1);
    });
  }

  it('a flood of them is given up at once', async () => {
    const server = await loopback.answering(
      'HTTP/1.1 103 Early Hints\r\n\r\n'.repeat(5000),
      'keep',
    );
    expect(await loopback.fetch(server)).toMatchObject(
      unreachable('protocol-error', { message: 'more than 100 interim responses' }),
    );
  });

  it('101 to another protocol, which nobody asked for, is unreachable', async () => {
    const server = await loopback.answering(
      `HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n${OK}`,
      'keep',
    );
    expect(await loopback.fetch(server)).toMatchObject(unreachable('protocol-error'));
  });
});
