import { runProgram } from './process.js';
import type { Outcome } from './runs.js';

/** A hash over a file: one core's steady work over the same bytes. */
export interface Yardstick {
  readonly name: string;
  run(path: string): Promise<Outcome>;
}

const NODE_HASH = `
const { createReadStream } = require('node:fs');
const hash = require('node:crypto').createHash('md5');
createReadStream(process.argv[1], { highWaterMark: 1 << 20 }).pipe(hash).resume();
`;

/** md5sum, or the first substitute on this machine, under its own name. */
export async function findYardstick(): Promise<Yardstick> {
  const candidates = [
    ['md5sum', 'md5sum', []],
    ['openssl md5', 'openssl', ['md5']],
    ["node's md5", process.execPath, ['-e', NODE_HASH]],
  ] as const;
  for (const [name, program, words] of candidates) {
    const run = (path: string) => runProgram(program, [...words, path], { watched: false });
    try {
      await run('/dev/null');
      return { name, run };
    } catch {
      // Missing on this machine: try the next program.
    }
  }
  throw new Error('none of md5sum, openssl and node can hash a file');
}
