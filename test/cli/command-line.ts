import { type ChildProcess, spawn } from 'node:child_process';
import {
  closeSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { onTestFinished, test as plainTest } from 'vitest';
import { type KeptOptions, runKept } from './kept-process.js';
import { KEPT_COMMAND, keptEnvironment, SHELLS_CAN_KEEP } from './kept-shell.js';

/** The built program. */
export const MAIN = fileURLToPath(new URL('../../dist/cjs/main.cjs', import.meta.url));

/** Exit status and output of a run of the command line. */
export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: Buffer;
  readonly text: string;
  readonly stderr: string;
}

/** A line of shell that is one run of the command line and has nothing that a shell expands. */
const PLAIN_COMMAND = /^\$rf(?: +(?:[\w./:=,@+-]+|'[^']*'))+ *$/;
const PLAIN_WORD = /[\w./:=,@+-]+|'[^']*'/g;

let shells = 0;

/** The arguments of a run: a text is split at its spaces. */
type Words = readonly string[] | string;

const wordsOf = (args: Words): readonly string[] =>
  typeof args === 'string' ? args.split(' ') : args;

/** A directory for the files of a test, deleted when the test has finished. */
export class Workplace {
  readonly path = mkdtempSync(join(tmpdir(), 'robots-filter-'));

  /** The command line as shell words. */
  readonly command = `'${process.execPath}' '${MAIN}'`;

  /** How many cores the machine seems to have for `run`; `undefined` for as many as it has. */
  readonly #cores: number | undefined;

  /** @param ends whether the directory ends with the test; otherwise call `remove` */
  constructor(ends = true, cores?: number) {
    this.#cores = cores;
    if (ends) onTestFinished(() => this.remove());
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }

  /** Writes a file and creates its directories; returns its path below the workplace. */
  write(name: string, content: string | Uint8Array): string {
    const path = join(this.path, name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, content);
    return name;
  }

  read(name: string): string {
    return readFileSync(join(this.path, name), 'utf8');
  }

  /** Names of the files in a directory of the workplace. */
  names(directory = '.'): string[] {
    return readdirSync(join(this.path, directory)).sort();
  }

  /**
   * Runs the command line in the workplace, in the process that is kept for such runs. Its standard
   * input is a file with `input`.
   */
  async run(
    args: Words,
    input: string | Uint8Array = '',
    options: KeptOptions = {},
  ): Promise<Ended> {
    const { code, stdout, stderr } = await runKept(this.path, wordsOf(args), input, {
      cores: this.#cores,
      ...options,
    });
    return { code, signal: null, stdout, text: stdout.toString(), stderr };
  }

  /**
   * Runs the command line in the workplace, in a process of its own. Its standard input is a socket
   * with `input`.
   */
  async runAlone(
    args: Words,
    input: string | Uint8Array = '',
    environment: NodeJS.ProcessEnv = {},
  ): Promise<Ended> {
    const child = this.start(wordsOf(args), environment);
    child.stdin?.on('error', () => {});
    child.stdin?.end(input);
    return ended(child);
  }

  /**
   * Runs a line of shell in the workplace, in which `$rf` is the command line: for real pipes and
   * redirections. Kept processes run the command line, with what the shell has opened for it.
   */
  async shell(line: string): Promise<Ended> {
    if (PLAIN_COMMAND.test(line)) {
      const words = line.slice('$rf'.length).match(PLAIN_WORD) ?? [];
      return this.run(words.map((word) => word.replaceAll("'", '')));
    }
    if (!SHELLS_CAN_KEEP) return this.shellAlone(line);
    // A socket cannot be opened once more. The pipe to cat can, and a file that is appended to.
    const env = { ...process.env, ...keptEnvironment() };
    const errors = join(env.KEPT, `errors-${shells++}`);
    const descriptor = openSync(errors, 'ax');
    try {
      const script = `{ ${functionOf(`'${KEPT_COMMAND}'`, line)}\n} | cat\nexit $PIPESTATUS`;
      const stdio = ['ignore', 'pipe', descriptor] as const;
      const run = await ended(
        spawn('bash', ['-c', script], { cwd: this.path, stdio: [...stdio], env }),
      );
      return {
        ...run,
        stderr: readFileSync(errors, 'utf8').replaceAll(/\/proc\/\d+\/fd\//g, '/dev/fd/'),
      };
    } finally {
      closeSync(descriptor);
      rmSync(errors);
    }
  }

  /**
   * As `shell`, with processes of their own for the command line. Standard input is a socket with
   * `input`.
   *
   * @param sent called when the input and its end have been sent
   */
  async shellAlone(line: string, input = '', sent?: () => void): Promise<Ended> {
    const script = functionOf(this.command, line);
    const child = spawn('bash', ['-c', script], { cwd: this.path, stdio: 'pipe' });
    child.stdin.on('error', () => {});
    child.stdin.end(input, sent);
    return ended(child);
  }

  /** Starts the command line in the workplace. */
  start(args: readonly string[], environment: NodeJS.ProcessEnv = {}): ChildProcess {
    const env = { ...process.env, ...environment };
    return spawn(process.execPath, [MAIN, ...args], { cwd: this.path, stdio: 'pipe', env });
  }
}

/** A script of bash in which `$rf` is a command. */
function functionOf(command: string, line: string): string {
  return `rf() { ${command} "$@"; }\n${line.replaceAll('$rf', 'rf')}`;
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

/** The lines of a text that end in a newline. */
export function lines(text: string): string[] {
  return text.split('\n').slice(0, -1);
}

/** Groups for three crawlers. Tests depend on the line numbers. */
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

/** A workplace whose `robots/` contains example.com and www.example.org. */
export function workplace(): Workplace {
  const place = new Workplace();
  place.write('robots/example.com', EXAMPLE_COM);
  place.write('robots/www.example.org/robots.txt', 'User-agent: *\nDisallow: /*.gif$\n');
  return place;
}

/** A test with a workplace of its own: `place` has the robots.txt files above, `empty` nothing. */
export const test = plainTest
  .extend('place', () => workplace())
  .extend('empty', () => new Workplace());
