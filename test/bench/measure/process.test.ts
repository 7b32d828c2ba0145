import { dirname } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { guarded, runProgram, runShell } from '../../../bench/measure/process.js';

describe('a measured program', () => {
  it('inherits the environment without NODE_* variables, with this Node first in PATH', async () => {
    vi.stubEnv('NODE_NO_WARNINGS', '1');
    vi.stubEnv('ROBOTS_FILTER_TEST', 'passed on');
    const { output } = await runProgram(process.execPath, ['-p', 'JSON.stringify(process.env)'], {
      output: 'keep',
      environment: { NODE_PENDING_DEPRECATION: '0' },
    }).finally(() => vi.unstubAllEnvs());
    const variables: Record<string, string> = JSON.parse(output);
    const ofNode = Object.entries(variables).filter(([name]) => name.startsWith('NODE_'));
    expect(ofNode).toEqual([['NODE_PENDING_DEPRECATION', '0']]);
    expect(variables.ROBOTS_FILTER_TEST).toBe('passed on');
    expect(variables.PATH?.startsWith(`${dirname(process.execPath)}:`)).toBe(true);
  });

  it('must exit with 0 and write nothing to standard error, in a pipe too', async () => {
    await expect(runProgram('/bin/sh', ['-c', 'exit 3'])).rejects.toThrow('ended with 3');
    await expect(runProgram('/bin/sh', ['-c', 'echo no >&2'])).rejects.toThrow('no');
    const failing = guarded(['/bin/sh', '-c', 'exit 3']);
    await expect(runShell(`${failing} | cat`)).rejects.toThrow('ended with 3');
  });
});
