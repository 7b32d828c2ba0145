import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { type Finding, readAudit, readSignatures } from './audit.js';
import { installationProblems, installedPackages } from './installed.js';
import { licenceProblems } from './licences.js';
import { lockProblems, readLock } from './lock.js';

/*
 * Checks what is installed: `npm run check:dependencies`. What the registry is asked and does not
 * answer is said to be unchecked, and is no failure: a machine without the network can still tell
 * all the rest.
 */

const ROOT = fileURLToPath(new URL('..', import.meta.url));
/** Milliseconds that the registry may take for one question. */
const PATIENCE = 60_000;

const locked = readLock(ROOT);
const installed = installedPackages(ROOT);
let failed = false;

function say(what: string, finding: Finding): void {
  switch (finding.kind) {
    case 'clean':
      console.log(`${what}: good`);
      break;
    case 'unanswered':
      console.log(`${what}: NOT CHECKED, the registry did not answer: ${finding.reason}`);
      break;
    case 'found':
      failed = true;
      console.log(`${what}: FAILED`);
      for (const problem of finding.problems) console.log(`  ${problem}`);
  }
}

function finding(problems: readonly string[]): Finding {
  return problems.length === 0 ? { kind: 'clean' } : { kind: 'found', problems };
}

function npm(...args: readonly string[]) {
  const options = ['--json', '--fetch-retries=0', '--fetch-timeout=20000'];
  const { stdout, stderr } = spawnSync('npm', [...args, ...options], {
    cwd: ROOT,
    encoding: 'utf8',
    timeout: PATIENCE,
    shell: process.platform === 'win32',
  });
  return { stdout: stdout ?? '', stderr: stderr ?? '' };
}

const runtime = locked.filter(({ development }) => !development).length;
console.log(
  `${installed.length} packages installed; ${locked.length} locked for all platforms, ${runtime} of them to run`,
);
say(
  'locked by SHA-512, from the registry, no unknown install scripts',
  finding(lockProblems(locked)),
);
say('installed as locked', finding(installationProblems(installed, locked)));
say('licences', finding(licenceProblems(installed, locked)));
say('vulnerabilities (npm audit)', readAudit(npm('audit')));
say('signatures and provenance (npm audit signatures)', readSignatures(npm('audit', 'signatures')));
process.exitCode = failed ? 1 : 0;
