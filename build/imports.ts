import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, sep } from 'node:path';

/** The files that each file imports; paths begin with their folder and have `/` in them. */
export type Imports = ReadonlyMap<string, readonly string[]>;

/** Reads the imports between the TypeScript files of some folders, below the working directory. */
export function readImports(folders: readonly string[]): Imports {
  const sources = new Set(folders.flatMap(sourcesIn));
  return new Map([...sources].map((path) => [path, importsOf(path, sources)]));
}

/** The strongly connected components of several members, each sorted (Tarjan's algorithm). */
export function cyclesOf(imports: Imports): string[][] {
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

function sourcesIn(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts'))
    .map((name) => withSlashes(join(folder, name)));
}

/** The kernel's files name others without an extension, and all others as `.js`. */
function importsOf(path: string, sources: ReadonlySet<string>): string[] {
  const text = readFileSync(path, 'utf8');
  const targets: string[] = [];
  for (const [, name = ''] of text.matchAll(/(?:from|import|import\()\s*'(\.[^']+)'/g)) {
    const target = withSlashes(normalize(join(dirname(path), name)));
    const source = [target.replace(/\.js$/, '.ts'), `${target}.ts`].find((one) => sources.has(one));
    if (source !== undefined) targets.push(source);
  }
  return targets;
}

function withSlashes(path: string): string {
  return path.split(sep).join('/');
}
