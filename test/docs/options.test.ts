import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { COMMAND_NAMES } from '../../src/cli/console.js';
import { runKept } from '../cli/kept-process.js';
import { ROOT } from './scratch.js';

const PROGRAM = 'robots-filter';
const COMMANDS: readonly string[] = COMMAND_NAMES;

const page = readFileSync(join(ROOT, 'docs/cli.md'), 'utf8');

async function helpOf(words: readonly string[]): Promise<string> {
  const { code, stdout } = await runKept(ROOT, [...words, '--help'], '');
  expect(code).toBe(0);
  return stdout.toString();
}

/** The long options at the start of a line: `  -a, --agent <token,…>`. */
async function optionsOfHelp(words: readonly string[]): Promise<string[]> {
  return [...(await helpOf(words)).matchAll(/^ {2}(?:-\w, )?(--[\w-]+)/gm)]
    .map(([, option = '']) => option)
    .sort();
}

/** The long options in the first cells of the tables of a section of cli.md. */
function optionsOfPage(heading: string): string[] {
  const start = page.indexOf(`\n## ${heading}\n`);
  const next = page.indexOf('\n## ', start + 1);
  const section = page.slice(start, next < 0 ? undefined : next);
  return [...section.matchAll(/^\| (?:`-\w`, )?`(--[\w-]+)` \|/gm)]
    .map(([, option = '']) => option)
    .sort();
}

describe('docs/cli.md', () => {
  it.each([[], ...COMMANDS.map((command) => [command])])(
    'has exactly the options of %s',
    async (...words) => {
      const options = await optionsOfHelp(words);
      expect(options).toContain('--help');
      expect(optionsOfPage([PROGRAM, ...words].join(' '))).toEqual(options);
    },
  );

  it('names the options of fetch in the --help of the filter', async () => {
    const [, sentence = ''] = /These\s+are ([^.]*)\./.exec(await helpOf([])) ?? [];
    const named = sentence.match(/--[\w-]+/g) ?? [];
    expect(named.length).toBeGreaterThan(3);
    expect(await optionsOfHelp(['fetch'])).toEqual(expect.arrayContaining(named));
    const [, documented = ''] = /With `--fetch`, these options([^.]*)\./.exec(page) ?? [];
    expect(documented.match(/(?<=`)--[\w-]+(?=`)/g)).toEqual(named);
  });

  it('names all commands that --help names', async () => {
    const help = await helpOf([]);
    for (const command of COMMANDS) expect(help).toMatch(new RegExp(`^  ${command} `, 'm'));
    const [, list = ''] = /^Commands:\n((?: {2}.*\n)+)/m.exec(help) ?? [];
    const names = [...list.matchAll(/^ {2}(\w+)/gm)].map(([, name = '']) => name);
    expect(names.sort()).toEqual([...COMMANDS, 'help'].sort());
  });
});
