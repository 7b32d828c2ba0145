import { Readable } from 'node:stream';
import makeGuard from 'robots-txt-guard';
import parseRobotsTxt from 'robots-txt-parse';
import type { Robots } from './robots.js';

/** Parses with robots-txt-parse, which robots-txt-guard is made for; asks for path and query. */
export async function parseWithGuard(_host: string, body: string): Promise<Robots> {
  const guard = makeGuard(await parseRobotsTxt(Readable.from([Buffer.from(body)])));
  return { isAllowed: (url, _text, agent) => guard.isAllowed(agent, url.pathname + url.search) };
}
