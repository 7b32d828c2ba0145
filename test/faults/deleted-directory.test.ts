import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { describe, expect } from 'vitest';
import { type Ended, MAIN, test, type Workplace, workplace } from '../cli/command-line.js';

const INDEX = fileURLToPath(new URL('../index.js', pathToFileURL(MAIN)));

/** More than a batch. */
const URLS = 100_000;
/** More than the main thread judges alone unless `--threads` is given. */
const MANY_URLS = 700_000;
const COUNT_DENIED = "grep -c '^deny'";

/** Runs a line of shell in a directory that has just been deleted. */
function inDeletedDirectory(place: Workplace, line: string): Promise<Ended> {
  return place.shellAlone(
    `set -o pipefail; mkdir gone && cd gone && rmdir '${place.path}/gone' && { ${line}; }`,
  );
}

/** A line of shell that prints as many URLs; one in two is denied. */
function urls(count: number): string {
  return `seq ${count} | awk '{ print "https://example.com/" ($1 % 2 ? "private/" : "") $1 }'`;
}

describe('a working directory that has been deleted', () => {
  test.each([
    ['', MANY_URLS],
    ['--threads 1', URLS],
    ['--threads 2', URLS],
  ])('the filter, from pipe to pipe: %s', async (option, count) => {
    const place = workplace();
    const robots = `--robots-dir '${place.path}/robots'`;
    const run = await inDeletedDirectory(
      place,
      `${urls(count)} | $rf ${robots} ${option} | ${COUNT_DENIED}`,
    );
    expect(run).toMatchObject({ stderr: '', text: `${count / 2}\n`, code: 0 });
  });

  test('the filter, from file to file', async ({ place }) => {
    const [input, output] = [join(place.path, 'urls.txt'), join(place.path, 'out.txt')];
    const run = await inDeletedDirectory(
      place,
      `${urls(URLS)} > '${input}' && $rf --robots-dir '${place.path}/robots' --threads 2 -o '${output}' '${input}' && ${COUNT_DENIED} '${output}'`,
    );
    expect(run).toMatchObject({ stderr: '', text: `${URLS / 2}\n`, code: 0 });
  });

  test('compile, with more files than one thread compiles alone', async ({ place }) => {
    const hosts = 3000;
    const records = Array.from({ length: hosts }, (_, index) =>
      JSON.stringify({
        host: `h${index}.example`,
        robots: `User-agent: *\nDisallow: /${'x'.repeat(2000)}${index}\n`,
      }),
    );
    place.write('robots.ndjson', `${records.join('\n')}\n`);
    const run = await inDeletedDirectory(
      place,
      `$rf compile --robots-dir '${place.path}/robots.ndjson' -o '${place.path}/table'`,
    );
    expect(run.code, run.stderr).toBe(0);
    expect(run.stderr).toContain('3,000 hosts');
  });

  test('the stream of the library', async ({ place }) => {
    const program = `
      import { filterStream, parseAuthority, Table, TableBuilder } from '${pathToFileURL(INDEX).href}';
      const builder = new TableBuilder();
      const body = Buffer.from('User-agent: *\\nDisallow: /private/\\n');
      builder.add(parseAuthority('example.com'), body, { source: 'example.com' });
      const stream = filterStream(Table.from(builder.build()), { threads: 2 });
      process.stdin.pipe(stream).pipe(process.stdout);
    `;
    place.write('program.mjs', program);
    const run = await inDeletedDirectory(
      place,
      `${urls(URLS)} | '${process.execPath}' '${place.path}/program.mjs' | ${COUNT_DENIED}`,
    );
    expect(run).toMatchObject({ stderr: '', text: `${URLS / 2}\n`, code: 0 });
  });

  test('a relative path names nothing', async ({ place }) => {
    const run = await inDeletedDirectory(
      place,
      'echo https://example.com/ | $rf --robots-dir robots',
    );
    expect(run.code).toBe(2);
    expect(run.stderr).toContain('robots: cannot be read');
  });

  // Node's recursive mkdir would never return.
  test('fetch into a relative path, in a directory that is deleted before it starts', async () => {
    const run = await inDeletedDirectory(
      workplace(),
      'echo http://127.0.0.1:9/ | $rf fetch --allow-private --retries 0 --robots-dir cache -',
    );
    expect(run.code).toBe(2);
    expect(run.stderr).toContain('cache: cannot be written');
  });

  test('fetch into a relative path, in a directory that is deleted while it runs', async ({
    place,
  }) => {
    const run = await place.shellAlone(
      `mkdir gone && cd gone && { sleep 1; rmdir '${place.path}/gone'; echo http://127.0.0.1:9/; } |
        $rf fetch --allow-private --retries 0 --robots-dir cache -`,
    );
    expect(run.code, run.stderr).toBe(2);
    expect(run.stderr).toContain('cache');
    expect(place.names()).not.toContain('gone');
  });
});
