import { type Duplex, getDefaultHighWaterMark, PassThrough, Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { afterAll, describe, expect, it } from 'vitest';
import { createFilterStream } from '../../src/library/filter-stream.js';
import { fakeJudge } from '../workers/fake-judge.js';
import { closePools, type FakeFlowSettings, fakeFlow, Sink } from './flow-harness.js';

afterAll(closePools);

function fakeStream(settings: FakeFlowSettings = {}): { stream: Duplex; closed: () => boolean } {
  const { flow } = fakeFlow(settings);
  let closed = 0;
  const stream = createFilterStream({
    run: (input, output, name) => flow.filter(input, output, name),
    cancel: () => flow.cancel(),
    close: async () => {
      closed++;
      await flow.close();
    },
  });
  return { stream, closed: () => closed === 1 };
}

const settled = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 100));

describe('a filter stream', () => {
  it('reads from any readable and writes to any writable, in order', async () => {
    const lines = Array.from({ length: 50_000 }, (_, index) => `line ${index}`).join('\n');
    const { stream, closed } = fakeStream({ batchBytes: 4096, threads: 3, jitter: true });
    const chunks = lines.match(/[\s\S]{1,10007}/g) ?? [];
    const sink = new Sink();
    await pipeline(Readable.from(chunks), stream, sink);
    expect(sink.text === fakeJudge(lines, 1 << 20).output).toBe(true);
    await settled();
    expect(closed()).toBe(true);
  });

  it('gives the same output if its input is split at every byte', async () => {
    const input = `first\n!second\n${'third'.repeat(30)}\n\nlast`;
    const { output } = fakeJudge(input, 100);
    for (let cut = 0; cut <= input.length; cut++) {
      const { stream } = fakeStream({ batchBytes: 64, maxLineBytes: 100, slots: 2 });
      const sink = new Sink();
      const parts = [input.slice(0, cut), input.slice(cut)].filter((part) => part !== '');
      await pipeline(Readable.from(parts), stream, sink);
      expect(sink.text, `cut at ${cut}`).toBe(output);
    }
  });

  it('ends with an empty input', async () => {
    const { stream, closed } = fakeStream();
    const sink = new Sink();
    await pipeline(Readable.from([]), stream, sink);
    expect(sink.text).toBe('');
    await settled();
    expect(closed()).toBe(true);
  });

  it('judges each line before the next is written', async () => {
    const { stream } = fakeStream();
    const answers = stream[Symbol.asyncIterator]();
    for (let i = 0; i < 100; i++) {
      stream.write(`line ${i}\n`);
      expect(String((await answers.next()).value)).toBe(`ok line ${i}\n`);
    }
    stream.end();
    expect((await answers.next()).done).toBe(true);
  });

  it('accepts no more than the ring has room for while nobody reads from it', async () => {
    const { stream } = fakeStream({ batchBytes: 4096, slots: 4 });
    const chunk = `${'b'.repeat(99)}\n`.repeat(10);
    let given = 0;
    const source = new Readable({
      read() {
        given += chunk.length;
        this.push(chunk);
      },
    });
    source.pipe(stream);
    await settled();
    await settled();
    const before = given;
    expect(before).toBeGreaterThan(4096);
    // The ring, and the buffers of Node's streams on both sides, which differ by version.
    const ring = 4 * 3 * 4096;
    expect(before).toBeLessThan(ring + 6 * getDefaultHighWaterMark(false) + chunk.length);
    await settled();
    expect(given).toBe(before);
    stream.destroy();
    source.destroy();
  });

  it('accepts the same buffer again after the callback of its write', async () => {
    const { stream } = fakeStream();
    const sink = new Sink();
    const end = pipeline(stream, sink);
    const buffer = Buffer.alloc(8);
    let expected = '';
    for (let i = 0; i < 500; i++) {
      buffer.write(`${String(i).padStart(7, '0')}\n`);
      expected += `ok ${String(i).padStart(7, '0')}\n`;
      await new Promise((resolve) => stream.write(buffer, resolve));
    }
    stream.end();
    await end;
    expect(sink.text).toBe(expected);
  });

  it('ends its run and closes once when it is destroyed', async () => {
    for (const read of [false, true]) {
      const { stream, closed } = fakeStream({ batchBytes: 1024, slots: 3 });
      if (read) stream.resume();
      const source = new Readable({
        read() {
          this.push('line\n'.repeat(100));
        },
      });
      const end = pipeline(source, stream, new PassThrough().resume()).catch((error) => error);
      await settled();
      stream.destroy(new Error('enough'));
      expect(String(await end)).toContain('enough');
      await settled();
      expect(closed()).toBe(true);
      expect(source.destroyed).toBe(true);
    }
  });

  it('is destroyed when its reader fails or goes away', async () => {
    const { stream, closed } = fakeStream({ batchBytes: 1024 });
    const source = new Readable({
      read() {
        this.push('line\n'.repeat(100));
      },
    });
    const broken = new Writable({
      write: (_chunk, _encoding, callback) => callback(new Error('no more')),
    });
    await expect(pipeline(source, stream, broken)).rejects.toThrow('no more');
    await settled();
    expect(closed()).toBe(true);
  });

  it('passes on the error of a thread, and of a strict run', async () => {
    const strict = fakeStream({ strict: true });
    const source = Readable.from(['good\n', '!bad\n']);
    await expect(pipeline(source, strict.stream, new Sink())).rejects.toThrow('line 2');
    await settled();
    expect(strict.closed()).toBe(true);
    const thrown = fakeStream();
    await expect(pipeline(Readable.from(['THROW\n']), thrown.stream, new Sink())).rejects.toThrow(
      'thrown on purpose',
    );
  });
});
