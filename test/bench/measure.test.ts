import { describe, expect, it, vi } from 'vitest';
import { runProgram } from '../../bench/measure.js';

describe('a program that is measured', () => {
  it('has this environment but for what is meant for Node here, and what it is given besides', async () => {
    vi.stubEnv('NODE_NO_WARNINGS', '1');
    vi.stubEnv('ROBOTS_FILTER_TEST', 'passed on');
    const { output } = await runProgram(process.execPath, ['-p', 'JSON.stringify(process.env)'], {
      output: 'keep',
      environment: { NODE_PENDING_DEPRECATION: '0' },
    }).finally(() => vi.unstubAllEnvs());
    const variables = Object.entries(JSON.parse(output) as Record<string, string>);
    expect(variables).toContainEqual(['ROBOTS_FILTER_TEST', 'passed on']);
    expect(variables.filter(([name]) => name.startsWith('NODE_'))).toEqual([
      ['NODE_PENDING_DEPRECATION', '0'],
    ]);
  });
});
