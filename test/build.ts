import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/**
 * Builds dist/ before the tests: they run the real command line and the real threads, which are not
 * TypeScript. No test needs the certificates of this machine, which each process of Node would read
 * as it starts.
 */
export default function setup(): void {
  delete process.env.NODE_EXTRA_CA_CERTS;
  const root = fileURLToPath(new URL('..', import.meta.url));
  execFileSync('npm', ['run', '--silent', 'build'], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}
