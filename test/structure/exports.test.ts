import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

/** The kernel's sources; asc compiles them, not the bundler. */
const ASSEMBLY = 'src/kernel/assembly/';

describe('exports', () => {
  const sources = readdirSync('src', { recursive: true, encoding: 'utf8' })
    .map((name) => join('src', name))
    .filter((path) => path.endsWith('.ts') && !path.startsWith(ASSEMBLY));

  it('never change, because the built files copy their values (build/plain-exports.ts)', () => {
    expect(sources.length).toBeGreaterThan(150);
    expect(sources.filter((path) => exportsVariable(readFileSync(path, 'utf8')))).toEqual([]);
    // A planted variable is found.
    expect(exportsVariable('let a = 1;\nexport { b, a as c };\n')).toBe(true);
    expect(exportsVariable('export let a = 1;\n')).toBe(true);
    expect(
      exportsVariable("const a = 1;\nlet c;\nexport { a, b };\nexport { c } from 'c';\n"),
    ).toBe(false);
  });
});

/** Whether a module exports a binding that it may assign anew. */
function exportsVariable(text: string): boolean {
  if (/^export (?:default )?(?:let|var)\b/m.test(text)) return true;
  const lists = [...text.matchAll(/^export \{([^}]*)\}(?! from)/gm)].map(([, list = '']) => list);
  const names = lists.flatMap((list) =>
    list.split(',').map((item) => item.trim().split(' as ')[0] ?? ''),
  );
  return names.some((name) => name !== '' && new RegExp(`^(?:let|var) ${name}\\b`, 'm').test(text));
}
