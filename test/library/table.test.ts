import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { checksum } from '../../src/kernel/hashes.js';
import {
  type Profile,
  parseAuthority,
  RobotsFilterError,
  Table,
  TableBuilder,
} from '../../src/library/index.js';
import { HEADER_CHECKSUM, HEADER_TOKENS } from '../../src/table/format.js';

const directory = mkdtempSync(join(tmpdir(), 'robots-filter-table-'));
afterAll(() => rmSync(directory, { recursive: true }));

function tableOf(files: Record<string, string>, profile: Profile = 'rfc9309'): Table {
  const builder = new TableBuilder({ profile });
  for (const [name, body] of Object.entries(files)) {
    const authority = parseAuthority(name);
    if (authority === undefined) throw new Error(`${name} is not an authority`);
    builder.add(authority, new TextEncoder().encode(body), { source: `${name}/robots.txt` });
  }
  return Table.from(builder.build());
}

describe('Table', () => {
  const table = tableOf({
    'example.com': 'User-agent: *\nDisallow: /private/\nAllow: /private/open\n',
    'https://secure.example:8443': 'User-agent: GPTBot\nDisallow: /\n',
    '[2001:db8::1]': 'User-agent: *\nDisallow: /six\n',
  });

  it('names the rule that decided, its line, its group’s token and the source of the file', () => {
    const object: unknown = new URL('https://example.com/private/x');
    expect(() => table.verdict(object as string, 'ExampleBot')).toThrow('Pass its href');
    expect(table.verdict('https://example.com/private/x', 'ExampleBot')).toEqual({
      verdict: 'deny',
      reason: 'rule',
      rule: {
        line: 2,
        text: 'Disallow: /private/',
        agent: '*',
        source: 'example.com/robots.txt',
      },
    });
  });

  it('names allow and disallow rules in turn, with bytes that need an escape', () => {
    const rules = 'User-agent: *\nDisallow: /p\nAllow: /p/é"\nAllow: /p/o\n';
    const verbose = tableOf({ 'rules.example': rules });
    const text = (path: string): string | undefined =>
      verbose.verdict(`https://rules.example${path}`, 'A').rule?.text;
    const paths = ['/p', '/p/o', '/p/é"', '/p/x', '/p/é"'];
    expect(paths.map(text)).toEqual([
      'Disallow: /p',
      'Allow: /p/o',
      'Allow: /p/é"',
      'Disallow: /p',
      'Allow: /p/é"',
    ]);
  });

  it('RFC 9309 2.3: applies to one scheme, host and port', () => {
    const verdict = (url: string): string => table.verdict(url, 'GPTBot').verdict;
    expect(verdict('http://example.com:80/private/')).toBe('deny');
    expect(verdict('https://EXAMPLE.com.:443/private/')).toBe('deny');
    expect(verdict('https://user:secret@example.com/private/open')).toBe('allow');
    expect(verdict('http://example.com:8080/private/')).toBe('unknown');
    expect(verdict('http://example.com:0/private/')).toBe('unknown');
    expect(verdict('ftp://example.com/private/')).toBe('unknown');
    expect(verdict('https://secure.example:8443/')).toBe('deny');
    expect(verdict('https://secure.example/')).toBe('unknown');
    expect(verdict('http://[2001:DB8:0::1]/six')).toBe('deny');
    expect(verdict('mailto:someone@example.com')).toBe('invalid');
    expect(verdict('/private/')).toBe('invalid');
  });

  it('RFC 9309 2.2.2: allows /robots.txt, and that path only', () => {
    const closed = tableOf({ 'closed.example': 'User-agent: *\nDisallow: /\n' });
    const reason = (path: string): string =>
      closed.verdict(`https://closed.example${path}`, 'a').reason;
    expect(reason('/robots.txt')).toBe('robots-txt');
    expect(reason('/a/../%72obots.txt#top')).toBe('robots-txt');
    expect(reason('/robots.txt?')).toBe('rule');
    expect(reason('/robots.txt/')).toBe('rule');
  });

  it('takes a fallback chain: the first token that has a group decides', () => {
    expect(table.verdict('https://secure.example:8443/', 'CCBot').verdict).toBe('allow');
    expect(table.verdict('https://secure.example:8443/', 'CCBot>GPTBot').rule?.agent).toBe(
      'GPTBot',
    );
    expect(table.verdict('https://secure.example:8443/', ['CCBot', 'gptbot']).verdict).toBe('deny');
  });

  it('rejects an agent that is not a product token, and says what to write', () => {
    expect(() => table.verdict('https://example.com/', 'ExampleBot/1.0')).toThrow(
      /use "ExampleBot"/,
    );
  });

  it('RFC 9309 2.3.1: derives access results from the status', () => {
    const builder = new TableBuilder();
    for (const status of [200, 404, 503]) {
      builder.add(
        { scheme: undefined, host: `s${status}.example`, port: undefined },
        new TextEncoder().encode('User-agent: *\nDisallow: /\n'),
        { source: '', status },
      );
    }
    const byStatus = Table.from(builder.build());
    const judged = (host: string): unknown => byStatus.verdict(`http://${host}.example/x`, 'a');
    expect(judged('s200')).toMatchObject({ verdict: 'deny', reason: 'rule' });
    expect(judged('s404')).toEqual({ verdict: 'allow', reason: 'unavailable' });
    expect(judged('s503')).toEqual({ verdict: 'deny', reason: 'unreachable' });
    expect(byStatus.verdict('http://s503.example/robots.txt', 'a').reason).toBe('robots-txt');
  });

  it('judges the same after a save and an open, and replaces the file atomically', async () => {
    const path = join(directory, 'saved.table');
    writeFileSync(path, 'an older file');
    await table.save(path);
    expect(readFileSync(path).equals(Buffer.from(table.bytes))).toBe(true);
    expect(readdirSync(directory)).toEqual(['saved.table']);
    const opened = await Table.open(path);
    expect(opened.hosts).toBe(3);
    expect(opened.profile).toBe('rfc9309');
    expect(opened.verdict('https://example.com/private/x', 'a')).toEqual(
      table.verdict('https://example.com/private/x', 'a'),
    );
  });

  it('is verified on opening, or by its own method', async () => {
    const path = join(directory, 'theirs.table');
    await table.save(path);
    const opened = await Table.open(path, { verify: true });
    expect(opened.verdict('https://example.com/private/x', 'a').verdict).toBe('deny');
    expect(await opened.verify()).toMatchObject({ hosts: 3, authorities: 3, rules: 4 });
    expect(await table.verify()).toEqual(await opened.verify());

    const forged = Buffer.from(table.bytes);
    forged.writeUInt32LE(forged.readUInt32LE(HEADER_TOKENS) - 1, HEADER_TOKENS);
    forged.writeUInt32LE(checksum(forged), HEADER_CHECKSUM);
    writeFileSync(path, forged);
    const refusal = { code: 'table', message: expect.stringMatching(/section tokens, byte 352: /) };
    await expect(Table.open(path, { verify: true })).rejects.toMatchObject(refusal);
    await expect(Table.open(path).then((it) => it.verify())).rejects.toMatchObject(refusal);
    await expect(Table.from(forged).verify()).rejects.toMatchObject(refusal);
    rmSync(path);
  });

  it('names what is wrong with a rejected file', async () => {
    const path = join(directory, 'damaged.table');
    const bytes = Uint8Array.from(table.bytes);
    bytes[bytes.length - 100] = (bytes[bytes.length - 100] ?? 0) ^ 1;
    writeFileSync(path, bytes);
    await expect(Table.open(path)).rejects.toThrow(RobotsFilterError);
    await expect(Table.open(path)).rejects.toThrow(path);
    writeFileSync(path, bytes.subarray(0, 300));
    await expect(Table.open(path)).rejects.toThrow(path);
    await expect(Table.open(join(directory, 'none.table'))).rejects.toMatchObject({
      code: 'input',
    });
  });

  it.runIf(process.platform === 'linux')(
    'reads only the header of a file of another size',
    async () => {
      const path = join(directory, 'sparse.table');
      await table.save(path);
      const { size } = statSync(path);
      // The bytes that this process has read so far.
      const bytesRead = () => {
        const [line = ''] = readFileSync('/proc/self/io', 'utf8').split('\n');
        return Number(line.slice('rchar: '.length));
      };
      for (const [length, reason] of [
        [3 * 1024 ** 3, `bytes follow its end at ${size}`],
        [size - 1, `truncated: ${size - 1} bytes of ${size}`],
      ] as const) {
        truncateSync(path, length);
        const before = bytesRead();
        await expect(Table.open(path)).rejects.toThrow(reason);
        expect(bytesRead() - before).toBeLessThan(64 * 1024 ** 2);
        expect(bytesRead()).toBeGreaterThan(0);
      }
    },
  );

  it('judges long URLs and many agents, one after the other, in one memory', () => {
    const before = table.verdict('https://example.com/private/x', 'a');
    const long = `https://example.com/private/${'%41%ff/../'.repeat(20_000)}`;
    expect(table.verdict(long, 'a').verdict).toBe('deny');
    for (let i = 0; i < 200; i++) {
      const name = `bot-${String.fromCharCode(97 + (i % 26))}${'x'.repeat(i)}`;
      expect(table.verdict('https://example.com/private/open', name).verdict).toBe('allow');
    }
    expect(table.verdict('https://example.com/private/x', 'a')).toEqual(before);
  });
});

describe('an agent that likely misspells another', () => {
  /** The messages of the warnings of the process while something runs. */
  async function warned(run: () => unknown): Promise<string[]> {
    const messages: string[] = [];
    const listen = (warning: Error & { code?: string }): void => {
      if (warning.code !== 'ROBOTS_FILTER_AGENT') return;
      expect(warning.name).toBe('RobotsFilterWarning');
      messages.push(warning.message);
    };
    process.on('warning', listen);
    await run();
    // A message that is to come is there after the module and the warning.
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setTimeout(resolve, 1));
    process.off('warning', listen);
    return messages;
  }
  const files = {
    'a.example': 'User-agent: GPTBot\nUser-agent: AcmeCrawler\nDisallow: /',
    'b.example': 'User-agent: *\nDisallow: /b',
  };

  it('is a warning of the process, once for each table', async () => {
    const table = tableOf(files);
    const messages = await warned(() => {
      for (const agent of ['GTPBot', 'acmecrawlr', 'GTPBot', 'Mine', 'bingbot', 'GPTBot', '*']) {
        expect(table.isAllowed('https://a.example/', agent)).toBe(!['GPTBot'].includes(agent));
        table.verdict('https://b.example/', agent);
      }
      table.verdicts(['https://a.example/'], ['Mine', 'Claudbot']);
    });
    expect(messages.sort()).toEqual([
      'no robots.txt in the table has a group for GTPBot, so "*" decides everywhere. Did you mean GPTBot?',
      'no robots.txt in the table has a group for Mine>Claudbot, so "*" decides everywhere. Did you mean ClaudeBot?',
      'no robots.txt in the table has a group for acmecrawlr, so "*" decides everywhere. Did you mean acmecrawler?',
    ]);
  });

  it('is found when a table is reduced to it, and not asked about in an empty one', async () => {
    const kept = await warned(() => {
      const builder = new TableBuilder({ agents: ['GTPBot', 'AcmeCrawler', '*'] });
      for (const [name, body] of Object.entries(files)) builder.add(name, body);
      Table.from(builder.build()).verdict('https://a.example/', 'GTPBot');
    });
    expect(kept).toEqual([expect.stringContaining('a group for gtpbot, so')]);
    const empty = await warned(() => tableOf({}).verdict('https://a.example/', 'GTPBot'));
    expect(empty).toEqual([]);
  });
});
