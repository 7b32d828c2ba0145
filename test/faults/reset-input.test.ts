import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { type Ended, ended, MAIN, type Workplace, workplace } from '../cli/command-line.js';

const LINE = 'http://example.com/private/\n';

/** Two ends of a TCP connection. */
async function connection(): Promise<{ near: Socket; far: Socket }> {
  const server = createServer({ pauseOnConnect: true }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const near = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [far] = (await once(server, 'connection')) as [Socket];
  server.close();
  return { near, far };
}

/** Runs the command line with a TCP connection as standard input, which ends in one of two ways. */
async function run(
  place: Workplace,
  args: readonly string[],
  end: 'close' | 'reset',
  delay: number,
): Promise<Ended> {
  const { near, far } = await connection();
  const child = spawn(process.execPath, [MAIN, ...args], {
    cwd: place.path,
    stdio: [far, 'pipe', 'pipe'],
  });
  far.destroy();
  near.on('error', () => {});
  near.write(LINE);
  await wait(delay);
  if (end === 'reset') near.resetAndDestroy();
  else near.end();
  return ended(child);
}

/** Milliseconds after the start: before the program reads, and while it waits for more. */
const DELAYS = [5, 500];

describe.each([
  [['--robots-dir', 'robots']],
  [['--robots-dir', 'robots', '--threads', '2']],
  [['--robots-dir', 'robots', '--fetch']],
  [['check', '-', '*', '/private/']],
])('a connection as standard input: %j', (args) => {
  test.each(DELAYS)('an input that is reset is not taken for a whole one: %i ms', async (delay) => {
    const { code, stderr } = await run(workplace(), args, 'reset', delay);
    expect(code, stderr).toBe(2);
    expect(stderr).toMatch(/standard input: reading failed at byte \d+ \(.*ECONNRESET/);
    expect(stderr).not.toMatch(/\n {4}at /);
  });

  test.each(DELAYS)('an input that is closed is whole: %i ms', async (delay) => {
    const { code, text, stderr } = await run(workplace(), args, 'close', delay);
    if (args[0] === 'check') expect(text).toBe('allow\t/private/\tno-group\n');
    else expect({ code, text }, stderr).toEqual({ code: 0, text: `deny\t${LINE}` });
  });
});
