// Crawls a site on loopback with Crawlee, whose robots-parser is robots-filter by npm's overrides,
// and checks what the site was asked for:
//
//     npm ci && npm run build && cd examples/crawlee && npm install && npm start
//
// Crawlee brings some 300 packages, so no test of robots-filter runs this.

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { CheerioCrawler, Configuration } from 'crawlee';

const ROBOTS = [
  'User-agent: *',
  'Disallow: /',
  'User-agent: MyBot',
  'Disallow: /private/',
  'Allow: /private/open',
  'Disallow: /*.pdf$',
  'Disallow: /~me/',
].join('\n');

/** What MyBot may fetch. */
const ALLOWED = ['/', '/a', '/private/open', '/a.pdf?page=1'];
/** robots-parser allows the last of these: for RFC 9309, `%7E` is `~` (section 2.2.2). */
const DENIED = ['/private/b', '/a.pdf', '/~me/', '/%7Eme/'];

const asked = [];
const server = createServer((request, response) => {
  asked.push(request.url);
  if (request.url === '/robots.txt') {
    response.setHeader('content-type', 'text/plain').end(ROBOTS);
    return;
  }
  const links = [...ALLOWED, ...DENIED].map((path) => `<a href="${path}">${path}</a>`);
  response
    .setHeader('content-type', 'text/html')
    .end(`<html><body>${links.join('')}</body></html>`);
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const site = `http://127.0.0.1:${server.address().port}`;

/** Crawls the site as an agent; returns the paths that were asked for, and those that were skipped. */
async function crawl(respectRobotsTxtFile) {
  asked.length = 0;
  const skipped = new Set();
  const crawler = new CheerioCrawler(
    {
      respectRobotsTxtFile,
      maxRequestRetries: 0,
      async requestHandler({ enqueueLinks }) {
        await enqueueLinks({
          onSkippedRequest: ({ url, reason }) => reason === 'robotsTxt' && skipped.add(url),
        });
      },
      onSkippedRequest: ({ url, reason }) => reason === 'robotsTxt' && skipped.add(url),
    },
    new Configuration({ persistStorage: false, purgeOnStart: true }),
  );
  await crawler.run([`${site}/`]);
  return {
    fetched: asked.filter((path) => path !== '/robots.txt').sort(),
    skipped: [...skipped].map((url) => url.slice(site.length)).sort(),
    robots: asked.filter((path) => path === '/robots.txt').length,
  };
}

try {
  const known = await crawl({ userAgent: 'MyBot' });
  assert.deepEqual(known.fetched, [...ALLOWED].sort());
  assert.deepEqual(known.skipped, [...DENIED].sort());
  assert.ok(known.robots > 0);
  // `true` asks for `*`, who may fetch nothing.
  const anyone = await crawl(true);
  assert.deepEqual([anyone.fetched, anyone.skipped], [[], ['/']]);
  console.log(`obeyed: fetched ${known.fetched.join(' ')}, skipped ${known.skipped.join(' ')}`);
} finally {
  server.close();
  server.closeAllConnections();
}
