/**
 * Decides URLs as a user of Node would: readline, the URL class, and a library from npm with one
 * parsed object kept for each host. The programs in other languages take the same arguments and
 * print the same JSON.
 *
 *     main.ts LIBRARY ROBOTS_DIRECTORY URLS MAX_URLS AGENT [VERDICTS_FILE]
 *
 * LIBRARY is `robots-parser` or `robots-txt-guard`. A file URLS that ends in `.ndjson` holds
 * records with a member `url`. The clock starts after parsing, and only counts are written: both
 * favour the library. VERDICTS_FILE receives one verdict a line. If the environment names an
 * ANNOTATED_FILE, it receives each record with its verdict while the clock runs.
 */
import {
  createReadStream,
  createWriteStream,
  readdirSync,
  readFileSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Robots } from './robots.js';
import { parseWithParser } from './robots-parser.js';
import { parseWithGuard } from './robots-txt-guard.js';

interface Annotated {
  readonly url: string;
  verdict?: string;
}

const [library, directory, urls, limit, agent, verdictsFile] = process.argv.slice(2);
if (directory === undefined || urls === undefined || agent === undefined) {
  throw new Error('usage: main.ts LIBRARY ROBOTS_DIRECTORY URLS MAX_URLS AGENT [VERDICTS_FILE]');
}
const parse = library === 'robots-txt-guard' ? parseWithGuard : parseWithParser;

let start = process.hrtime.bigint();
const robotsOf = new Map<string, Robots>();
for (const host of readdirSync(directory)) {
  const robots = await parse(host, readFileSync(join(directory, host), 'utf8'));
  for (const scheme of ['http', 'https'] as const) robotsOf.set(`${scheme}://${host}`, robots);
}
const parseSeconds = secondsSince(start);

const counts = { allow: 0, deny: 0, unknown: 0, invalid: 0 };
const verdicts: string[] = [];
const maxUrls = Number(limit);
const isRecord = urls.endsWith('.ndjson');
const { ANNOTATED_FILE } = process.env;
const annotated = ANNOTATED_FILE === undefined ? undefined : createWriteStream(ANNOTATED_FILE);
/** Characters of records that are written in one call. */
const GATHERED = 1 << 16;
let gathered = '';
let seen = 0;

start = process.hrtime.bigint();
const lines = createInterface({
  input: createReadStream(urls),
  crlfDelay: Number.POSITIVE_INFINITY,
});
lines.on('line', (line) => {
  if (seen++ >= maxUrls) return;
  const record: Annotated = isRecord ? JSON.parse(line) : { url: line };
  const verdict = decide(record.url, agent);
  counts[verdict]++;
  if (annotated !== undefined) {
    record.verdict = verdict;
    annotate(record);
  }
  if (verdictsFile !== undefined) verdicts.push(verdict);
  if (seen === maxUrls) finish();
});
lines.on('close', () => {
  if (seen < maxUrls) finish();
});

function decide(text: string, productToken: string): keyof typeof counts {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return 'invalid'; // not a URL
  }
  if (url.origin === 'null') return 'invalid';
  const robots = robotsOf.get(url.origin);
  if (robots === undefined) return 'unknown';
  return robots.isAllowed(url, text, productToken) ? 'allow' : 'deny';
}

function annotate(record: Annotated): void {
  gathered += `${JSON.stringify(record)}\n`;
  if (gathered.length < GATHERED) return;
  annotated?.write(gathered);
  gathered = '';
}

function finish(): void {
  annotated?.end(gathered);
  const seconds = secondsSince(start);
  lines.close();
  process.stdout.write(JSON.stringify({ seconds, parseSeconds, counts }));
  if (verdictsFile !== undefined) writeFileSync(verdictsFile, `${verdicts.join('\n')}\n`);
}

function secondsSince(time: bigint): number {
  return Number(process.hrtime.bigint() - time) / 1e9;
}
