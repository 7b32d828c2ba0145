/**
 * What a user would write today: readline, JSON.parse, the URL class, and npm robots-parser
 * with one parsed object kept for each origin. Everything is parsed before the clock starts, and
 * nothing is written out but the counts: both are in its favour.
 *
 *     readline.ts text|ndjson ROBOTS_DIRECTORY URLS MAX_URLS AGENT [VERDICTS_FILE]
 *
 * Prints JSON: seconds for the URLs, seconds for parsing, counts. VERDICTS_FILE receives one
 * verdict a line.
 */
import { createReadStream, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import robotsParserModule from 'robots-parser';

const [form, robotsDirectory, urls, limit, agent, verdictsFile] = process.argv.slice(2);
if (agent === undefined || robotsDirectory === undefined || urls === undefined) {
  throw new Error('usage: readline.ts text|ndjson ROBOTS_DIRECTORY URLS MAX_URLS AGENT [FILE]');
}

interface Robot {
  isAllowed(url: string, agent?: string): boolean | undefined;
}
// The package's types name a default export; what it exports is the function itself.
const robotsParser = robotsParserModule as unknown as (url: string, body: string) => Robot;

let start = process.hrtime.bigint();
const robotsOf = new Map<string, Robot>();
for (const host of readdirSync(robotsDirectory)) {
  const body = readFileSync(join(robotsDirectory, host), 'utf8');
  for (const origin of [`https://${host}`, `http://${host}`]) {
    robotsOf.set(origin, robotsParser(`${origin}/robots.txt`, body));
  }
}
const parseSeconds = Number(process.hrtime.bigint() - start) / 1e9 / 2; // each body was parsed twice

const counts = { allow: 0, deny: 0, unknown: 0, invalid: 0 };
const verdicts: string[] = [];
const maxUrls = Number(limit);
let seen = 0;

start = process.hrtime.bigint();
const lines = createInterface({
  input: createReadStream(urls),
  crlfDelay: Number.POSITIVE_INFINITY,
});
lines.on('line', (line) => {
  if (seen++ >= maxUrls) return;
  const verdict = decide(form === 'text' ? line : JSON.parse(line).url);
  counts[verdict]++;
  if (verdictsFile !== undefined) verdicts.push(verdict);
  if (seen === maxUrls) finish();
});
lines.on('close', () => {
  if (seen < maxUrls) finish();
});

function decide(text: string): keyof typeof counts {
  let origin: string;
  try {
    origin = new URL(text).origin;
  } catch {
    return 'invalid'; // no URL: counted as such
  }
  if (origin === 'null') return 'invalid';
  const robots = robotsOf.get(origin);
  if (robots === undefined) return 'unknown';
  return robots.isAllowed(text, agent) === false ? 'deny' : 'allow';
}

function finish(): void {
  const seconds = Number(process.hrtime.bigint() - start) / 1e9;
  lines.close();
  process.stdout.write(JSON.stringify({ seconds, parseSeconds, counts }));
  if (verdictsFile !== undefined) writeFileSync(verdictsFile, `${verdicts.join('\n')}\n`);
}
