import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * A server on all addresses of the loopback interface, each of which stands for a number: every
 * tenth has no robots.txt, every tenth fails, and the others have one that denies a path of their
 * own.
 */
export async function startRobotsServer(): Promise<{
  server: Server;
  urlOf: (number: number) => string;
  asked: number[];
}> {
  const asked: number[] = [];
  const server = createServer((request, response) => {
    const [, , high, low] = (request.headers.host ?? '').split(/[.:]/).map(Number);
    const number = 128 * (high ?? 0) + (low ?? 0) - 1;
    asked.push(number);
    if (number % 10 === 3) response.statusCode = 404;
    if (number % 10 === 7) response.statusCode = 503;
    response.setHeader('etag', `"${number}"`);
    response.end(robotsOf(number));
  });
  server.listen(0);
  await once(server, 'listening');
  // A server that listens on a port has an address of this type.
  const { port } = server.address() as AddressInfo;
  const urlOf = (number: number) => `http://127.9.${number >> 7}.${1 + (number & 127)}:${port}/`;
  return { server, urlOf, asked };
}

function robotsOf(number: number): string {
  return `user-agent: *\ndisallow: /private-${number}\n${'# filling\n'.repeat(number % 50)}`;
}

export async function stop(server: Server): Promise<void> {
  server.close();
  server.closeAllConnections();
  await once(server, 'close').catch(() => {});
}
