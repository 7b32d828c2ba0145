import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { docsPage } from '../../src/base/errors.js';
import { ROOT } from './scratch.js';

const pages = [
  'README.md',
  'CHANGELOG.md',
  'CONTRIBUTING.md',
  'SECURITY.md',
  'bench/README.md',
  'dependencies/README.md',
  'fuzz/README.md',
  ...readdirSync(join(ROOT, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

/** A path of this project in backticks. */
const PATH = /`((?:bench|build|dependencies|examples|fixtures|fuzz|python|src|test)\/[\w./-]*)`/g;
/** What commands make. */
const MADE = /^(bench\/record|python\/(dist|\.venv))/;

function read(path: string): string {
  return readFileSync(join(ROOT, path), 'utf8');
}

/** The anchors of a page, as GitHub derives them from its headings. */
function anchorsOf(path: string): string[] {
  return [...read(path).matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

/** Why a link of a page leads nowhere; undefined if it leads somewhere. */
function faultOf(page: string, link: string): string | undefined {
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? page : join(dirname(page), path);
  if (!existsSync(join(ROOT, target))) return `${page}: ${link}: no such file`;
  if (anchor === undefined || anchorsOf(target).includes(anchor)) return undefined;
  return `${page}: ${link}: no such heading`;
}

describe('links between pages', () => {
  it('lead to existing files and headings', () => {
    const links = pages.flatMap((page) =>
      [...read(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => ({ page, link })),
    );
    const local = links.filter(({ link }) => !link.includes('://'));
    expect(local.length).toBeGreaterThan(40);
    expect(local.flatMap(({ page, link }) => faultOf(page, link) ?? [])).toEqual([]);
  });

  it('of messages and --help are addresses, because a package has no pages', () => {
    const sources = readdirSync(join(ROOT, 'src'), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .map((name) => join('src', name));
    const named: string[] = [];
    const bare: string[] = [];
    for (const source of sources) {
      for (const line of read(source).split('\n')) {
        if (/^\s*(\/\/|\/?\*)/.test(line)) continue;
        for (const [, page = ''] of line.matchAll(/docsPage\([`']([^`'$]+)/g)) named.push(page);
        if (/docs\/[\w-]+\.md/.test(line)) bare.push(`${source}: ${line.trim()}`);
      }
    }
    expect(named.length).toBeGreaterThan(8);
    expect(
      named.flatMap((page) => faultOf('docs/', `docs/${page}`.replace(/#$/, '')) ?? []),
    ).toEqual([]);
    expect(bare).toEqual([]);
    const { homepage }: { homepage: string } = JSON.parse(read('package.json'));
    expect(docsPage('lint.md')).toBe(homepage.replace('#readme', '/blob/main/docs/lint.md'));
  });

  it('name files and folders of the project that exist', () => {
    const paths = pages.flatMap((page) =>
      [...read(page).matchAll(PATH)].map(([, path = '']) => ({ page, path })),
    );
    expect(paths.length).toBeGreaterThan(40);
    const missing = paths.filter(({ path }) => !MADE.test(path) && !existsSync(join(ROOT, path)));
    expect(missing).toEqual([]);
  });

  it('reach every page from the README', () => {
    const reached = new Set(['README.md']);
    for (const page of reached) {
      for (const [, link = ''] of read(page).matchAll(/\]\(([^)#\s]+\.md)/g)) {
        if (!link.includes('://')) reached.add(join(dirname(page), link));
      }
    }
    expect(pages.filter((page) => !reached.has(page))).toEqual([]);
  });
});
