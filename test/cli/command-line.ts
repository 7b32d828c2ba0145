import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

/** The program, as it is built. */
export const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));

/** How a run of the command line ended, and what it said. */
export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: Buffer;
  readonly text: string;
  readonly stderr: string;
}

/** Files of a test, which go when it is finished. */
export class Workplace {
  readonly path = mkdtempSync(join(tmpdir(), 'robots-filter-'));

  /** The words that run the command line, for another program's shell. */
  readonly command = `'${process.execPath}' '${MAIN}'`;

  constructor() {
    onTestFinished(() => rmSync(this.path, { recursive: true, force: true }));
  }

  /** Writes a file, and the directories that it is in; returns its path below the workplace. */
  write(name: string, content: string | Uint8Array): string {
    const path = join(this.path, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
    return name;
  }

  read(name: string): string {
    return readFileSync(join(this.path, name), 'utf8');
  }

  /** Names in a directory of the workplace. */
  names(directory = '.'): string[] {
    return readdirSync(join(this.path, directory)).sort();
  }

  /** Runs the command line here, with `input` on its standard input, which is a socket. */
  async run(args: readonly string[], input: string | Uint8Array = ''): Promise<Ended> {
    const child = this.start(args);
    child.stdin?.on('error', () => {});
    child.stdin?.end(input);
    return ended(child);
  }

  /** Runs a line of shell here, in which `$rf` is the command line: for real pipes. */
  async shell(line: string): Promise<Ended> {
    const script = `rf() { ${this.command} "$@"; }\n${line.replaceAll('$rf', 'rf')}`;
    return ended(spawn('bash', ['-c', script], { cwd: this.path, stdio: 'pipe' }));
  }

  /** Starts the command line here. */
  start(args: readonly string[]): ChildProcess {
    return spawn(process.execPath, [MAIN, ...args], { cwd: this.path, stdio: 'pipe' });
  }
}

/** Waits until a process has ended. */
export async function ended(child: ChildProcess): Promise<Ended> {
  const output: Buffer[] = [];
  const errors: Buffer[] = [];
  child.stdout?.on('data', (chunk: Buffer) => output.push(chunk));
  child.stderr?.on('data', (chunk: Buffer) => errors.push(chunk));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      const stdout = Buffer.concat(output);
      resolve({
        code,
        signal,
        stdout,
        text: stdout.toString(),
        stderr: Buffer.concat(errors).toString(),
      });
    });
  });
}

/** The lines of a text, without what follows the last newline. */
export function lines(text: string): string[] {
  return text.split('\n').slice(0, -1);
}

/** Groups for three crawlers, with the numbers of their lines in `--explain`. */
export const EXAMPLE_COM = [
  'User-agent: *',
  'Disallow: /private/',
  'Allow: /private/open',
  '',
  'User-agent: GPTBot',
  'Disallow: /',
  '',
  'User-agent: CCBot',
  'Disallow: /cc/',
  'Disallow: /*.gif$',
  '',
].join('\n');

/** A workplace with `robots/`, which holds example.com and www.example.org. */
export function workplace(): Workplace {
  const place = new Workplace();
  place.write('robots/example.com', EXAMPLE_COM);
  place.write('robots/www.example.org/robots.txt', 'User-agent: *\nDisallow: /*.gif$\n');
  return place;
}
