import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { INDEX_COLUMNS, type IndexRow } from '../../corpus/index-rows.js';
import type { IndexWriter } from '../../inputs/index-store.js';
import { quoted, type Run, type RunOptions, runProgram } from '../../measure/process.js';

/** Fixed versions, so that all runs compare the same programs. */
const PACKAGES: Readonly<Record<string, string>> = {
  hyparquet: '1.31.5',
  'hyparquet-compressors': '1.1.2',
  'parquet-wasm': '0.8.0',
  '@duckdb/node-api': '1.5.6-r.1',
  'csv-parse': '7.0.3',
};

const PROGRAM = join(import.meta.dirname, 'main.ts');

/** Lines that are passed on at a time. */
const LINES = 2000;

/** Libraries for formats, installed in a directory of their own. */
export class FormatTools {
  readonly #directory: string;

  private constructor(directory: string) {
    this.#directory = directory;
  }

  /**
   * Installs the libraries, or finds what an earlier run installed.
   *
   * @returns the reason if they cannot be installed
   */
  static async provide(
    store: string,
    report: (sentence: string) => void,
  ): Promise<FormatTools | string> {
    const directory = join(store, 'competitors', 'formats');
    const done = join(directory, 'installed.json');
    const versions = JSON.stringify(PACKAGES);
    if (!existsSync(done)) {
      report('installing libraries for formats');
      mkdirSync(directory, { recursive: true });
      writeFileSync(join(directory, 'package.json'), '{ "private": true }\n');
      const packages = Object.entries(PACKAGES).map(([name, version]) => `${name}@${version}`);
      const words = ['install', '--no-audit', '--no-fund', '--save-exact', ...packages];
      const { NODE_EXTRA_CA_CERTS: certificates } = process.env;
      const environment = certificates === undefined ? {} : { NODE_EXTRA_CA_CERTS: certificates };
      try {
        await runProgram('npm', words, { directory, mayComplain: true, environment });
      } catch (error) {
        return (
          String(error instanceof Error ? error.message : error)
            .split('\n')
            .at(-1) ?? ''
        );
      }
      writeFileSync(done, versions);
    }
    return new FormatTools(directory);
  }

  /** The version of a library, for tables. */
  version(name: string): string {
    return PACKAGES[name] ?? 'unknown';
  }

  /** Does a task of `main.ts` in a process of its own; the output is what it has counted. */
  async run(task: string, path: string, output = '', options: RunOptions = {}): Promise<Run> {
    return await runProgram(process.execPath, this.#words(task, path, output), {
      output: 'keep',
      ...options,
    });
  }

  /** Writes an index with DuckDB. */
  indexWriter(): IndexWriter {
    return {
      codec: 'zstd',
      write: async (path, rows) => {
        const words = [process.execPath, ...this.#words('duckdb-write', '', path)];
        // Node would give the child a socket, which cannot be opened as /dev/stdin.
        const line = `cat | ${words.map(quoted).join(' ')}`;
        const child = spawn('/bin/sh', ['-c', line], { stdio: ['pipe', 'ignore', 'inherit'] });
        const ended = once(child, 'close');
        for (const lines of linesOf(rows)) {
          if (!child.stdin.write(lines)) await Promise.race([once(child.stdin, 'drain'), ended]);
        }
        child.stdin.end();
        const [code] = await ended;
        if (code !== 0) throw new Error(`DuckDB ended with ${code}`);
      },
    };
  }

  #words(task: string, path: string, output: string): string[] {
    return ['--import', 'tsx', PROGRAM, this.#directory, task, path, output];
  }
}

/** Rows as lines with tabs. Canonical URLs have no tabs. */
function* linesOf(rows: Iterable<IndexRow>): Generator<string> {
  let lines: string[] = [];
  for (const { values } of rows) {
    const fields = values.map((value, column) => {
      if (value === null) return '\\N';
      if (INDEX_COLUMNS[column]?.type !== 'time') return value;
      return new Date(Number(value)).toISOString().slice(0, 19);
    });
    lines.push(`${fields.join('\t')}\n`);
    if (lines.length === LINES) {
      yield lines.join('');
      lines = [];
    }
  }
  yield lines.join('');
}
