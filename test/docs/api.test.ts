import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as library from '../../src/library/index.js';
import { ROOT } from './scratch.js';

const page = readFileSync(join(ROOT, 'docs/api.md'), 'utf8');
const verdictsPage = readFileSync(join(ROOT, 'docs/verdicts.md'), 'utf8');

/** The exports of `src/library/index.ts`, with the file that declares each. */
function exported(): { name: string; source: string }[] {
  const index = readFileSync(join(ROOT, 'src/library/index.ts'), 'utf8');
  const statements = index.matchAll(/export (?:type )?\{([^}]+)\} from '(\.[^']+)\.js';/g);
  return [...statements].flatMap(([, names = '', file]) => {
    const source = readFileSync(join(ROOT, 'src/library', `${file}.ts`), 'utf8');
    return names
      .split(',')
      .map((name) => name.trim().replace('type ', ''))
      .filter((name) => name !== '')
      .map((name) => ({ name, source }));
  });
}

/** The declaration of an interface or a type, without comments; empty for any other name. */
function declaration({ name, source }: { name: string; source: string }, kind: string): string {
  const start = source.search(new RegExp(`^export ${kind} ${name}\\b`, 'm'));
  if (start < 0) return '';
  const end = kind === 'interface' ? source.indexOf('\n}', start) : source.indexOf(';\n', start);
  return source.slice(start, end).replaceAll(/\/\*\*[\s\S]*?\*\//g, '');
}

function isDocumented(name: string, pages = page): boolean {
  return pages.includes(`\`${name}\``) || new RegExp(`\`(?:[\\w ]+\\.)?${name}\\(`).test(pages);
}

describe('docs/api.md', () => {
  const exports = exported();

  it('names every export', () => {
    expect(exports.length).toBeGreaterThan(25);
    expect(exports.map(({ name }) => name).filter((name) => !isDocumented(name))).toEqual([]);
  });

  it('every type of the package is exported by name', () => {
    const types = readFileSync(join(ROOT, 'dist/cjs/index.d.cts'), 'utf8');
    const declared = [...types.matchAll(/^(?:interface|type|declare class) (\w+)/gm)];
    expect(declared.length).toBeGreaterThan(25);
    const names = exports.map(({ name }) => name);
    expect(declared.map(([, name = '']) => name).filter((name) => !names.includes(name))).toEqual(
      [],
    );
  });

  it('names every member of the interfaces', () => {
    const members = exports.flatMap((each) =>
      [...declaration(each, 'interface').matchAll(/^ {2}(?:readonly )?(\w+)\??:/gm)].map(
        ([, member = '']) => member,
      ),
    );
    expect(members.length).toBeGreaterThan(50);
    expect(members.filter((member) => !isDocumented(member))).toEqual([]);
  });

  it('names every word of the types', () => {
    const words = exports.flatMap((each) =>
      [...declaration(each, 'type').matchAll(/'([\w-]+)'/g)].map(([, word = '']) => word),
    );
    expect(words.length).toBeGreaterThan(40);
    const quoted = words.filter(
      (word) => !isDocumented(`'${word}'`) && !isDocumented(word, verdictsPage),
    );
    expect(quoted).toEqual([]);
  });

  it('names every member of the classes', () => {
    const classes = [library.Robots, library.Table, library.TableBuilder];
    const members = classes.flatMap((each) => [
      ...Object.getOwnPropertyNames(each.prototype).filter((name) => name !== 'constructor'),
      ...Object.getOwnPropertyNames(each).filter(
        (name) => !['length', 'name', 'prototype'].includes(name),
      ),
    ]);
    expect(members.length).toBeGreaterThan(15);
    expect(members.filter((member) => !isDocumented(member))).toEqual([]);
  });
});
