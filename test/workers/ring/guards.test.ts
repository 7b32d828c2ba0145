import { afterAll, describe, expect, it } from 'vitest';
import { RobotsFilterError } from '../../../src/base/errors.js';
import type { Run } from '../../../src/pipeline/run.js';
import {
  closePools,
  fakeFlow,
  TemporaryFiles,
  throughFiles,
  throughPipe,
  throughStreams,
} from '../../pipeline/flow-harness.js';

const files = new TemporaryFiles();

afterAll(async () => {
  await closePools();
  files.remove();
});

type Way = (flow: Run, input: string) => Promise<string>;

const file: Way = (flow, input) => throughFiles(flow, files, input);
const pipe: Way = (flow, input) => throughPipe(flow, files, [input]);
const stream: Way = (flow, input) => throughStreams(flow, [input]);

/** The input, the number of threads, and how the input is read. */
const WAYS = [
  ['a file', 0, file],
  ['a file', 2, file],
  ['a pipe', 2, pipe],
  ['a stream', 0, stream],
  ['a stream', 2, stream],
] as const;

describe('a write beyond the end of a region', () => {
  const around = 'line\n'.repeat(600);
  const long = '.'.repeat(3000);
  it.each(
    WAYS.flatMap(([way, threads, run]) =>
      ['SCRATCH', 'OUTPUT', `SCRATCH ${long}`, `OUTPUT ${long}`].map(
        (what) => [what.slice(0, 10), way, threads, what, run] as const,
      ),
    ),
  )('ends the run: %s, from %s, on %i threads', async (_name, _way, threads, what, run) => {
    const { flow } = fakeFlow({ threads, batchBytes: 1024, maxLineBytes: 4096 });
    const failure = await run(flow, `${around}OVERRUN ${what}\n${around}`).then(
      (output) => output,
      (error: unknown) => error,
    );
    expect(failure).toBeInstanceOf(RobotsFilterError);
    expect(failure).toMatchObject({
      code: 'worker',
      message: expect.stringMatching(
        /was written beyond its end; the output may hold wrong records/,
      ),
    });
    await flow.close();
  });

  it('is not reported if lines fill their regions to the last byte', async () => {
    const { flow } = fakeFlow({ threads: 2, batchBytes: 1024, maxLineBytes: 4096 });
    const lines = [1022, 1023, 1024, 1025, 4095, 4096, 4097].flatMap((bytes) => [
      '+'.repeat(bytes),
      'line',
      'x'.repeat(bytes),
    ]);
    for (const run of [file, pipe, stream]) {
      const output = (await run(flow, lines.join('\n'))).split('\n');
      expect(output.filter((line) => line === 'ok line')).toHaveLength(7);
      expect(output).toHaveLength(22);
    }
    await flow.close();
  });
});
