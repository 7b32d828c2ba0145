import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Files in memory, on Linux. To make and delete a file on a disk takes several times as long. */
const MEMORY = '/dev/shm';

/** Many times what the tests have in files at one moment, which is some 40 MiB. */
const ROOM = 2 ** 30;

/**
 * Builds dist/ before the tests: they run the real command line and the real threads, which are not
 * TypeScript. `.ci/run` has built already, and says so by ROBOTS_FILTER_IS_BUILT. No test needs the
 * certificates of this machine, which each process of Node would read as it starts. The processes
 * of the tests start later, and have this environment.
 */
export default function setup(): void {
  delete process.env.NODE_EXTRA_CA_CERTS;
  if (process.env.TMPDIR === undefined && roomIn(MEMORY) >= ROOM) {
    const place = mkdtempSync(join(MEMORY, 'robots-filter-tests-'));
    // Some tests run the command line as another user.
    chmodSync(place, 0o755);
    process.env.TMPDIR = place;
    // Processes that the tests started may still be deleting what they wrote.
    process.on('exit', () => rmSync(place, { recursive: true, force: true, maxRetries: 3 }));
  }
  if (process.env.ROBOTS_FILTER_IS_BUILT === '1') return;
  const root = fileURLToPath(new URL('..', import.meta.url));
  const printed = execFileSync('npm', ['run', '--silent', 'build'], {
    cwd: root,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  // The README shows what one command prints that builds and then judges.
  if (printed !== '') throw new Error(`The build must print nothing, but printed:\n${printed}`);
}

/** How many bytes can be written to a file system; 0 if it cannot be asked. */
function roomIn(path: string): number {
  try {
    const { bavail, bsize } = statfsSync(path);
    return bavail * bsize;
  } catch {
    return 0;
  }
}
