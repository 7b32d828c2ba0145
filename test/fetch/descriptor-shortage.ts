import { closeSync, openSync } from 'node:fs';
import { devNull } from 'node:os';
import { permittedAddresses, systemResolver } from '../../src/fetch/resolver.js';
import { errorCode } from '../../src/files/system-error.js';

/*
 * Looks up localhost while this process can open 0, 1, … 8 more descriptors. Run it with a low
 * limit of open files. Prints `FREE found` or `FREE CODE` for each.
 */

const FREE = 8;

/** Name servers that cannot be asked, because no socket can be opened. */
const unreachable = async (): Promise<never> => {
  throw Object.assign(new Error('queryA ECONNREFUSED'), { code: 'ECONNREFUSED' });
};
const servers = { resolve4: unreachable, resolve6: unreachable };

const lines: string[] = [];
const held: number[] = [];
try {
  for (;;) held.push(openSync(devNull, 'r'));
} catch {
  // The limit is reached.
}
for (let free = 0; free <= FREE; free++) {
  for (const host of ['localhost', 'absent.invalid']) {
    const resolve = systemResolver(true, servers as never);
    const outcome = await permittedAddresses(host, resolve, true).then(
      () => 'found',
      (error: unknown) => errorCode(error),
    );
    lines.push(`${host} ${free} ${outcome}`);
  }
  closeSync(held.pop() as number);
}
for (const descriptor of held) closeSync(descriptor);
process.stdout.write(`${lines.join('\n')}\n`);
