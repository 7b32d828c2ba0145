import { spawn } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { MAIN } from '../cli/command-line.js';
import { KEPT_COMMAND, keptEnvironment, SHELLS_CAN_KEEP } from '../cli/kept-shell.js';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Separates the outputs of two steps; no example prints this text. */
const SEPARATOR = '\x1e';

/**
 * A folder in which a document's examples run: it has the clone's fixtures/demo, `robots-filter` on
 * the PATH, and the package for `import`.
 */
export class Scratch {
  readonly path = mkdtempSync(join(tmpdir(), 'robots-filter-docs-'));

  constructor() {
    cpSync(join(ROOT, 'fixtures/demo'), join(this.path, 'fixtures/demo'), { recursive: true });
    mkdirSync(join(this.path, 'node_modules/.bin'), { recursive: true });
    symlinkSync(ROOT, join(this.path, 'node_modules/robots-filter'), 'junction');
    const command = join(this.path, 'node_modules/.bin/robots-filter');
    if (SHELLS_CAN_KEEP) {
      symlinkSync(KEPT_COMMAND, command);
    } else {
      writeFileSync(command, `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`);
      chmodSync(command, 0o755);
    }
  }

  remove(): void {
    rmSync(this.path, { recursive: true, force: true });
  }

  /** Runs commands in one shell; returns the output of each, both streams together. */
  async shell(commands: readonly string[]): Promise<string[]> {
    const steps = commands.map(
      (command) => `${command}\nstatus=$?; printf '\\036'; (exit $status)\n`,
    );
    // The kept processes of the examples open a pipe once more; they could not open a socket.
    const script = `{ exec 2>&1 </dev/null\n${steps.join('')}} | cat`;
    return this.#outputs('sh', ['-c', script], commands.length);
  }

  /** Runs blocks of JavaScript, each list of them as one module; returns the output of each. */
  async modules(lists: readonly (readonly string[])[]): Promise<string[]> {
    const separate = `\nprocess.stdout.write(${JSON.stringify(SEPARATOR)});\n`;
    lists.forEach((blocks, index) => {
      const text = blocks.map((block) => block + separate).join('');
      writeFileSync(join(this.path, `example-${index}.mjs`), text);
    });
    const file = join(this.path, 'example.mjs');
    writeFileSync(
      file,
      lists.map((_, index) => `await import('./example-${index}.mjs');\n`).join(''),
    );
    return this.#outputs(process.execPath, [file], lists.flat().length);
  }

  #outputs(program: string, words: readonly string[], count: number): Promise<string[]> {
    const bin = join(this.path, 'node_modules/.bin');
    const child = spawn(program, words, {
      cwd: this.path,
      env: { ...process.env, ...keptEnvironment(), PATH: [bin, process.env.PATH].join(delimiter) },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const chunks: Buffer[] = [];
    const errors: Buffer[] = [];
    child.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    child.stderr.on('data', (chunk: Buffer) => errors.push(chunk));
    return new Promise((resolve, reject) => {
      child.on('error', reject);
      child.on('close', () => {
        const outputs = Buffer.concat(chunks).toString().split(SEPARATOR);
        if (outputs.length === count + 1) resolve(outputs.slice(0, -1).map(withoutLineEnd));
        else
          reject(
            new Error(
              `stopped after ${outputs.length - 1} of ${count}: ${outputs.at(-1)}${Buffer.concat(errors)}`,
            ),
          );
      });
    });
  }
}

function withoutLineEnd(text: string): string {
  return text.endsWith('\n') ? text.slice(0, -1) : text;
}
