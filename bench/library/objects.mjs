/**
 * Parses robots.txt files, asks each object once, and prints the memory of an object as JSON.
 *
 *     node --expose-gc objects.mjs LIBRARY FOLDER ROBOTS_DIRECTORY OBJECTS
 */

import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

const [library, folder, directory, count] = process.argv.slice(2);
const bodies = readdirSync(directory).map((host) => readFileSync(join(directory, host)));
const parse = await parser();

globalThis.gc();
const before = residentBytes();
const objects = [];
let bodyBytes = 0;
for (let index = 0; index < Number(count); index++) {
  // Each object has a body of its own, as a crawler's objects have.
  const body = bodies[index % bodies.length];
  bodyBytes += body.length;
  objects.push(parse(body.toString('latin1')));
}
globalThis.gc();
const bytes = (residentBytes() - before - bodyBytes) / objects.length;
console.log(
  JSON.stringify({ bytes: Math.round(bytes), body: Math.round(bodyBytes / objects.length) }),
);

async function parser() {
  if (library === 'robots-parser') {
    const robotsParser = createRequire(join(folder, 'package.json'))('robots-parser');
    return (body) => {
      const robots = robotsParser('https://example.com/robots.txt', body);
      robots.isAllowed('https://example.com/a/b.html', 'ExampleBot');
      return robots;
    };
  }
  const path = join(folder, 'node_modules', 'robots-filter', 'dist', 'index.js');
  const { Robots } = await import(pathToFileURL(path).href);
  return (body) => {
    const robots = Robots.parse(body);
    robots.verdict('https://example.com/a/b.html', 'ExampleBot');
    return robots;
  };
}

/** All memory of the process that is in use, with that outside of V8's heap. */
function residentBytes() {
  return process.memoryUsage().rss;
}
