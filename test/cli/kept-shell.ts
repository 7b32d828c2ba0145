import { execFileSync } from 'node:child_process';
import { constants, existsSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type KeptStream, runKeptOver } from './kept-process.js';

/** An executable that is the command line, run by a kept process. It needs `keptEnvironment`. */
export const KEPT_COMMAND = fileURLToPath(new URL('./kept-command.sh', import.meta.url));

/** Only Linux opens the pipes of another process by its number. */
export const SHELLS_CAN_KEEP = existsSync('/proc/self/fdinfo');

/** Where KEPT_COMMAND holds its standard input, output and error. */
const STREAMS = [7, 8, 9] as const;

let directory: string | undefined;

/** What KEPT_COMMAND needs in its environment. */
export function keptEnvironment(): { readonly KEPT: string } {
  directory ??= listen();
  return { KEPT: directory };
}

/** Makes the directory through which commands ask, and answers them. */
function listen(): string {
  const made = mkdtempSync(join(tmpdir(), 'robots-filter-shells-'));
  process.on('exit', () => rmSync(made, { recursive: true, force: true }));
  const asked = join(made, 'asked');
  execFileSync('mkfifo', [asked]);
  // Open for writing too, so that it never ends.
  const fd = openSync(asked, constants.O_RDWR | constants.O_NONBLOCK);
  const socket = new Socket({ fd, readable: true, writable: false });
  socket.unref();
  let rest = '';
  socket.on('data', (chunk) => {
    const lines = (rest + chunk).split('\n');
    rest = lines.pop() ?? '';
    for (const pid of lines) void answer(made, pid);
  });
  return made;
}

async function answer(made: string, pid: string): Promise<void> {
  const request = join(made, pid);
  const ended = `${request}.ended`;
  let code: number | string;
  try {
    const [cwd = '', ...args] = readFileSync(request, 'utf8').split('\0').slice(0, -1);
    const own = args.map((arg) => descriptorOf(pid, arg));
    code = await runKeptOver(
      cwd,
      own,
      STREAMS.map((descriptor) => streamOf(pid, descriptor)),
      ended,
    );
  } catch (error) {
    code = `99 ${error}`;
  }
  await writeFile(ended, `${code}\n`);
  rmSync(request);
  rmSync(ended);
}

/** What an argument names: /dev/fd/63, which <( ) gives, is a descriptor of the command. */
function descriptorOf(pid: string, arg: string): string {
  const descriptor = arg.match(/^\/dev\/fd\/(\d+)$/)?.[1];
  if (descriptor === undefined) return arg;
  // Descriptor 1 of KEPT_COMMAND may still be the pipe through which it asks.
  return `/proc/${pid}/fd/${STREAMS[Number(descriptor)] ?? descriptor}`;
}

/** What a process has open, to be opened once more: a file at its beginning or its end. */
function streamOf(pid: string, descriptor: (typeof STREAMS)[number]): KeptStream {
  const path = `/proc/${pid}/fd/${descriptor}`;
  const info = readFileSync(`/proc/${pid}/fdinfo/${descriptor}`, 'utf8');
  const field = (name: string) => info.match(`${name}:\\s*(\\d+)`)?.[1] ?? '';
  const appends = Number.parseInt(field('flags'), 8) & constants.O_APPEND;
  if (appends === 0 && field('pos') !== '0') {
    throw new Error(`descriptor ${descriptor} is a file that was read or written before`);
  }
  return {
    path,
    flags: (descriptor === STREAMS[0] ? constants.O_RDONLY : constants.O_WRONLY) | appends,
  };
}
