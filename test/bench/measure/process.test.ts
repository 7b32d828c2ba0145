import { describe, expect, it } from 'vitest';
import { runProgram, runShell } from '../../../bench/measure/process.js';

describe('runProgram', () => {
  it('times the program by the clock of bash, from before its start to after its end', async () => {
    const script = 'echo $EPOCHREALTIME; sleep 0.1; echo $EPOCHREALTIME';
    const start = performance.now();
    const { seconds, output } = await runProgram('bash', ['-c', script], { output: 'keep' });
    const around = (performance.now() - start) / 1000;
    const [first = '', last = ''] = output.split('\n').map((time) => time.replace(/\D/, ''));
    expect(first).toMatch(/^\d{16}$/);
    expect(seconds).toBeGreaterThan((Number(last) - Number(first)) / 1e6);
    expect(seconds).toBeLessThan(around);
  });

  it('counts the CPU time of the program and its children, and no waiting', async () => {
    // Asked at each turn, the system would take most of the time.
    const busy =
      'for (let n = 0; process.cpuUsage().user < 200_000; ) for (let m = 1e6; m > 0; m--) n += m;';
    const node = `'${process.execPath}' -e '${busy}'`;
    const { cpuSeconds } = await runShell(`sleep 0.2; ${node} | ${node}`);
    expect(cpuSeconds).toBeGreaterThan(0.4);
    const { cpuSeconds: idle } = await runShell('sleep 0.3');
    expect(idle).toBeLessThan(0.25);
  });

  it('passes arguments as they are, and runs programs rather than functions of a shell', async () => {
    const { output, errors } = await runProgram('echo', ['--version'], { output: 'keep' });
    expect(output).toMatch(/coreutils|--version/);
    expect(errors).toBe('');
    const words = ['a b', '"$x"', "'", '*', ''];
    const { output: printed } = await runProgram('printf', ['%s|', ...words], { output: 'keep' });
    expect(printed).toBe(words.map((word) => `${word}|`).join(''));
  });

  it('sums the memory of the program and its children without that of the stopwatch', async () => {
    const script = 'globalThis.kept = Buffer.alloc(100e6, 1); setTimeout(() => {}, 300)';
    const one = await runProgram(process.execPath, ['-e', script]);
    expect(one.peakBytes).toBeGreaterThan(100e6);
    const node = `'${process.execPath}' -e "${script}"`;
    const two = await runShell(`${node} & ${node}; wait`);
    expect(two.peakBytes).toBeGreaterThan((one.peakBytes ?? 0) + 100e6);
  });

  it.each([
    ['ends with another status than 0', ['-c', 'echo why >&2; exit 3'], /ended with 3: why/],
    ['ends by a signal', ['-c', 'kill -9 $$'], /ended with 137/],
    ['complains', ['-c', 'echo why >&2'], /ended with 0: why/],
  ])('fails if the program %s', async (_, words, message) => {
    await expect(runProgram('/bin/sh', words)).rejects.toThrow(message);
  });

  it('fails if there is no such program', async () => {
    await expect(runProgram('/no/such/program', [])).rejects.toThrow(/ended with 127/);
  });
});
