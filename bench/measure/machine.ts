import { execFileSync } from 'node:child_process';
import { cpus, platform, release, totalmem } from 'node:os';

/** The place, the time and the command of a measurement. */
export interface Machine {
  readonly processor: string;
  readonly cores: number;
  readonly memoryBytes: number;
  readonly system: string;
  readonly node: string;
  /** The commit, with `+` where the checkout differed from it; `unknown` outside a checkout. */
  readonly commit: string;
  readonly command: string;
}

/** @param script command that starts the script, without its arguments */
export function describeMachine(script: string): Machine {
  return {
    processor: cpus()[0]?.model.trim() ?? 'unknown',
    cores: cpus().length,
    memoryBytes: totalmem(),
    system: `${platform()} ${release()}`,
    node: process.version,
    commit: commit(),
    command: [script, ...process.argv.slice(2)].join(' '),
  };
}

function commit(): string {
  try {
    const git = (...args: string[]) =>
      execFileSync('git', args, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
    const id = git('rev-parse', '--short', 'HEAD');
    return git('status', '--porcelain') === '' ? id : `${id}+`;
  } catch {
    return 'unknown'; // no git, or no commit yet
  }
}

export function machineText(machine: Machine): string {
  const { processor, cores, memoryBytes, system, node, commit, command } = machine;
  const memory = `${(memoryBytes / 2 ** 30).toFixed(0)} GiB`;
  return `${processor}, ${cores} cores, ${memory}, ${system}, Node ${node}, commit ${commit}\n${command}`;
}
