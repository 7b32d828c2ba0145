import {
  closeSync,
  createReadStream,
  openSync,
  readdirSync,
  readFileSync,
  writeSync,
} from 'node:fs';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { createGunzip, gunzipSync } from 'node:zlib';

/** A directory with real robots.txt files and real URLs, which are not part of the project. */
export interface RealData {
  /** `robots-*.ndjson.gz`: records of `host` and `robots` or `robots_base64`. */
  readonly robots: string;
  /** `urls-*.txt.gz`: one URL on each line. */
  readonly lists: readonly string[];
}

/** @throws Error if the directory has no file of robots.txt records or no list, at any depth */
export function findRealData(directory: string): RealData {
  const files = readdirSync(directory, { recursive: true, encoding: 'utf8' }).sort();
  const robots = files.find((name) => /^robots-.*\.ndjson\.gz$/.test(basename(name)));
  const lists = files.filter((name) => /^urls-.*\.txt\.gz$/.test(basename(name)));
  if (robots === undefined) throw new Error(`${directory} lacks robots-*.ndjson.gz`);
  if (lists.length === 0) throw new Error(`${directory} lacks urls-*.txt.gz`);
  return { robots: join(directory, robots), lists: lists.map((name) => join(directory, name)) };
}

/**
 * Writes the records of all hosts except those with a suffix, decompressed.
 *
 * @param suffix of hosts to leave out; `undefined` keeps all hosts
 * @returns the number of hosts written
 */
export async function extractRobots(from: string, to: string, suffix?: string): Promise<number> {
  const records = createInterface({ input: createReadStream(from).pipe(createGunzip()) });
  const file = openSync(to, 'w');
  let hosts = 0;
  for await (const line of records) {
    if (line === '') continue;
    if (suffix !== undefined && JSON.parse(line).host.endsWith(suffix)) continue;
    writeSync(file, `${line}\n`);
    hosts++;
  }
  closeSync(file);
  return hosts;
}

/** All URLs of some lists, in order, except URLs with a tab: a line of text may hold none. */
export function readLists(lists: readonly string[]): string[] {
  return lists.flatMap((list) =>
    gunzipSync(readFileSync(list))
      .toString()
      .split('\n')
      .filter((url) => url !== '' && !url.includes('\t')),
  );
}
