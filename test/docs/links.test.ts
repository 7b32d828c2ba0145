import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ROOT } from './scratch.js';

const pages = [
  'README.md',
  'SECURITY.md',
  'CONTRIBUTING.md',
  ...readdirSync(join(ROOT, 'docs'))
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name}`),
];

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

  it('reach every page of docs/ from the README', () => {
    const reached = new Set(['README.md']);
    for (const page of reached) {
      for (const [, link = ''] of read(page).matchAll(/\]\(([^)#\s]+\.md)/g)) {
        if (!link.includes('://')) reached.add(join(dirname(page), link));
      }
    }
    expect(pages.filter((page) => !reached.has(page))).toEqual([]);
  });
});
