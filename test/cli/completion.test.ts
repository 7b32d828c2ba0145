import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { programWords, SHELLS } from '../../src/cli/completion.js';
import { COMMAND_NAMES } from '../../src/cli/console.js';
import { describedCommands, manPage } from '../../src/cli/man-page.js';
import { workplace } from './command-line.js';

const [program, ...commands] = describedCommands();
const words = programWords(program.command);

/** What is typed, and a word that must be offered. */
const OFFERED: readonly (readonly [typed: readonly string[], offered: string])[] = [
  [['--prof'], '--profile'],
  [['--profile', 'goo'], 'google'],
  [['insp'], 'inspect'],
  [['inspect', '--veri'], '--verify'],
  [['fetch', '--user'], '--user-agent'],
  [['fetch', '--on-429', 'de'], 'deny'],
  [['completion', 'powe'], 'powershell'],
  [['help', 'compi'], 'compile'],
  [['--table', 'mine.ta'], 'mine.table'],
  [['inspect', 'mine.ta'], 'mine.table'],
  [['-a', 'GPTB'], 'GPTBot'],
  [['--agent', '@ai-tr'], '@ai-training'],
  [['-a', 'CCBot,@seo,GPTB'], 'CCBot,@seo,GPTBot'],
  [['-a', 'GPTBot,@ai-tr'], 'GPTBot,@ai-training'],
  [['--agent=@arch'], '@archive'],
  [['agents', '@sea'], '@search'],
  [['compile', 'mine.ta'], 'mine.table'],
  [['check', 'mine.table', 'ClaudeB'], 'ClaudeBot'],
  [['check', 'mine.ta'], 'mine.table'],
  [['check', '--profile', 'google', 'mine.table', 'ClaudeB'], 'ClaudeBot'],
  [['lint', '--disable', 'misspelt-rec'], 'misspelt-record'],
  [['records', '--kind', 'sitemap,crawl-d'], 'sitemap,crawl-delay'],
];

/** Words that must not be offered. */
const NOT_OFFERED: readonly (readonly [typed: readonly string[], word: string])[] = [
  [['inspect', '--'], '--shards'],
  [['--agent', 'mine.ta'], 'mine.table'],
  [['compile', 'insp'], 'inspect'],
  [['inspect', 'mine.table', 'GPTB'], 'GPTBot'],
];

const has = (shell: string): boolean => spawnSync(shell, ['-c', 'exit 0']).status === 0;

describe.each([
  // bash replaces only what follows the last @.
  { shell: 'bash', ask: askBash, ends: (word: string) => word.replace(/.*@/, '') },
  { shell: 'fish', ask: askFish, ends: (word: string) => word },
])('completions of $shell', ({ shell, ask, ends }) => {
  it.skipIf(!has(shell))('offer the words of each place, and no others', () => {
    const answers = ask([...OFFERED, ...NOT_OFFERED].map(([typed]) => typed));
    for (const [index, [, offered]] of OFFERED.entries()) {
      // After --option=, bash and fish offer the value alone or with the option.
      const words = answers[index]?.trim().split(/\s+/);
      expect(words?.map((word) => word.replace('--agent=', ''))).toContain(ends(offered));
    }
    for (const [index, [typed, word]] of NOT_OFFERED.entries()) {
      expect(answers[OFFERED.length + index], typed.join(' ')).not.toContain(word);
    }
  });
});

describe('completions of zsh', () => {
  it.skipIf(!has('zsh'))('complete each word on a terminal', () => {
    const place = workplace();
    place.write('completions', SHELLS.zsh?.(words) ?? '');
    place.write('mine.table', '');
    const lines = OFFERED.map(
      ([typed, offered]) => `ask 'robots-filter ${typed.join(' ')}' '${offered}'`,
    );
    const script = `
zmodload zsh/zpty
zpty shell zsh -f -i
zpty -w shell "PS1='>'; autoload -Uz compinit; compinit -D -u; source completions; print 're''ady'"
zpty -r -m shell seen '*ready*'
ask() { local seen; zpty -w -n shell $'\\x15'"$1"$'\\t'; zpty -r -m shell seen "*$2*" && print -r -- "$2"; }
${lines.join('\n')}
zpty -d shell`;
    const { stdout } = spawnSync('zsh', ['-f', '-c', script], {
      cwd: place.path,
      encoding: 'utf8',
      timeout: 100_000,
    });
    expect(stdout.trim().split('\n')).toEqual(OFFERED.map(([, offered]) => offered));
  });
});

describe('completions of PowerShell', () => {
  const script = SHELLS.powershell?.(words) ?? '';

  it('have every option of every command, with its summary', () => {
    let options = 0;
    for (const command of [words, ...words.commands]) {
      for (const { long, summary } of command.options) {
        if (long === undefined) continue;
        expect(script).toContain(`@('${long}', '${summary.replaceAll("'", "''")}')`);
        options++;
      }
    }
    expect(options).toBeGreaterThan(50);
    expect(script).toContain("' --profile' { @('rfc9309', 'google', 'draft-koster-rep-00') }");
    expect(script).toContain("  $agents = @('@ai-training', ");
    for (const place of ["' -a'", "'audit --agent'", "'agents agents'"]) {
      expect(script).toContain(`${place} { $agents }`);
    }
    expect(script).toContain("'lint --enable' { $rules }");
  });

  it('close every bracket', () => {
    for (const [open, close] of ['()', '{}', '[]']) {
      expect(script.split(open ?? '').length).toBe(script.split(close ?? '').length);
    }
  });
});

describe('the manual page', () => {
  const page = manPage(program, commands, '1.2.3');

  it('has every command and option', () => {
    for (const name of COMMAND_NAMES) expect(page).toContain(`.SS "robots\\-filter ${name}"`);
    for (const { long } of [words, ...words.commands].flatMap(({ options }) => options)) {
      if (long !== undefined) expect(page).toContain(long.replaceAll('-', '\\-'));
    }
    expect(page.startsWith('.TH "ROBOTS\\-FILTER" 1 "" "robots\\-filter 1.2.3"')).toBe(true);
  });

  it.skipIf(!has('groff'))('is read by groff without a warning', () => {
    const words = ['-ww', '-man', '-Tutf8', '-P-c'];
    const { stdout, stderr } = spawnSync('groff', words, { input: page, encoding: 'utf8' });
    expect(stderr).toBe('');
    expect(stdout).toContain('COMMANDS');
    expect(stdout).not.toContain('\\-');
  });
});

describe('robots-filter completion', () => {
  it('prints the completions of a shell, and names the shells that it knows', async () => {
    const place = workplace();
    const { code, text, stderr } = await place.run('completion bash');
    expect({ code, text, stderr }).toEqual({ code: 0, text: SHELLS.bash?.(words), stderr: '' });
    const wrong = await place.run('completion tcsh');
    expect(wrong.code).toBe(2);
    expect(wrong.stderr).toContain('Allowed choices are bash, zsh, fish, powershell.');
  });
});

/** What bash offers for each line, in a directory with a table. */
function askBash(lines: readonly (readonly string[])[]): string[] {
  const place = workplace();
  place.write('completions', SHELLS.bash?.(words) ?? '');
  place.write('mine.table', '');
  // Only a shell that completes has compopt.
  const script = `source completions
compopt() { :; }
ask() { COMP_WORDS=(robots-filter "$@"); COMP_CWORD=$#; COMPREPLY=(); _robots_filter; echo "\${COMPREPLY[*]}"; }
COMP_WORDBREAKS=' @=;:'
${lines.map((typed) => `ask ${partedByBash(typed).join(' ')}`).join('\n')}`;
  return answers('bash', ['--norc', '-c', script], place.path);
}

/** The words into which bash parts a line: = and @ are words of their own, or one together. */
function partedByBash(words: readonly string[]): string[] {
  return words.flatMap((word) => word.split(/([=@]+)/).filter((part) => part !== ''));
}

function askFish(lines: readonly (readonly string[])[]): string[] {
  const place = workplace();
  place.write('completions', SHELLS.fish?.(words) ?? '');
  place.write('mine.table', '');
  const asked = lines.map(
    (typed) => `echo (complete -C 'robots-filter ${typed.join(' ')}' | string join ' ')`,
  );
  return answers('fish', ['-N', '-c', `source completions\n${asked.join('\n')}`], place.path);
}

function answers(shell: string, args: readonly string[], cwd: string): string[] {
  const { stdout, stderr } = spawnSync(shell, args, { cwd, encoding: 'utf8' });
  expect(stderr).toBe('');
  return stdout.split('\n');
}
