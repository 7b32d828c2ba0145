import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const KEPT_MAIN = fileURLToPath(new URL('./kept-main.cjs', import.meta.url));

/** What a run wrote, and its exit status. */
export interface KeptRun {
  readonly code: number;
  readonly stdout: Buffer;
  readonly stderr: string;
}

/** What a run opens as its standard input, output or error; flags as for `open`. */
export interface KeptStream {
  readonly path: string;
  readonly flags: string | number;
}

/** What differs for a run from those of other tests. */
export interface KeptOptions {
  /** How many cores the machine seems to have; default: as many as it has. */
  readonly cores?: number | undefined;
  /** A script that the process loads first. It meets several runs, one after another. */
  readonly preload?: string | undefined;
  /** Variables that no other run has. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** A process that runs the built command line again and again, one run after another. */
class KeptProcess {
  readonly #directory = mkdtempSync(join(tmpdir(), 'robots-filter-kept-'));
  readonly #child: ChildProcess;
  /** Rejected when the process dies. */
  readonly #death: Promise<never>;

  constructor(preload?: string) {
    const preloading = preload === undefined ? [] : ['--require', preload];
    this.#child = fork(KEPT_MAIN, [this.#directory], {
      // Threads that collect garbage spend processor time on waiting for each other.
      execArgv: ['--single-threaded-gc', ...preloading],
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    this.#death = once(this.#child, 'exit').then(() => {
      throw new Error('the process that is kept for runs of the command line died');
    });
    this.#death.catch(() => {});
    // The process ends when this one does.
    this.#child.unref();
    this.#child.channel?.unref();
  }

  async run(
    directory: string,
    args: readonly string[],
    streams: readonly KeptStream[],
    { pipe, cores, environment }: KeptOptions & { readonly pipe?: string } = {},
  ): Promise<number> {
    const ended = once(this.#child, 'message') as Promise<[number]>;
    this.#child.send({ args, directory, streams, pipe, cores, environment });
    const [code] = await Promise.race([ended, this.#death]);
    return code;
  }

  async runOverFiles(
    directory: string,
    args: readonly string[],
    input: string | Uint8Array,
    options: KeptOptions = {},
  ): Promise<KeptRun> {
    const [stdin, stdout, stderr] = ['input', 'output', 'errors'].map((name) =>
      join(this.#directory, name),
    ) as [string, string, string];
    writeFileSync(stdin, input);
    const streams = [
      { path: stdin, flags: 'r' },
      { path: stdout, flags: 'w' },
      { path: stderr, flags: 'w' },
    ];
    const code = await this.run(directory, args, streams, options);
    return { code, stdout: readFileSync(stdout), stderr: readFileSync(stderr, 'utf8') };
  }
}

/** Processes that are not in use, by what they have loaded first. */
const idle = new Map<string | undefined, KeptProcess[]>();

/** Gives a process that is not in use, which is kept for later runs unless it dies. */
async function withKept<Result>(
  use: (kept: KeptProcess) => Promise<Result>,
  preload?: string,
): Promise<Result> {
  const waiting = idle.get(preload) ?? [];
  idle.set(preload, waiting);
  const kept = waiting.pop() ?? new KeptProcess(preload);
  const result = await use(kept);
  waiting.push(kept);
  return result;
}

/** Runs the command line in a directory, in a process that is kept for such runs. */
export function runKept(
  directory: string,
  args: readonly string[],
  input: string | Uint8Array,
  options: KeptOptions = {},
): Promise<KeptRun> {
  return withKept((kept) => kept.runOverFiles(directory, args, input, options), options.preload);
}

/**
 * Runs the command line over what can be opened; returns its exit status.
 *
 * @param pipe the named pipe on which a shell waits: it is released if this process ends first
 */
export function runKeptOver(
  directory: string,
  args: readonly string[],
  streams: readonly KeptStream[],
  pipe: string,
): Promise<number> {
  return withKept((kept) => kept.run(directory, args, streams, { pipe }));
}
