import { createHash } from 'node:crypto';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { TableBuilder } from '../../src/compile/table-builder.js';
import { Table, tableMemory } from '../../src/judge/table.js';
import { TABLE_ADDRESS } from '../../src/judge/table-memory.js';
import { REASONS, VERDICTS } from '../../src/protocol/verdict.js';
import { ColumnJudge } from '../../src/serve/column-judge.js';
import { columnBytes, LIMITS, readRequest } from '../../src/serve/protocol.js';
import { ended, Workplace } from '../cli/command-line.js';
import { hostileFile } from '../hostile/file.js';
import { Random } from '../random/random.js';
import { type Answer, GREETING, parseOutput, request, words } from './frames.js';

const ROBOTS = 'User-agent: GPTBot\nDisallow: /essays/\nUser-agent: *\nDisallow: /"é\\\n';
const URLS = ['https://h.example/essays/1', 'https://h.example/%22%C3%A9%5C', 'http://new/', 'x'];

let table: Uint8Array;

beforeAll(() => {
  const builder = new TableBuilder();
  builder.add('h.example', ROBOTS);
  table = builder.build();
});

/** Runs `serve` with this standard input. */
async function serve(input: Uint8Array, ...options: string[]) {
  const place = new Workplace();
  place.write('t.table', table);
  return place.runAlone(['serve', '--table', 't.table', ...options], input);
}

function verdictsOf({ kind, content }: Answer): string[] {
  expect(kind).toBe(1);
  return [...content].map((verdict) => VERDICTS[verdict] as string);
}

describe('robots-filter serve', () => {
  it.each(['1', '3'])('answers in order on %s threads', async (threads) => {
    const pieces = [
      GREETING,
      request(URLS, '["GPTBot"]'),
      request(URLS, '["GPTBot","*"]', false, 1000),
      request(URLS, '[]'),
      request([], '["GPTBot"]'),
      request(URLS, '["Bad Bot"]'),
      ...Array.from({ length: 50 }, (_, n) => request([URLS[n % 4] as string], '["GPTBot"]')),
    ];
    const { code, stdout, stderr } = await serve(
      Buffer.concat(pieces),
      '--threads',
      threads,
      '-a',
      'Other',
    );
    expect(code).toBe(0);
    expect(stderr).toBe(
      'robots-filter: no robots.txt here has a group for Other, so "*" decides everywhere\n',
    );
    const { words: greeting, facts, answers } = parseOutput(stdout);
    expect(greeting).toEqual([GREETING.readUInt32LE(0), 1]);
    expect(facts).toMatchObject({ profile: 'rfc9309', hosts: 1, limits: LIMITS });
    expect([facts.verdicts, facts.reasons]).toEqual([VERDICTS, REASONS]);
    const [one, two, none, empty, bad, ...single] = answers as [
      Answer,
      Answer,
      Answer,
      Answer,
      Answer,
    ];
    const ofGPTBot = ['deny', 'allow', 'unknown', 'invalid'];
    const ofOthers = ['allow', 'deny', 'unknown', 'invalid'];
    expect(verdictsOf(one)).toEqual(ofGPTBot);
    expect(verdictsOf(two)).toEqual([...ofGPTBot, ...ofOthers]);
    expect(verdictsOf(none)).toEqual(ofOthers);
    expect(verdictsOf(empty)).toEqual([]);
    expect([bad.kind, bad.content.toString()]).toEqual([
      2,
      expect.stringContaining('it has spaces'),
    ]);
    expect(single.map((answer) => verdictsOf(answer)[0])).toEqual(
      single.map((_, n) => ofGPTBot[n % 4]),
    );
    expect(single).toHaveLength(50);
  });

  it('warns of misspelt agents before the answer, if that is wanted', async () => {
    const asked = (agents: string, flags: number): Buffer => {
      const frame = request([URLS[0] as string], agents);
      frame.writeUInt32LE(flags, 4);
      return frame;
    };
    const { code, stdout, stderr } = await serve(
      Buffer.concat([
        GREETING,
        asked('["GTPBot"]', 2),
        asked('["GTPBot","Mine"]', 3),
        asked('["GTPBot"]', 0),
        asked('["GPTBot","Mine"]', 2),
      ]),
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const { answers } = parseOutput(stdout);
    expect(answers.map(({ kind }) => kind)).toEqual([3, 1, 3, 1, 1, 1]);
    for (const { content } of [answers[0], answers[2]] as Answer[]) {
      expect(content.toString()).toBe(
        'no robots.txt in the table has a group for GTPBot, so "*" decides everywhere. Did you mean GPTBot?',
      );
    }
  });

  it('explains', async () => {
    const { stdout } = await serve(
      Buffer.concat([GREETING, request(URLS, '["*","GPTBot"]', true)]),
    );
    const { content } = parseOutput(stdout).answers[0] as Answer;
    expect([...content.subarray(8, 16)].map((reason) => REASONS[reason])).toEqual([
      ...['no-rule', 'rule', 'unknown-host', 'invalid-url'],
      ...['rule', 'no-rule', 'unknown-host', 'invalid-url'],
    ]);
    const word = (index: number): number => content.readInt32LE(16 + 4 * index);
    const all = Array.from({ length: 20 }, (_, index) => word(index));
    expect(all).toEqual([
      ...[0, 4, 0, 0, 2, 0, 0, 0],
      ...[-1, 1, -1, -1, 0, -1, -1, -1],
      ...[2, 0, 'Disallow: /essays/'.length, content.length - 16 - 4 * 20],
    ]);
    expect(content.toString('utf8', 16 + 4 * 20)).toBe('Disallow: /essays/Disallow: /"é\\');
  });

  it.each([
    ['another greeting', 'https://h.example/\n', 'does not begin with a greeting', 0],
    ['another version', words(GREETING.readUInt32LE(0), 2), 'speaks version 2', 0],
    ['a truncated greeting', GREETING.subarray(0, 7), 'the greeting, after 7 of its 8 bytes', 0],
    ['another kind', words(7, 0, 0, 0, 0), 'a request of kind 7', 1],
    ['a truncated request', request(URLS, '[]').subarray(0, -1), 'the URLs of a request', 1],
  ] as const)('ends with an error at %s', async (_, fault, message, answers) => {
    const before = answers === 0 ? [] : [GREETING, request(URLS, '["GPTBot"]')];
    const input = Buffer.concat([...before, Buffer.from(fault as string)]);
    const { code, stdout, stderr } = await serve(input, '--threads', '2');
    expect(code).toBe(2);
    expect(stderr).toContain(message);
    // The request before it has its answer.
    if (answers === 0) expect(stdout).toHaveLength(0);
    else expect(parseOutput(stdout).answers).toHaveLength(1);
  });

  it('refuses wrong arguments', async () => {
    const place = new Workplace();
    place.write('t.table', table);
    for (const [args, message] of [
      [['serve'], 'Type: robots-filter serve FILE'],
      [['serve', '--table', 't.table', '-a', 'Bad Bot'], 'it has spaces'],
      [['serve', '--table', 't.table', '--robots-dir', '.'], 'cannot be combined'],
      [['serve', '--table', '.'], 'is a directory'],
    ] as const) {
      const { code, stderr } = await place.run(args);
      expect(code).toBe(2);
      expect(stderr).toContain(message);
    }
  });

  it('answers from a table in shards', async () => {
    const place = new Workplace();
    const hosts = Array.from({ length: 40 }, (_, n) => `h${n}.example`);
    const bots = hosts.map((_, n) => `Bot-${'a'.repeat(n + 1)}`);
    for (const [n, host] of hosts.entries()) {
      place.write(`robots/${host}`, `User-agent: ${bots[n]}\nDisallow: /${n}\n`);
    }
    const options = ['--robots-dir', 'robots', '--shards', '7', '-o', 'shards'];
    expect((await place.run(['compile', '-q', ...options])).code).toBe(0);
    const urls = hosts.flatMap((host, n) => [
      `http://${host}/${n}`,
      `http://${host}/x`,
      'http://new/',
    ]);
    const input = Buffer.concat([GREETING, request(urls, JSON.stringify(bots), true)]);
    const { stdout } = await place.runAlone('serve --table shards', input);
    const { facts, answers } = parseOutput(stdout);
    expect(facts.hosts).toBe(hosts.length);
    const verdicts = [...(answers[0] as Answer).content.subarray(0, bots.length * urls.length)];
    const expected = bots.flatMap((_, bot) =>
      hosts.flatMap((_host, n) => [bot === n ? 'deny' : 'allow', 'allow', 'unknown']),
    );
    expect(verdicts.map((verdict) => VERDICTS[verdict])).toEqual(expected);
  });

  it('ends when nobody reads its answers', async () => {
    const place = new Workplace();
    place.write('t.table', table);
    const child = place.start(['serve', '--table', 't.table', '--threads', '2']);
    child.stdin?.on('error', () => {});
    child.stdin?.write(GREETING);
    await new Promise((resolve) => child.stdout?.once('data', resolve));
    child.stdout?.destroy();
    // Standard input stays open.
    child.stdin?.write(request(URLS, '[]'));
    const { signal, stderr } = await ended(child);
    expect({ signal, stderr }).toEqual({ signal: 'SIGTERM', stderr: '' });
  });
});

describe('a request', () => {
  const header = (...rest: readonly number[]): Buffer => words(1, 0, ...rest);
  it.each([
    ['another flag', [words(1, 32, 0, 0, 0)], 'flags 32'],
    ['too many uses', [words(1, 16, 0, 0, 0, 65_537)], '65537 bytes of uses. Send at most 65536'],
    ['a cut length of uses', [words(1, 16, 0, 0, 0), 'xy'], 'within the length of the uses'],
    [
      'truncated uses',
      [words(1, 16, 2, 0, 0, 5), '[]\0\0{"use'],
      'the uses of a request, after 5 of',
    ],
    ['an age that is none', [words(1, 8, 0, 0, 0, 0xffff_ffff)], '4294967295 seconds of age'],
    ['an age that is cut', [words(1, 8, 0, 0, 0), 'x'], 'within the age of a request'],
    ['truncated times', [words(1, 4, 0, 2, 4), words(9)], 'the URLs of a request'],
    ['too many agents', [header(0xffffffff, 0, 0)], '4294967295 bytes of agents'],
    ['one byte of agents too many', [header(65_537, 0, 0)], '65537 bytes of agents'],
    ['too many URLs', [header(0, 65_537, 0)], '65537 URLs. Send at most 65536'],
    ['too many bytes', [header(0, 1, 16_777_218)], '16777218 bytes of URLs. Send at most'],
    ['a truncated header', [words(1, 0)], 'the header of a request, after 8 of its 20'],
    ['truncated agents', [header(8, 0, 0), '[]'], 'the agents of a request, after 2 of its 8'],
    ['truncated URLs', [request(URLS, '[]').subarray(0, -1)], 'the URLs of a request'],
    ['offsets that descend', [header(0, 2, 4), words(0, 4, 2), 'abcd'], 'offset 2 is 2'],
    ['offsets beyond', [header(0, 1, 4), words(9, 14), 'abcd'], 'from 9 to at most 13'],
    ['offsets that end early', [header(0, 1, 4), words(0, 3), 'abcd'], 'span 3'],
  ] as const)('with %s is refused', (_, parts, message) => {
    const place = new Workplace();
    const bytes = (parts as readonly (string | Buffer)[]).map((part) =>
      Buffer.from(part as string),
    );
    const descriptor = openSync(join(place.path, place.write('frames', Buffer.concat(bytes))), 'r');
    onTestFinished(() => closeSync(descriptor));
    let taken = 0;
    const memory = (count: number, urlBytes: number) => {
      taken = columnBytes(count, urlBytes, false);
      return new Uint8Array(taken);
    };
    expect(() => readRequest(descriptor, memory)).toThrow(message);
    // A number beyond its limit allocates nothing.
    expect(taken).toBeLessThan(1000);
  });
});

describe('a column', () => {
  it('has the verdicts of its URLs one by one', () => {
    const random = new Random(29);
    const seen = new Map<string, number>();
    for (let file = 0; file < 60; file++) {
      const profile = random.chance(0.3) ? 'google' : 'rfc9309';
      const { robots, urls, chains } = hostileFile(random, profile, { urls: 150, chains: 2 });
      const builder = new TableBuilder({ profile });
      builder.add('h.example', Buffer.from(robots, 'latin1'));
      const opened = Table.from(builder.build());
      const { arena, header } = tableMemory(opened);
      const judge = new ColumnJudge({
        memory: arena.memory,
        tables: [{ table: TABLE_ADDRESS, bytes: header.length }],
        addedShards: undefined,
        isWhole: true,
        histories: false,
        time: undefined,
        profile,
        agents: ['*'],
      });
      const values = urls.map((url) => Buffer.from(url, 'latin1'));
      const urlBytes = values.reduce((sum, { length }) => sum + length, 0);
      const column = judge.columnMemory(values.length, urlBytes, false);
      let at = 0;
      const offsets = [0, ...values.map(({ length }) => (at += length))];
      column.set(Buffer.concat([words(...offsets), ...values]));
      // Names that differ only by capitals are refused.
      const byKey = new Map(chains.map((chain) => [chain.join('>').toLowerCase(), chain]));
      const names = [...byKey.values()].map((chain) => chain.join('>'));
      const frame = judge.judge({
        agents: JSON.stringify(names.map((name) => name.split('>'))),
        explain: true,
        warn: false,
        timed: false,
        count: values.length,
        urlBytes,
      });
      names.forEach((name, agent) => {
        values.forEach((value, index) => {
          const { verdict, reason } = opened.verdict(value, name.split('>'));
          const place = 8 + agent * values.length + index;
          const own = [VERDICTS[frame[place] as number]];
          own.push(REASONS[frame[place + names.length * values.length] as number] as never);
          expect(own).toEqual([verdict, reason]);
          seen.set(reason, (seen.get(reason) ?? 0) + 1);
        });
      });
    }
    for (const reason of ['rule', 'no-rule', 'no-group', 'unknown-host', 'invalid-url']) {
      expect(seen.get(reason) ?? 0, reason).toBeGreaterThan(20);
    }
  });

  it('of URLs with times has the verdicts of those times', () => {
    const builder = new TableBuilder({ history: true });
    const bodies = ['Disallow: /a', 'Disallow: /b', 'Disallow: /'];
    for (const [index, rule] of bodies.entries()) {
      builder.add('h.example', `User-agent: *\n${rule}\n`, { date: 1e12 + 1e6 * index });
    }
    const opened = Table.from(builder.build());
    const { arena, header } = tableMemory(opened);
    const served = {
      memory: arena.memory,
      tables: [{ table: TABLE_ADDRESS, bytes: header.length }],
      addedShards: undefined,
      isWhole: true,
      histories: true,
      time: undefined,
      profile: 'rfc9309',
      agents: ['*'],
    } as const;
    const judge = new ColumnJudge(served);
    const random = new Random(4704);
    // With and without times in turn, and as many that the memory moves.
    for (const [turn, count] of [3, 500, 30_000, 7, 1].entries()) {
      const timed = turn !== 3;
      const urls = Array.from(
        { length: count },
        () => `https://h.example/${random.pick(['a', 'b'])}`,
      );
      const times = urls.map(() =>
        random.chance(0.1)
          ? 0xffff_ffff
          : 999_999_999 + 1000 * random.between(0, 2) + random.between(0, 2),
      );
      const values = urls.map((url) => Buffer.from(url));
      const urlBytes = values.reduce((sum, { length }) => sum + length, 0);
      let at = 0;
      const offsets = [0, ...values.map(({ length }) => (at += length))];
      const column = judge.columnMemory(count, urlBytes, timed);
      column.set(Buffer.concat([words(...(timed ? times : []), ...offsets), ...values]));
      const agents = '["bot","*"]';
      const request = { agents, explain: random.chance(0.5), warn: false, timed, count, urlBytes };
      const frame = judge.judge(request);
      for (const [index, url] of urls.entries()) {
        const time = times[index] as number;
        const isTimeless = timed && time === 0xffff_ffff;
        const options = timed && !isTimeless ? { at: 1000 * time } : {};
        const expected = isTimeless ? 'invalid' : opened.verdict(url, 'bot', options).verdict;
        for (const place of [8 + index, 8 + count + index]) {
          expect(VERDICTS[frame[place] as number], `${url} at ${time}`).toBe(expected);
        }
      }
      const asked = { at: times.map((time) => 1000 * time) };
      if (timed) {
        expect(opened.verdicts(urls, 'bot', asked)).toEqual(
          urls.map(
            (url, index) =>
              opened.verdict(url, 'bot', { at: 1000 * (times[index] as number) }).verdict,
          ),
        );
      }
    }
    expect(opened.verdict('https://h.example/a', 'bot').verdict).toBe('deny');
    expect(opened.verdicts(['https://h.example/c\n'], 'bot', { at: [1e12] })).toEqual(['allow']);
    const timed = { agents: '[]', explain: false, warn: false, timed: true, count: 0, urlBytes: 0 };
    expect(() => new ColumnJudge({ ...served, histories: false }).judge(timed)).toThrow(
      'no histories',
    );
    expect(() => new ColumnJudge({ ...served, time: 5 }).judge(timed)).toThrow('for one time');
  });

  it('counts no robots.txt that is older than the request says', () => {
    const builder = new TableBuilder({ history: true });
    for (const seconds of [1e9, 1e9 + 5000, 1e9 + 9000]) {
      const rule = seconds === 1e9 + 9000 ? 'Allow' : 'Disallow';
      builder.add('h.example', `User-agent: *\n${rule}: /a\n`, { date: 1000 * seconds });
    }
    const { arena, header } = tableMemory(Table.from(builder.build()));
    const served = {
      memory: arena.memory,
      tables: [{ table: TABLE_ADDRESS, bytes: header.length }],
      addedShards: undefined,
      isWhole: true,
      histories: true,
      time: undefined,
      profile: 'rfc9309',
      agents: ['*'],
    } as const;
    const url = 'https://h.example/a';
    const times = [999_999_999, 1e9, 1e9 + 4000, 1e9 + 7000, 1e9 + 9000, 1e9 + 12_001];
    const offsets = [0, ...times.map((_, index) => (index + 1) * url.length)];
    const urls = url.repeat(times.length);
    const judged = (flags: number, age: readonly number[], judge = new ColumnJudge(served)) => {
      const timed = (flags & 4) !== 0;
      const place = new Workplace();
      const frame = Buffer.concat([
        words(1, flags, 2, times.length, urls.length, ...age),
        Buffer.from('[]\0\0'),
        words(...(timed ? times : []), ...offsets),
        Buffer.from(urls),
      ]);
      const descriptor = openSync(join(place.path, place.write('frames', frame)), 'r');
      onTestFinished(() => closeSync(descriptor));
      const request = readRequest(descriptor, judge.columnMemory.bind(judge));
      if (request === undefined) throw new Error('no request');
      return Array.from(judge.judge(request).subarray(8), (verdict) => VERDICTS[verdict]);
    };
    const judge = new ColumnJudge(served);
    const all = ['unknown', 'deny', 'deny', 'deny', 'allow', 'allow'];
    expect(judged(4, [], judge)).toEqual(all);
    // The robots.txt of the third time was found again later.
    expect(judged(4 + 8, [3000], judge)).toEqual([...all.slice(0, 5), 'unknown']);
    expect(judged(4 + 8, [1000], judge)).toEqual([
      ...['unknown', 'deny', 'deny', 'unknown', 'allow', 'unknown'],
    ]);
    expect(judged(4, [], judge)).toEqual(all);
    const then = new ColumnJudge({ ...served, time: 1e9 + 7000 });
    expect(judged(8, [2000], then)).toEqual(all.map(() => 'deny'));
    expect(judged(8, [1999], then)).toEqual(all.map(() => 'unknown'));
    expect(() => judged(8, [1000], judge)).toThrow('needs a time from which it is counted');
  });

  it('of any size finds its memory', () => {
    const { arena, header } = tableMemory(Table.from(table));
    const judge = new ColumnJudge({
      memory: arena.memory,
      tables: [{ table: TABLE_ADDRESS, bytes: header.length }],
      addedShards: undefined,
      isWhole: true,
      histories: false,
      time: undefined,
      profile: 'rfc9309',
      agents: ['*'],
    });
    const before = createHash('sha1').update(tableBytes(arena.memory, TABLE_ADDRESS)).digest('hex');
    const start = 'https://h.example/essays/';
    for (const bytes of [
      380_000,
      419_000,
      420_000,
      1 << 20,
      LIMITS.urlBytes,
      LIMITS.requestUrlBytes,
    ]) {
      const column = judge.columnMemory(1, bytes, false);
      expect(column).toHaveLength(columnBytes(1, bytes, false));
      column.set(words(0, bytes));
      column.fill(0x78, 8);
      column.set(Buffer.from(start), 8);
      const agents = '["GPTBot"]';
      const frame = judge.judge({
        agents,
        explain: true,
        warn: false,
        timed: false,
        count: 1,
        urlBytes: bytes,
      });
      const isLong = bytes > LIMITS.urlBytes;
      expect([VERDICTS[frame[8] as number], REASONS[frame[9] as number]]).toEqual(
        isLong ? ['invalid', 'line-too-long'] : ['deny', 'rule'],
      );
    }
    const after = createHash('sha1').update(tableBytes(arena.memory, TABLE_ADDRESS)).digest('hex');
    expect(after).toBe(before);
  });
});

function tableBytes(memory: WebAssembly.Memory, address: number): Uint8Array {
  return new Uint8Array(memory.buffer, address, table.length).slice();
}
