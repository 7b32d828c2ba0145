import { execFileSync } from 'node:child_process';
import { cpus, platform, release, totalmem } from 'node:os';

/** Where and of what a figure was taken. */
export interface Machine {
  readonly processor: string;
  readonly cores: number;
  readonly memoryOctets: number;
  readonly system: string;
  readonly node: string;
  /** The commit, with `+` where the checkout differed from it; `unknown` outside a checkout. */
  readonly commit: string;
  readonly command: string;
}

/** @param script how the script that runs is started, without its arguments */
export function describeMachine(script: string): Machine {
  return {
    processor: cpus()[0]?.model.trim() ?? 'unknown',
    cores: cpus().length,
    memoryOctets: totalmem(),
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
    return 'unknown'; // no git, or no commit yet: a figure is still a figure
  }
}

export function describe(machine: Machine): string {
  const { processor, cores, memoryOctets, system, node, commit, command } = machine;
  const memory = `${(memoryOctets / 2 ** 30).toFixed(0)} GiB`;
  return `${processor}, ${cores} cores, ${memory}, ${system}, Node ${node}, commit ${commit}\n${command}`;
}
