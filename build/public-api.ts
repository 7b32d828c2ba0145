import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');

/** The file that holds the report, below the root of the project. */
export const API_REPORT = 'build/api-report.txt';

const HEAD = `The public API, as the package declares it: entry points, declarations in the order of their names, no comments.
A test compares this file with the build. After a change of the API on purpose: npm run build && npm run api:report
`;

interface Exports {
  readonly [entry: string]: string | Readonly<Record<string, unknown>>;
}

/** The public API of the build in dist, as text. */
export function publicApi(): string {
  const { exports, engines, bin } = JSON.parse(
    readFileSync(join(ROOT, 'package.json'), 'utf8'),
  ) as { exports: Exports; engines: { node: string }; bin: Readonly<Record<string, string>> };
  const parts = [HEAD, `Node: ${engines.node}\nCommands: ${Object.keys(bin).join(', ')}\n`];
  for (const [entry, target] of Object.entries(exports)) {
    const name = entry.replace(/^\./, 'robots-filter');
    const declarations = typesOf(target).map((file) => declarationsIn(join(ROOT, file)));
    parts.push(`== ${name}\n`, ...new Set(declarations));
  }
  return parts.join('\n');
}

/** The files of types below an entry point, whatever the conditions. */
function typesOf(target: unknown): string[] {
  if (typeof target !== 'object' || target === null) return [];
  return Object.entries(target).flatMap(([condition, value]) =>
    condition === 'types' ? [String(value)] : typesOf(value),
  );
}

/** The declarations of a file of types, sorted, each with an empty line after it. */
function declarationsIn(file: string): string {
  const text = readFileSync(file, 'utf8')
    .replaceAll(/\/\*\*[\s\S]*?\*\//g, '')
    .replaceAll(/^\/\/.*$/gm, '')
    .replaceAll(/^\s*\n/gm, '');
  // What begins at the margin, but for the end of a body, begins a declaration.
  const declarations = text.split(/\n(?=[a-z])/).map((each) => `${each.trimEnd()}\n`);
  return declarations.map(listedExports).sort(byName).join('\n');
}

/** A list of exports, with a line for each name: a comparison shows which changed. */
function listedExports(declaration: string): string {
  if (!declaration.startsWith('export {')) return declaration;
  return declaration.replaceAll(/([{,]) /g, '$1\n  ').replace(/ \}/, '\n}');
}

/** Imports first, exports last, and all others by their names. */
function byName(a: string, b: string): number {
  const key = (declaration: string): string => {
    if (declaration.startsWith('import')) return '';
    const name = /^(?:declare )?(?:abstract )?(?:class|function|interface|type|const) (\w+)/.exec(
      declaration,
    )?.[1];
    return name ?? '\uffff';
  };
  const [first, second] = [key(a), key(b)];
  return first < second ? -1 : first > second ? 1 : 0;
}
