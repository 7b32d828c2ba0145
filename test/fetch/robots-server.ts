import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';

/**
 * A server on the loopback interface that answers for `hN.test` by the number: every tenth has no
 * robots.txt, every tenth fails, and the others have one that denies a path of their own.
 */
export async function startRobotsServer(): Promise<{
  server: Server;
  port: number;
  asked: string[];
}> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const host = request.headers.host ?? '';
    asked.push(host);
    const number = Number.parseInt(host.slice(1), 10);
    if (number % 10 === 3) response.statusCode = 404;
    if (number % 10 === 7) response.statusCode = 503;
    response.setHeader('etag', `"${number}"`);
    response.end(robotsOf(number));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, port: (server.address() as AddressInfo).port, asked };
}

export function robotsOf(number: number): string {
  return `user-agent: *\ndisallow: /private-${number}\n${'# filling\n'.repeat(number % 50)}`;
}

export async function stop(server: Server): Promise<void> {
  server.close();
  server.closeAllConnections();
  await once(server, 'close').catch(() => {});
}
