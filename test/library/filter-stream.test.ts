import { once } from 'node:events';
import { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { describe, expect, test, vi } from 'vitest';
import {
  type BadRecord,
  type FilterStreamOptions,
  filterStream,
  parseAuthority,
  RobotsFilterError,
  Table,
  TableBuilder,
  verdicts,
} from '../../src/library/index.js';

const ROBOTS = 'user-agent: *\ndisallow: /private/\nuser-agent: GPTBot\ndisallow: /\n';

function exampleTable(agents?: readonly string[]): Table {
  const builder = new TableBuilder({ agents });
  const authority = parseAuthority('example.com');
  if (authority === undefined) throw new Error('example.com is not an authority');
  builder.add(authority, Buffer.from(ROBOTS), { source: 'example.com' });
  return Table.from(builder.build());
}

async function filtered(
  chunks: Iterable<string | Uint8Array>,
  options?: FilterStreamOptions,
): Promise<string> {
  const output: Buffer[] = [];
  const collector = new Writable({
    write(chunk, _encoding, callback) {
      output.push(chunk);
      callback();
    },
  });
  const source = Readable.from(chunks, { objectMode: false });
  await pipeline(source, filterStream(exampleTable(), options), collector);
  return Buffer.concat(output).toString();
}

describe('filterStream', () => {
  test('judges each record for the agent that it names', async () => {
    const records = [
      { url: 'https://example.com/', http: { ua: 'Mozilla/5.0 (compatible; GPTBot/1.2)' } },
      { url: 'https://example.com/', http: { ua: 'MyBot/1.0' } },
      { url: 'https://example.com/private/', http: {} },
    ];
    const lines = records.map((record) => `${JSON.stringify(record)}\n`);
    const options = { input: 'ndjson', agentField: 'http.ua', explain: true } as const;
    const output = (await filtered(lines, options)).trimEnd().split('\n');
    expect(output.map((line) => JSON.parse(line))).toMatchObject([
      { verdict: 'deny', judged_as: 'GPTBot', rule: { agent: 'GPTBot' } },
      { verdict: 'allow', judged_as: 'MyBot', reason: 'no-rule' },
      { verdict: 'deny', judged_as: '*', rule: { agent: '*' } },
    ]);
    const reduced = exampleTable(['GPTBot']);
    expect(() => filterStream(reduced, options)).toThrow(
      'agentField asks for any agent, and the table was compiled for some only',
    );
  });

  test('writes records in order with their verdicts, between any Readable and Writable', async () => {
    const urls = Array.from({ length: 50_000 }, (_, index) =>
      index % 3 === 0 ? `https://example.com/private/${index}` : `https://example.com/${index}`,
    );
    const input = Buffer.from(urls.map((url) => `${url}\n`).join(''));
    const chunks = Array.from({ length: Math.ceil(input.length / 997) }, (_, index) =>
      input.subarray(index * 997, (index + 1) * 997),
    );
    const expected = urls
      .map((url) => `${url.includes('private') ? 'deny' : 'allow'}\t${url}\n`)
      .join('');
    expect((await filtered(chunks, { threads: 2 })) === expected).toBe(true);
  });

  test('takes the options of the command line', async () => {
    const record = '{"request":{"url":"https://example.com/a"}}\n';
    const options = { input: 'ndjson', urlField: 'request.url', threads: 1 } as const;
    expect(
      await filtered([record], {
        ...options,
        agents: ['GPTBot', 'Other>GPTBot', ['A', '*']],
        verdictField: 'may',
      }),
    ).toBe(
      '{"request":{"url":"https://example.com/a"},"may":{"GPTBot":"deny","Other>GPTBot":"deny","A>*":"allow"}}\n',
    );
    const flat = '{"request":{"url":"https://example.com/a"},"request.url":"x:"}\n';
    expect(await filtered([flat], { ...options, output: 'verdicts' })).toBe('allow\n');
    for (const urlField of ['"request.url"', ['request.url']]) {
      const quoted = { ...options, urlField, output: 'verdicts' } as const;
      expect(await filtered([flat], quoted)).toBe('invalid\n');
    }
    expect(await filtered([record], { ...options, output: 'allowed' })).toBe(record);
    expect(await filtered([record], { ...options, output: 'denied' })).toBe('');
    expect(await filtered([record], { ...options, output: 'verdicts' })).toBe('allow\n');
    expect(await filtered([record, '\n'], { ...options, output: 'mask-ndjson' })).toBe(
      '{"allowed":true}\n\n',
    );
    expect(await filtered([record], { ...options, explain: true })).toContain('"reason":"no-rule"');
    const unknown = 'http://other.example/\n';
    expect(await filtered([unknown], { threads: 1, unknown: 'deny' })).toBe(`deny\t${unknown}`);
  });

  test('reports bad records; with strict the first bad record is an error', async () => {
    const bad: BadRecord[] = [];
    const options = {
      threads: 1,
      maxLineBytes: 50,
      onBadRecord: (record: BadRecord) => bad.push(record),
    };
    const long = `https://example.com/${'a'.repeat(40)}`;
    await filtered(['https://example.com/\nbad\n', `${long}\n`], options);
    expect(bad.map(({ line, reason }) => [line, reason])).toEqual([
      [2, 'invalid-url'],
      [3, 'line-too-long'],
    ]);
    await expect(filtered(['bad\n'], { threads: 1, strict: true })).rejects.toThrow(
      RobotsFilterError,
    );
  });

  test('fails with the error that onBadRecord throws, and calls it no more', async () => {
    const own = new Error('enough');
    const onBadRecord = vi.fn((): never => {
      throw own;
    });
    for (const threads of [1, 2]) {
      await expect(filtered(['bad\nworse\n'], { threads, onBadRecord })).rejects.toBe(own);
      const stream = filterStream(exampleTable(), { threads, onBadRecord });
      const failed = once(stream, 'error');
      // The stream is never ended.
      stream.resume().write('bad\n'.repeat(1_000_000));
      expect(await failed).toEqual([own]);
    }
    expect(onBadRecord).toHaveBeenCalledTimes(4);
  });

  test('runs two streams over one table at once', async () => {
    const table = exampleTable();
    const run = async (line: string) => {
      const stream = filterStream(table, { threads: 1 });
      stream.end(`${line}\n`.repeat(2000));
      let bytes = 0;
      for await (const chunk of stream) bytes += (chunk as Buffer).length;
      return bytes;
    };
    expect(
      await Promise.all([run('https://example.com/'), run('https://example.com/private/')]),
    ).toEqual([
      2000 * 'allow\thttps://example.com/\n'.length,
      2000 * 'deny\thttps://example.com/private/\n'.length,
    ]);
  });

  test('ends when it is destroyed', async () => {
    const stream = filterStream(exampleTable(), { threads: 1 });
    stream.write('https://example.com/\n');
    const closed = new Promise((resolve) => {
      stream.on('close', resolve);
    });
    stream.destroy();
    await closed;
    expect(stream.destroyed).toBe(true);
  });

  test.each<[FilterStreamOptions, string]>([
    [{ threads: 0 }, 'threads is 0'],
    [{ maxLineBytes: 1.5 }, 'maxLineBytes is 1.5'],
    [{ agents: 'Foo/1' }, 'use "Foo"'],
    [{ agents: [] }, '1 to 256 agents'],
    [{ urlField: 'a..b' }, 'urlField is "a..b"'],
    [{ output: 'both' as 'allowed' }, 'Use one of annotate, allowed, denied'],
    [{ input: 'json' as 'text' }, 'Use one of text, ndjson'],
    [{ input: 'ndjson', verdictField: 'url' }, 'the URL is read from a member of that name'],
    [{ input: 'ndjson', verdictField: 'line' }, 'is added for invalid lines'],
    [{ explain: true, verdictField: 'rule' }, 'explain adds a member of that name'],
    [{ explain: true, output: 'allowed' }, 'explain has no effect with output "allowed"'],
    [{ explain: true, output: 'denied' }, "Leave it out, or use output 'annotate'"],
    [{ explain: true, output: 'verdicts' }, 'writes one verdict for each record'],
    [{ verdictField: 'may', output: 'mask-ndjson' }, 'verdictField has no effect'],
    [{ input: 'ndjson', explain: true, urlField: 'reason.url' }, 'cannot be "reason"'],
  ])('%j is refused at once', (options, message) => {
    expect(() => filterStream(exampleTable(), options)).toThrow(message);
  });

  test.each<FilterStreamOptions>([
    { verdictField: 'url' },
    { input: 'ndjson', output: 'allowed', explain: false },
    { input: 'ndjson', strict: true, verdictField: 'line' },
  ])('%j adds no member that is there', async (options) => {
    const line =
      options.input === 'ndjson' ? '{"url":"https://example.com/"}\n' : 'https://example.com/\n';
    expect(await filtered([line], { ...options, threads: 1 })).toContain('https://example.com/');
  });

  test('rejects an agent that a reduced table does not know, at once', () => {
    expect(() => filterStream(exampleTable(['CCBot']), { agents: 'GPTBot' })).toThrow(
      'Compile it again with --agent GPTBot',
    );
  });
});

describe('verdicts', () => {
  test('reads iterables and async iterables, and keeps the order', async () => {
    const urls = [
      'https://example.com/private/',
      'https://example.com/',
      'bad',
      'http://other.example/',
    ];
    const results = async (source: Iterable<string> | AsyncIterable<string>) => {
      const all = [];
      for await (const judgement of verdicts(exampleTable(), source, 'Other')) all.push(judgement);
      return all;
    };
    const fromList = await results(urls);
    expect(fromList).toEqual([
      {
        url: 'https://example.com/private/',
        verdict: 'deny',
        reason: 'rule',
        rule: { line: 2, text: 'Disallow: /private/', agent: '*', source: 'example.com' },
      },
      { url: 'https://example.com/', verdict: 'allow', reason: 'no-rule' },
      { url: 'bad', verdict: 'invalid', reason: 'invalid-url' },
      { url: 'http://other.example/', verdict: 'unknown', reason: 'unknown-host' },
    ]);
    expect(await results(Readable.from(urls))).toEqual(fromList);
  });
});
