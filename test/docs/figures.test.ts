import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { TARGETS } from '../../fuzz/targets/index.js';
import { OLDEST_VERSION, VERSION, VERSION_WITHOUT_HISTORIES } from '../../src/table/format.js';
import { fencedBlocks } from './blocks.js';
import { ROOT } from './scratch.js';

const WORKFLOW = '.github/workflows/ci.yml';

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

/** The text of a file, or of all TypeScript below a folder. */
function codeOf(path: string): string {
  if (path.endsWith('.ts')) return read(path);
  const names = readdirSync(join(ROOT, path), { recursive: true, encoding: 'utf8' });
  return names
    .filter((name) => name.endsWith('.ts'))
    .map((name) => read(join(path, name)))
    .join('\n');
}

describe('documents', () => {
  it.each([
    ['README.md', 6],
    ['CONTRIBUTING.md', 8],
    ['SECURITY.md', 4],
    ['CHANGELOG.md', 2],
    ['bench/README.md', 8],
  ])('%s has at most %i KB', (path, kilobytes) => {
    expect(statSync(join(ROOT, path)).size).toBeLessThanOrEqual(1000 * kilobytes);
  });

  it('are few, and each is in the index', () => {
    const names = readdirSync(join(ROOT, 'docs')).filter((name) => name.endsWith('.md'));
    expect(names.length).toBeLessThanOrEqual(16);
    const index = read('docs/README.md');
    expect(names.filter((name) => name !== 'README.md' && !index.includes(`](${name})`))).toEqual(
      [],
    );
  });
});

describe('what documents say of the code', () => {
  it.each([
    ['written', `${VERSION_WITHOUT_HISTORIES}, with histories ${VERSION}`],
    ['read', `${OLDEST_VERSION} to ${VERSION_WITHOUT_HISTORIES} and ${VERSION}`],
  ])('is true of the versions of tables: %s', (name, versions) => {
    const said = read('docs/release.md').split(`<!-- table: ${name} -->`)[1];
    expect(said?.split('<!-- /table -->')[0]).toBe(versions);
  });

  it('is true of the names in CONTRIBUTING.md', () => {
    const code = ['src', 'test', 'vitest.config.ts', 'vitest.quick.config.ts'].map(codeOf).join();
    const names = [...read('CONTRIBUTING.md').matchAll(/`([A-Z][A-Za-z_]{3,})(?:\.(\w+))?`/g)];
    expect(names.length).toBeGreaterThan(5);
    const words = names.flatMap(([, name = '', member]) => [name, member ?? name]);
    expect(words.filter((word) => !new RegExp(`\\b${word}\\b`).test(code))).toEqual([]);
  });

  it('is true of the targets of the fuzzer', () => {
    const rows = read('fuzz/README.md').matchAll(/^\| `([\w-]+)` \|/gm);
    expect([...rows].map(([, name]) => name).sort()).toEqual(Object.keys(TARGETS).sort());
  });

  it('is true of the oldest Node', () => {
    const { engines }: { engines: { node: string } } = JSON.parse(read('package.json'));
    const [, oldest = '', further = ''] = /^\^([\d.]+) \|\| >=([\d.]+)$/.exec(engines.node) ?? [];
    for (const page of ['README.md', 'docs/guide.md', 'docs/api.md']) {
      expect(read(page)).toContain(`Node ${oldest}, or ${further} or later`);
    }
    expect(read(WORKFLOW)).toContain(`node: ['${oldest}', 'latest']`);
  });

  it("is true of the workflow, which runs the README's first two commands", () => {
    const blocks = fencedBlocks(read('README.md')).filter(({ language }) => language === 'sh');
    const commands = blocks.slice(0, 2).map(({ text }) => text);
    const runs = [...read(WORKFLOW).matchAll(/^ +- run: (npm .*)$/gm)].map(([, run]) => run);
    expect(runs).toEqual(commands);
  });
});
