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

/** A process that runs the built command line again and again, one run after another. */
class KeptProcess {
  readonly #directory = mkdtempSync(join(tmpdir(), 'robots-filter-kept-'));
  readonly #streams = ['input', 'output', 'errors'].map((name) => join(this.#directory, name));
  readonly #child: ChildProcess;
  /** Rejected when the process dies. */
  readonly #death: Promise<never>;
  #last: Promise<unknown> = Promise.resolve();

  constructor() {
    this.#child = fork(KEPT_MAIN, [this.#directory], {
      execArgv: [],
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    });
    this.#death = once(this.#child, 'exit').then(() => {
      kept = undefined;
      throw new Error('the process that is kept for runs of the command line died');
    });
    this.#death.catch(() => {});
    // The process ends when this one does.
    this.#child.unref();
    this.#child.channel?.unref();
  }

  run(directory: string, args: readonly string[], input: string | Uint8Array): Promise<KeptRun> {
    const run = this.#last.then(() => this.#run(directory, args, input));
    this.#last = run.catch(() => {});
    return run;
  }

  async #run(
    directory: string,
    args: readonly string[],
    input: string | Uint8Array,
  ): Promise<KeptRun> {
    const [inputPath = '', outputPath = '', errorsPath = ''] = this.#streams;
    writeFileSync(inputPath, input);
    const ended = once(this.#child, 'message') as Promise<[number]>;
    this.#child.send({ args, directory, streams: this.#streams });
    const [code] = await Promise.race([ended, this.#death]);
    return { code, stdout: readFileSync(outputPath), stderr: readFileSync(errorsPath, 'utf8') };
  }
}

let kept: KeptProcess | undefined;

/** Runs the command line in a directory, in the process that is kept for such runs. */
export function runKept(
  directory: string,
  args: readonly string[],
  input: string | Uint8Array,
): Promise<KeptRun> {
  kept ??= new KeptProcess();
  return kept.run(directory, args, input);
}
