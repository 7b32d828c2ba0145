import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/**
 * Builds dist/ before the tests: they run the real command line and the real threads, which are not
 * TypeScript. `.ci/run` has built already, and says so by ROBOTS_FILTER_IS_BUILT. No test needs the
 * certificates of this machine, which each process of Node would read as it starts.
 */
export default function setup(): void {
  delete process.env.NODE_EXTRA_CA_CERTS;
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
