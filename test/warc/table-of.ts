import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Table } from '../../src/judge/table.js';
import {
  type CompileCacheOptions,
  compileCache,
} from '../../src/pipeline/compile/compile-cache.js';
import type { CacheWarning } from '../../src/sources/entry.js';

/** What caches compile to. */
export interface Compiled {
  readonly warnings: readonly CacheWarning[];
  readonly stats: { readonly files: number; readonly bodies: number };
  /** The bytes of the table. */
  readonly bytes: Uint8Array;
  /** `VERDICT REASON SOURCE` of a URL; the source only where a rule decides. */
  judge(url: string): string;
}

/** Writes files to a new directory; `paths` are those of the files, or that of the directory. */
export async function withFiles<Result>(
  files: Readonly<Record<string, Uint8Array | string>>,
  use: (directory: string) => Promise<Result>,
): Promise<Result> {
  const directory = mkdtempSync(join(tmpdir(), 'archive-'));
  try {
    for (const [name, bytes] of Object.entries(files)) writeFileSync(join(directory, name), bytes);
    return await use(directory);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Compiles caches. */
export async function compiled(
  paths: readonly string[],
  options: Partial<CompileCacheOptions> = {},
): Promise<Compiled> {
  const warnings: CacheWarning[] = [];
  const { layout, stats } = await compileCache(paths, {
    profile: 'rfc9309',
    threads: 1,
    onWarning: (warning) => warnings.push(warning),
    ...options,
  });
  const bytes = layout.table();
  const table = Table.from(bytes);
  return {
    warnings,
    stats,
    bytes,
    judge(url) {
      const { verdict, reason, rule } = table.verdict(url, 'bot');
      return [verdict, reason, ...(rule === undefined ? [] : [rule.source])].join(' ');
    },
  };
}
