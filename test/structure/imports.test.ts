import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';

/*
 * The block in CONTRIBUTING.md that begins with this line has the order of the rooms. A file
 * imports from its own room and from rooms on earlier lines, never from later ones.
 */
const ORDER_BLOCK = '<!-- order of imports -->';
const FOLDERS = ['src', 'bench', 'fuzz', 'build', 'test'];

describe('imports', () => {
  const sources = FOLDERS.flatMap(sourcesIn);
  const imports = new Map(sources.map((path) => [path, importsOf(path, new Set(sources))]));
  const order = roomsOf(readFileSync('CONTRIBUTING.md', 'utf8'));

  it('are found by this test', () => {
    const arrows = [...imports.values()].reduce((sum, { length }) => sum + length, 0);
    expect(sources.length).toBeGreaterThan(400);
    expect(arrows).toBeGreaterThan(1500);
    expect(imports.get('src/cli/main.ts')).toContain('src/cli/program.ts');
    expect(imports.get('src/kernel/assembly/lookup/host-hash.ts')).toContain('src/table/format.ts');
  });

  it('form no cycle', () => {
    expect(cyclesOf(imports)).toEqual([]);
    // A planted cycle is found.
    const circle = new Map([
      ['a', ['b']],
      ['b', ['c']],
      ['c', ['b']],
    ]);
    expect(cyclesOf(circle)).toEqual([['b', 'c']]);
  });

  it('follow the order of the rooms', () => {
    const rank = (path: string): number => {
      const at = order.findIndex((rooms) => rooms.some((room) => isWithin(path, room)));
      if (at < 0) throw new Error(`${path} is in no room of CONTRIBUTING.md`);
      return at;
    };
    const against: string[] = [];
    for (const [path, targets] of imports) {
      if (!path.startsWith('src/')) continue;
      for (const target of targets) {
        if (rank(target) > rank(path)) against.push(`${path} -> ${target}`);
      }
    }
    expect(order.length).toBeGreaterThan(10);
    expect(against).toEqual([]);
  });

  it('of src never leave src', () => {
    const outside = [...imports].flatMap(([path, targets]) =>
      path.startsWith('src/') ? targets.filter((target) => !target.startsWith('src/')) : [],
    );
    expect(outside).toEqual([]);
  });
});

function sourcesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts'))
    .map((name) => join(folder, name));
}

/** The files of the project that a file imports. Assembly names them without an extension. */
function importsOf(path: string, sources: ReadonlySet<string>): string[] {
  const text = readFileSync(path, 'utf8');
  const targets: string[] = [];
  for (const [, name = ''] of text.matchAll(/(?:from|import|import\()\s*'(\.[^']+)'/g)) {
    const target = normalize(join(dirname(path), name));
    const source = [target.replace(/\.js$/, '.ts'), `${target}.ts`].find((one) => sources.has(one));
    if (source !== undefined) targets.push(source);
  }
  return targets;
}

/** The rooms of each line; a file counts as a room. */
function roomsOf(contributing: string): string[][] {
  const [, block = ''] = contributing.split(ORDER_BLOCK);
  const [, lines = ''] = block.split('```');
  return lines
    .split('\n')
    .map((line) => line.split(/\s+/).filter((word) => word.startsWith('src/')))
    .filter((rooms) => rooms.length > 0);
}

function isWithin(path: string, room: string): boolean {
  return path === room || path.startsWith(`${room}/`);
}

/** The strongly connected components of several files, each sorted (Tarjan's algorithm). */
function cyclesOf(imports: ReadonlyMap<string, readonly string[]>): string[][] {
  const cycles: string[][] = [];
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const visit = (path: string): number => {
    const own = index.size;
    let lowest = own;
    index.set(path, own);
    stack.push(path);
    for (const target of imports.get(path) ?? []) {
      if (!index.has(target)) lowest = Math.min(lowest, visit(target));
      else if (stack.includes(target)) lowest = Math.min(lowest, index.get(target) ?? own);
    }
    low.set(path, lowest);
    if (lowest === own) {
      const component = stack.splice(stack.indexOf(path));
      if (component.length > 1) cycles.push(component.sort());
    }
    return lowest;
  };
  for (const path of imports.keys()) if (!index.has(path)) visit(path);
  return cycles;
}
