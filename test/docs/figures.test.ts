import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { TARGETS } from '../../fuzz/targets/index.js';
import { OLDEST_VERSION, VERSION } from '../../src/table/format.js';
import { ROOT } from './scratch.js';

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
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
    ['written', `${VERSION}`],
    ['read', `${OLDEST_VERSION} to ${VERSION}`],
  ])('is true of the versions of tables: %s', (name, versions) => {
    const said = read('docs/release.md').split(`<!-- table: ${name} -->`)[1];
    expect(said?.split('<!-- /table -->')[0]).toBe(versions);
  });

  it('is true of the targets of the fuzzer', () => {
    const rows = read('fuzz/README.md').matchAll(/^\| `([\w-]+)` \|/gm);
    expect([...rows].map(([, name]) => name).sort()).toEqual(Object.keys(TARGETS).sort());
  });

  it('is true of the oldest Node, which the workflow runs, too', () => {
    const { engines }: { engines: { node: string } } = JSON.parse(read('package.json'));
    const [, oldest = '', further = ''] = /^\^([\d.]+) \|\| >=([\d.]+)$/.exec(engines.node) ?? [];
    expect(read('README.md')).toContain(`Node ${oldest}, or ${further} or later`);
    expect(read('.github/workflows/ci.yml')).toContain(`node: ['${oldest}', 'latest']`);
  });
});
