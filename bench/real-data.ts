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
import { compile } from './cases.js';

/**
 * A directory with real robots.txt files and lists of real URLs, none of which is part of the
 * project.
 */
export interface RealData {
  /** `robots-*.ndjson.gz`: records of `host` and `robots` or `robots_base64`. */
  readonly robots: string;
  /** `urls-*.txt.gz`: a URL a line. */
  readonly lists: readonly string[];
}

/** @throws Error when the directory does not hold, at any depth, what it must */
export function findRealData(directory: string): RealData {
  const files = readdirSync(directory, { recursive: true, encoding: 'utf8' }).sort();
  const robots = files.find((name) => /^robots-.*\.ndjson\.gz$/.test(basename(name)));
  const lists = files.filter((name) => /^urls-.*\.txt\.gz$/.test(basename(name)));
  if (robots === undefined) throw new Error(`${directory} lacks robots-*.ndjson.gz`);
  return { robots: join(directory, robots), lists: lists.map((name) => join(directory, name)) };
}

/**
 * Writes the records of the hosts that do not end in a suffix, without gzip.
 *
 * @param suffix an empty one keeps all
 * @returns the number of hosts
 */
export async function keepHosts(from: string, to: string, suffix: string): Promise<number> {
  const records = createInterface({ input: createReadStream(from).pipe(createGunzip()) });
  const file = openSync(to, 'w');
  let hosts = 0;
  for await (const line of records) {
    if (line === '' || (suffix !== '' && JSON.parse(line).host.endsWith(suffix))) continue;
    writeSync(file, `${line}\n`);
    hosts++;
  }
  closeSync(file);
  return hosts;
}

/** Compiles all real files; the table is the one that counts for its size. */
export async function compileRealRobots(directory: string, scratch: string): Promise<string> {
  const table = join(scratch, 'real.table');
  const records = join(scratch, 'real.ndjson');
  await keepHosts(findRealData(directory).robots, records, '');
  await compile(records, table);
  return table;
}

/** All URLs of some lists, in their order. */
export function readLists(lists: readonly string[]): string[] {
  return lists.flatMap((list) =>
    gunzipSync(readFileSync(list))
      .toString()
      .split('\n')
      .filter((url) => url !== ''),
  );
}
