import { isUtf8 } from 'node:buffer';
import { spawnSync } from 'node:child_process';
import { describe, expect } from 'vitest';
import { actingOn } from '../random/controls.js';
import { lines, test, workplace } from './command-line.js';

/**
 * util-linux's `script` runs a command on its own terminal; the `script` of macOS has other
 * options.
 */
const HAS_SCRIPT = spawnSync('script', ['-qec', 'true', '/dev/null']).status === 0;

describe.skipIf(!HAS_SCRIPT)('on a terminal', () => {
  test('standard input is announced, and ends with Ctrl-D', async ({ place }) => {
    const { text } = await place.shellAlone(
      `export NO_COLOR=1; { sleep 0.3; printf 'https://example.com/private/\\n'; sleep 0.3; printf '\\004'; } | script -qec "${place.command} --robots-dir robots" /dev/null`,
    );
    expect(text).toContain('robots-filter: reading URLs from standard input, one per line');
    expect(text).toContain('deny\thttps://example.com/private/\r\n');
  });

  test('the progress line is overwritten, and removed at the end', async ({ place }) => {
    // The input stays open until the line has been seen. The log begins with this command, so the
    // pattern must not match itself: the input would end before the line.
    const input =
      "{ echo https://example.com/; until grep -q '[1] records' log; do sleep 0.1; done; }";
    const { text } = await place.shellAlone(
      `timeout 100 script -qefc "${input} | ${place.command} --robots-dir robots -o out" log < /dev/null`,
    );
    const updates = text.split('\r\u001b[K');
    expect(updates.length).toBeGreaterThan(2);
    expect(updates.at(-2)).toMatch(/^21 bytes, 1 records, \d+\/s, 100\.0 % allowed$/);
    expect(updates.at(-1)).toMatch(
      /^robots-filter: 1 URL in [\d.]+ s: 100\.0 % allow, 0\.0 % deny\r\n$/,
    );
    expect(place.read('out')).toBe('allow\thttps://example.com/\n');
  });

  test('--no-progress', async ({ place }) => {
    const { text } = await place.shellAlone(
      `script -qec "{ echo https://example.com/; sleep 1; } | ${place.command} --robots-dir robots --no-progress -o out" /dev/null < /dev/null`,
    );
    expect(text).toMatch(/^robots-filter: 1 URL in .*\r\n$/);
  });

  /**
   * Records whose bytes could control a terminal: C0, DEL, C1, a bidirectional override, not UTF-8.
   */
  const HOSTILE = Buffer.concat([
    Buffer.from('https://example.com/\u001b[2J\u007f\u009b\u202e\n'),
    Buffer.from('https://example.com/\u009d0;title\u001b\\\\'),
    Buffer.from([0x9b, 0x0a]),
  ]);

  test('control characters of a record are escaped; a pipe and a file get every byte', async ({
    place,
  }) => {
    place.write('urls', HOSTILE);
    place.write(
      'rows.ndjson',
      '{"url":"https://example.com/\u009b2J\u202e","n":"\u007f"}\nno \u001b json\n',
    );
    const annotated = 'allow\thttps://example.com/';
    const { text } = await place.shellAlone(
      `NO_COLOR=1 script -qec "${place.command} -q --robots-dir robots urls; ${place.command} -q --robots-dir robots --allowed urls; ${place.command} -q --robots-dir robots rows.ndjson" /dev/null < /dev/null`,
    );
    const rows = text.split('\r\n');
    expect(rows.slice(0, 4)).toEqual([
      `${annotated}\\x1b[2J\\x7f\\x9b\\u{202e}`,
      `${annotated}\\x9d0;title\\x1b\\\\\\x9b`,
      'https://example.com/\\x1b[2J\\x7f\\x9b\\u{202e}',
      'https://example.com/\\x9d0;title\\x1b\\\\\\x9b',
    ]);
    expect(rows[4]).toBe(
      '{"url":"https://example.com/\\x9b2J\\u{202e}","n":"\\x7f","verdict":"allow"}',
    );
    expect(rows[5]).toBe('{"verdict":"invalid","line":2,"input":"no \\u001b json"}');
    const piped = await place.shell('$rf -q --robots-dir robots --allowed urls | cat');
    expect(piped.stdout.equals(HOSTILE)).toBe(true);
    await place.shell('$rf -q --robots-dir robots --allowed urls > out');
    expect(Buffer.from(place.read('out'))).toEqual(Buffer.from(HOSTILE.toString()));
  });

  test('control characters of rules, hosts and agents are escaped', async ({ place }) => {
    const robots = Buffer.concat([
      Buffer.from('User-agent: *\nDisallow: /\u001b[31m\u009b\u202e'),
      Buffer.from([0x9b, 0x0a]),
      Buffer.from('Dis\u001b]0;allow: /\nSitemap \u009b\n'),
    ]);
    place.write('robots/hostile.example', robots);
    const url = "$(printf 'https://hostile.example/\\033[31m\\302\\233\\342\\200\\256\\233')";
    const { stdout, text } = await place.shellAlone(
      [
        `printf 'https://hostile.example/\\033[31m\\302\\233\\342\\200\\256\\233\\n' > urls`,
        `$rf compile -q --robots-dir robots -o table`,
        `NO_COLOR=1 U="${url}" script -qec "${[
          `${place.command} --robots-dir robots --explain urls`,
          `${place.command} check robots/hostile.example '*' \\"\\$U\\"`,
          `${place.command} inspect table hostile.example`,
          `${place.command} inspect table \\"\\$U\\"`,
          `${place.command} --robots-dir robots \\"\\$U\\"`,
          `${place.command} \\"--\\$U\\"`,
          `${place.command} fetch --robots-dir \\"\\$U\\" \\"\\$U\\"`,
        ].join('; ')}" /dev/null < /dev/null`,
      ].join('\n'),
    );
    const escaped = 'https://hostile.example/\\x1b[31m\\x9b\\u{202e}\\x9b';
    expect(text).toContain(`deny  ${escaped}  rule  2  Disallow: `);
    expect(text).toContain('unknown option');
    expect(text.match(/31m/g)?.length).toBeGreaterThan(7);
    expect(actingOn(text)).toEqual([]);
    expect(isUtf8(stdout)).toBe(true);
  });
});

describe.skipIf(!HAS_SCRIPT)('for people', () => {
  const URLS = 'https://example.com/\nhttps://example.com/private/\nno url\nhttps://new.example/\n';

  /** Runs commands on a terminal of so many columns, each after a line with its number. */
  async function onTerminal(columns: number, commands: readonly string[]): Promise<string[]> {
    const place = workplace();
    place.write('urls', URLS);
    place.write('bad', 'User-agent: *\nDisallow: x\n');
    const script = commands.map((command) => `echo @@; ${place.command} ${command}`).join('; ');
    const { text } = await place.shellAlone(
      `env -u NO_COLOR TERM=xterm script -qec "stty cols ${columns}; ${script}" /dev/null < /dev/null`,
    );
    return text.replaceAll('\r\n', '\n').split('@@\n').slice(1);
  }

  test('columns are aligned, verdicts coloured, and one line ends the run', async () => {
    const [wide, narrow, plain, quiet, json] = await onTerminal(100, [
      '--robots-dir robots --explain urls',
      '--robots-dir robots --explain urls; stty cols 20',
      '--robots-dir robots --color never urls',
      '--robots-dir robots -q urls',
      '--robots-dir robots -q --format ndjson urls',
    ]);
    const [first, second, third, fourth, ...messages] = (wide ?? '').split('\n');
    expect([first, second, third, fourth]).toEqual([
      '\u001b[32mallow\u001b[0m    https://example.com/          no-rule                                  example.com',
      '\u001b[31mdeny\u001b[0m     https://example.com/private/  rule          2  Disallow: /private/  *  example.com',
      '\u001b[35minvalid\u001b[0m  no url                        invalid-url',
      '\u001b[33munknown\u001b[0m  https://new.example/          unknown-host',
    ]);
    expect(messages.join('\n')).toMatch(
      /robots-filter: 4 URLs in [\d.]+ s: 25\.0 % allow, 25\.0 % deny, 25\.0 % unknown, 25\.0 % invalid\n$/,
    );
    expect(narrow).toContain('https://example.com/private/  rule');
    expect(plain).toContain('deny\thttps://example.com/private/\n');
    expect(plain).toMatch(/25\.0 % invalid; --explain says why\n$/);
    expect(quiet).toBe(
      [
        '\u001b[32mallow\u001b[0m\thttps://example.com/\n',
        '\u001b[31mdeny\u001b[0m\thttps://example.com/private/\n',
        '\u001b[35minvalid\u001b[0m\tno url\n',
        '\u001b[33munknown\u001b[0m\thttps://new.example/\n',
      ].join(''),
    );
    expect(json).not.toContain('\u001b');
  });

  test('answers about uses have a column, and the signals are aligned', async () => {
    const [text] = await onTerminal(100, ['-q --robots-dir robots --use train --explain urls']);
    expect((text ?? '').split('\n').slice(0, 2)).toEqual([
      '\u001b[32mallow\u001b[0m    unstated  https://example.com/          no-rule                                  example.com  no-signal          example.com',
      '\u001b[31mdeny\u001b[0m               https://example.com/private/  rule          2  Disallow: /private/  *  example.com  not-allowed        example.com',
    ]);
  });

  test('other commands, errors and warnings have colours', async () => {
    const [check, audit, lint, error, usage] = await onTerminal(100, [
      "check robots/example.com '*' / /private/",
      'audit -q --robots-dir robots',
      'lint -q bad',
      '--robots-dir nowhere urls',
      '--nonsense',
    ]);
    expect(check).toContain('\u001b[32mallow\u001b[0m  /          no-rule\n');
    expect(check).toContain('\u001b[31mdeny\u001b[0m   /private/  rule     2');
    expect(audit?.startsWith('\u001b[1mhost ')).toBe(true);
    expect(audit).toContain('  \u001b[33mpart\u001b[0m  ');
    expect(lint).toContain('\u001b[1;31merror:\u001b[0m ');
    for (const text of [error, usage]) {
      expect(text?.startsWith('\u001b[1;31mrobots-filter:\u001b[0m ')).toBe(true);
    }
  });

  test("a pipe gets today's bytes, and with --color always what a terminal gets", async () => {
    const [piped, always, head] = await onTerminal(80, [
      '--robots-dir robots -q --explain urls | cat -A',
      '--robots-dir robots -q --explain --color always urls | cat -A',
      '--robots-dir robots --explain --color always urls | head -n 1',
    ]);
    expect(piped).toContain(
      'deny^Ihttps://example.com/private/^Irule^I2^IDisallow: /private/^I*^Iexample.com$\n',
    );
    expect(always).toContain(
      '^[[31mdeny^[[0m     https://example.com/private/  rule          2  Disallow: /private/  *  example.com$\n',
    );
    expect(head).toContain('https://example.com/');
  });

  test.each([50, 80, 100])('tables fit a window of %i columns', async (window) => {
    const [audit, one, diff, counts, agents, agent, lint] = await onTerminal(window, [
      'audit --robots-dir robots -a GPTBot --color never',
      'audit --robots-dir robots -q -a GPTBot --color never',
      'diff robots/example.com bad --color never',
      '--robots-dir robots --stats-by host --color never urls',
      'agents',
      'agents GPTBot',
      'lint --format summary -q bad; stty cols 500',
    ]);
    const rows = (text = '') => text.split('\n').filter((line) => !line.includes('robots-filter:'));
    const tables = [audit, one, diff, counts, agents, lint].map(rows);
    for (const table of tables) {
      expect(table.length).toBeGreaterThan(1);
      for (const line of table) expect(line.length).toBeLessThanOrEqual(window);
    }
    expect(audit).toMatch(/^host +agent +allowed +group/);
    expect(audit).toMatch(/too narrow for .*, date\. Widen it, or use --format csv/);
    expect(one).not.toContain('robots-filter:');
    expect(agents).not.toContain('\t');
    expect(agent).toMatch(/^list +@ai-training\ntoken +GPTBot\n/);
    expect(lint).not.toContain('\t');
  });

  test('a wide window has every column of a table', async () => {
    const [audit] = await onTerminal(250, ['audit --robots-dir robots -a GPTBot --color never']);
    expect(audit).toMatch(/^host .* date\n/);
    expect(audit).not.toContain('too narrow');
  });

  test('an interrupt removes the progress line', async ({ place }) => {
    const { text } = await place.shellAlone(
      [
        `mkfifo pipe; exec 3<>pipe; echo https://example.com/ >&3`,
        `{ until grep -q '[1] records' log; do sleep 0.1; done; printf '\\003'; sleep 0.3; } |`,
        `  TERM=xterm timeout 100 script -qefc "${place.command} --robots-dir robots -o out pipe 3<&-" log`,
      ].join('\n'),
    );
    const updates = text.replace('^C', '').split('\r\u001b[K');
    expect(updates.length).toBeGreaterThan(2);
    expect(updates.at(-2)).toMatch(/^21 bytes, 1 records/);
    expect(updates.at(-1)).toMatch(/^records +1 read/);
    expect(place.names()).not.toContain('out');
  });
});

describe('standard error', () => {
  test('a line end in a name cannot forge a message', async ({ place }) => {
    const name = 'x\nrobots-filter: all is well';
    place.write(`robots/${name}`, '');
    const warned = await place.run('--robots-dir robots', '');
    expect(warned.code).toBe(0);
    expect(lines(warned.stderr)).toEqual([
      expect.stringContaining('warning: robots/x\\x0arobots-filter: all is well: '),
      'robots-filter: warning: standard input has no records',
    ]);
    for (const args of [
      [name],
      ['--table', name],
      ['--robots-dir', 'robots', name],
      [`--${name}`],
      ['check', name, '*', '/'],
      ['inspect', name],
      ['fetch', name],
    ]) {
      const { stderr, code } = await place.run(args, '');
      expect(code).toBe(2);
      expect(lines(stderr).filter((line) => line.startsWith('robots-filter: '))).toHaveLength(1);
      expect(stderr).toContain('all is well');
    }
  });
});
