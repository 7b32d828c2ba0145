import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  constants,
  mkdirSync,
  mkdtempSync,
  openSync,
  readSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deflateRawSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RobotsFilterError } from '../../../src/base/errors.js';
import { type OpenInput, openInput } from '../../../src/pipeline/input/open.js';
import { bundledScript } from '../../bundled-script.js';
import { frameOf, rawBlock } from '../../files/zstd-frames.js';

const directory = mkdtempSync(join(tmpdir(), 'robots-filter-input-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const latin1 = (text: string) => Buffer.from(text, 'latin1');
const MARK = '\xef\xbb\xbf';
const LINES = 'https://a.example/\nhttps://b.example/\xff\n';
const OBJECTS = '{"url":"https://a.example/"}\n{"url":"https://b.example/"}\n';

let files = 0;
function file(content: string | Buffer): string {
  const path = join(directory, `input-${files++}`);
  writeFileSync(path, typeof content === 'string' ? latin1(content) : content);
  return path;
}

function fifo(): string {
  const path = join(directory, `fifo-${files++}`);
  execFileSync('mkfifo', [path]);
  return path;
}

/** The contents of an input that is not a pipe, one character for each byte. */
async function contents(input: OpenInput): Promise<string> {
  const parts: Uint8Array[] = [];
  if (input.kind === 'stream') {
    for await (const chunk of input.stream) parts.push(chunk);
  } else if (input.kind === 'file') {
    const buffer = Buffer.alloc(1_000_000);
    const bytes = readSync(input.descriptor, buffer, 0, buffer.length, input.offset);
    parts.push(buffer.subarray(0, bytes));
  }
  await input.close();
  return Buffer.concat(parts).toString('latin1');
}

async function refusal(path: string): Promise<string> {
  try {
    await contents(await openInput(path));
  } catch (error) {
    if (!(error instanceof RobotsFilterError)) throw error;
    expect(error.code).toBe('input');
    return error.message;
  }
  throw new Error('accepted');
}

describe('regular files', () => {
  it.each([
    ['text', LINES, 0],
    ['ndjson', OBJECTS, 0],
    ['text', `${MARK}${LINES}`, 3],
    ['ndjson', `${MARK}${OBJECTS}`, 3],
    ['text', '', 0],
    ['text', MARK, 3],
    ['ndjson', `{"a":"${'x'.repeat(200_000)}"}\n`, 0],
  ])('of lines (%s) are read by position', async (format, content, offset) => {
    const path = file(content);
    const input = await openInput(path);
    const size = content.length;
    expect(input).toMatchObject({ kind: 'file', format, name: path, size, offset });
    expect(input.isTerminal).toBe(false);
    expect((await contents(input)) === content.slice(offset)).toBe(true);
  });

  it.each([
    ['array', '[{"url":"https://a.example/"},\n"https://b.example/"]'],
    ['marked array', `${MARK}[{"url":"https://a.example/"},\n"https://b.example/"]`],
    ['values one after another', '{"url":"https://a.example/"} "https://b.example/"'],
  ])('of JSON become lines: %s', async (_, content) => {
    const input = await openInput(file(content));
    expect(input).toMatchObject({ kind: 'stream', format: 'json', size: content.length });
    expect(await contents(input)).toBe('{"url":"https://a.example/"}\n"https://b.example/"\n');
    expect(input.kind === 'stream' && input.consumed()).toBe(content.length);
  });

  it('have the format that --input names', async () => {
    const path = file('"https://a.example/"\n');
    for (const format of ['text', 'ndjson'] as const) {
      const input = await openInput(path, { format });
      expect(input).toMatchObject({ kind: 'file', format });
      await input.close();
    }
    const json = await openInput(file('{"a":1}\n{"b":2}\n'), { format: 'json' });
    expect(json).toMatchObject({ kind: 'stream', format: 'json' });
    expect(await contents(json)).toBe('{"a":1}\n{"b":2}\n');
  });

  it('bound JSON records by the given limits', async () => {
    const input = await openInput(file('[{"a":[]},{"b":[[]]}]'), { maxDepth: 3 });
    expect(await contents(input)).toBe('{"a":[]}\n\x01N{"b":[[]]}\n');
    const other = await openInput(file('["a","bc"]'), { maxRecordBytes: 3 });
    expect(await contents(other)).toBe('"a"\n\x01J"bc"\n');
  });
});

describe('gzip (RFC 1952)', () => {
  it.each([
    ['text', LINES, LINES],
    ['ndjson', OBJECTS, OBJECTS],
    ['text', `${MARK}${LINES}`, LINES],
    ['json', `${MARK}[1,\n"a"]`, '1\n"a"\n'],
    ['text', '', ''],
  ])('is decompressed: %s', async (format, content, lines) => {
    const compressed = gzipSync(latin1(content));
    const input = await openInput(file(compressed));
    expect(input).toMatchObject({ kind: 'stream', format, size: compressed.length });
    expect(await contents(input)).toBe(lines);
    expect(input.kind === 'stream' && input.consumed()).toBe(compressed.length);
  });

  it('of many members is one input', async () => {
    const parts = ['https://a.exa', 'mple/\n', '', 'https://b.example/\n'];
    const members = Buffer.concat(parts.map((part) => gzipSync(part)));
    expect(await contents(await openInput(file(members)))).toBe(parts.join(''));
    const padded = Buffer.concat([members, Buffer.alloc(512)]);
    expect(await contents(await openInput(file(padded)))).toBe(parts.join(''));
  });

  it('that other bytes follow, or that needs too much memory, is not called damaged', async () => {
    const followed = Buffer.concat([gzipSync(LINES), Buffer.from('https://a.example/\n')]);
    const zeros = Buffer.concat([gzipSync(LINES), Buffer.alloc(9), Buffer.of(1)]);
    for (const bytes of [followed, zeros]) {
      const message = await refusal(file(bytes));
      expect(message).toContain(': bytes that are no gzip data follow the gzip data; ');
      expect(message).toContain('. Drop them: gzip -dc FILE prints what comes before.');
    }
    expect(await refusal(file(followed))).toContain(`; ${LINES.length + 1} decompressed bytes`);
    const large = frameOf([rawBlock(Buffer.from(LINES), true)], (17 << 3) | 1);
    expect(await refusal(file(large))).toContain(
      'the zstd data is not supported: a window of 150994944 bytes is needed, and the limit is 134217728; 0 decompressed bytes came out before. Decompress it first: zstd -dc --long=31 FILE.',
    );
  });

  it('that is truncated anywhere is an error', async () => {
    const lines = Array.from({ length: 2_000 }, (_, line) => `https://a.example/${line * line}\n`);
    const whole = Buffer.concat([gzipSync(lines.join('')), gzipSync(LINES)]);
    for (let length = 3; length < whole.length; length += Math.ceil(whole.length / 50)) {
      const message = await refusal(file(whole.subarray(0, length)));
      expect(message).toContain('the gzip data is damaged or truncated');
      expect(message).toContain('decompressed bytes came out before');
    }
  });

  it.each([
    ['gzip', 'gz', 0],
    ['gzip', 'gz', 1],
    ['zstd', 'zst', 0],
    ['zstd', 'zst', 3],
  ] as const)(
    'that has only the name of %s (.%s) and %d bytes is truncated',
    async (name, ending, bytes) => {
      const whole = name === 'gzip' ? gzipSync(LINES) : frameOf([rawBlock(latin1(LINES), true)]);
      const path = `${file('')}.${ending}`;
      writeFileSync(path, whole.subarray(0, bytes));
      expect(await refusal(path)).toBe(
        `${path}: the ${name} data ends after ${bytes} bytes, so it is truncated. Copy the file again.`,
      );
    },
  );

  it('that is damaged is an error that says how much was decompressed', async () => {
    const large = Buffer.alloc(1_000_000, LINES, 'latin1');
    const damaged = Buffer.concat([gzipSync(large), gzipSync(large).fill(0xff, 100)]);
    const path = file(damaged);
    const message = await refusal(path);
    expect(message.startsWith(`${path}: the gzip data is damaged`)).toBe(true);
    expect(message).toMatch(/ \d+ decompressed bytes came out before\. Fetch/);

    const flipped = gzipSync(large);
    flipped[flipped.length - 6] = (flipped[flipped.length - 6] ?? 0) ^ 1;
    expect(await refusal(file(flipped))).toContain('damaged');
  });

  it('that would fill the memory is decompressed no faster than it is consumed', async () => {
    const zeros = deflateRawSync(Buffer.alloc(64 * 1024 * 1024));
    const header = Buffer.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3);
    const input = await openInput(file(Buffer.concat([header, zeros])));
    if (input.kind !== 'stream') throw new Error(input.kind);
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(input.stream.readableLength).toBeLessThan(1024 * 1024);
    await input.close();
  });
});

describe('an input that cannot be read', () => {
  it('is a directory', async () => {
    const path = join(directory, 'directory');
    mkdirSync(path);
    expect(await refusal(path)).toBe(
      `${path}: is a directory. Name the files in it; robots.txt files go with --robots-dir.`,
    );
  });

  it('is a missing file', async () => {
    const path = join(directory, 'absent');
    expect(await refusal(path)).toContain(`${path}: no such file.`);
    expect(await refusal(join(file('x'), 'y'))).toContain('is not a directory');
  });

  it.skipIf(process.getuid?.() === 0)('is a file without permission', async () => {
    const path = file('x');
    execFileSync('chmod', ['000', path]);
    expect(await refusal(path)).toContain(`${path}: permission denied.`);
  });

  it.each([
    ['xz data', '\xfd7zXZ\x00', 'xz -dc'],
    ['a zip archive', 'PK\x03\x04\x14', 'funzip'],
    ['UTF-16 text', '\xff\xfeh\0t\0', 'iconv -f UTF-16 -t UTF-8'],
  ])('is %s', async (name, content, remedy) => {
    const path = file(content);
    expect(await refusal(path)).toBe(
      `${path}: is ${name}; plain UTF-8, gzip and zstd are read. Send it through "${remedy}" and pipe the result in.`,
    );
  });

  it.each([
    ['gzip data', gzipSync('https://example.com/\n'), 'gzip -dc'],
    ['zstd data', Buffer.from([0x28, 0xb5, 0x2f, 0xfd, 0]), 'zstd -dc'],
  ])('is %s in gzip data', async (name, content, remedy) => {
    const path = file(gzipSync(content));
    expect(await refusal(path)).toBe(
      `${path}: is ${name} in gzip data; plain UTF-8, gzip and zstd are read. Send it through "gzip -dc | ${remedy}" and pipe the result in.`,
    );
  });

  it('is invalid JSON, with the name of the file in the message', async () => {
    const path = file('[1,,2]');
    expect(await refusal(path)).toContain(`${path}: byte 3 (line 1): this is not JSON`);
  });
});

describe('pipes by path', () => {
  it('give the bytes read for detection first, then read on from the descriptor', async () => {
    const path = fifo();
    const opening = openInput(path);
    const writer = openSync(path, 'w');
    writeSync(writer, latin1(MARK));
    writeSync(writer, latin1('https://a.example/\nhttps://b.'));
    const input = await opening;
    expect(input).toMatchObject({ kind: 'pipe', format: 'text', name: path, size: undefined });
    if (input.kind !== 'pipe') throw new Error(input.kind);
    expect(MARK + Buffer.from(input.head).toString('latin1')).toBe(
      `${MARK}https://a.example/\nhttps://b.`,
    );
    writeSync(writer, latin1('x\ny\n'));
    closeSync(writer);
    const buffer = Buffer.alloc(100);
    expect(readSync(input.descriptor, buffer)).toBe(4);
    expect(readSync(input.descriptor, buffer)).toBe(0);
    await input.close();
  });

  it('of JSON are streams that can be abandoned while they wait', async () => {
    const path = fifo();
    const opening = openInput(path);
    const writer = openSync(path, 'w');
    writeSync(writer, latin1('[{"a":1},'));
    const input = await opening;
    if (input.kind !== 'stream') throw new Error(input.kind);
    expect(input.format).toBe('json');
    let lines = '';
    input.stream.on('data', (chunk) => {
      lines += chunk;
    });
    await once(input.stream, 'data');
    writeSync(writer, latin1('"b","c'));
    await once(input.stream, 'data');
    expect(lines).toBe('{"a":1}\n"b"\n');
    await input.close();
    expect(input.stream.destroyed).toBe(true);
    closeSync(writer);
  });
});

describe('standard input', () => {
  let script: string;
  beforeAll(async () => {
    script = await bundledScript(new URL('describe-input.ts', import.meta.url), directory);
  });

  type Described = Record<string, unknown>;
  async function describeInput(
    descriptor: number | 'pipe',
    write?: (child: ReturnType<typeof spawn>) => Promise<void> | void,
  ): Promise<Described> {
    const child = spawn(process.execPath, [script, '-'], {
      stdio: [descriptor, 'pipe', 'inherit'],
    });
    let output = '';
    child.stdout?.on('data', (chunk) => {
      output += chunk;
    });
    const closed = once(child, 'close');
    await write?.(child);
    await closed;
    return JSON.parse(output);
  }

  it('that is a file is read by position, from its current offset', async () => {
    const path = file(`first line\n${LINES}`);
    const descriptor = openSync(path, 'r');
    readSync(descriptor, Buffer.alloc(11));
    const input = await describeInput(descriptor);
    closeSync(descriptor);
    expect(input.bytes).toBe(LINES);
    expect(input.name).toBe('standard input');
    if (process.platform === 'linux') {
      expect(input).toMatchObject({ kind: 'file', offset: 11, size: 11 + LINES.length });
    }
  }, 20_000);

  it('that is a slow non-blocking pipe with an unfinished last line is read completely', async () => {
    const path = fifo();
    const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const writer = openSync(path, 'w');
    const input = await describeInput(reader, async () => {
      for (const part of ['\xef', '\xbb', '\xbf', ' ', '{"url":', '"https://a.example/"}', '\n{']) {
        await new Promise((resolve) => setTimeout(resolve, 100));
        writeSync(writer, latin1(part));
      }
      closeSync(writer);
    });
    closeSync(reader);
    expect(input).toMatchObject({
      kind: 'pipe',
      format: 'ndjson',
      bytes: ' {"url":"https://a.example/"}\n{',
    });
  }, 20_000);

  it('that is a socket is a stream', async () => {
    const input = await describeInput('pipe', (child) => {
      child.stdin?.end(latin1(LINES));
    });
    expect(input).toMatchObject({ kind: 'stream', format: 'text', bytes: LINES });
  }, 20_000);

  it('that is a pipe of compressed JSON becomes lines', async () => {
    const path = fifo();
    const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const writer = openSync(path, 'w');
    const input = await describeInput(reader, () => {
      writeSync(writer, gzipSync('[{"a":1},'));
      writeSync(writer, gzipSync('"b"]'));
      closeSync(writer);
    });
    closeSync(reader);
    expect(input).toMatchObject({ kind: 'stream', format: 'json', bytes: '{"a":1}\n"b"\n' });
  }, 20_000);

  it('that is an empty device gives no bytes', async () => {
    const device = openSync('/dev/null', 'r');
    expect(await describeInput(device)).toMatchObject({
      kind: 'stream',
      format: 'text',
      bytes: '',
    });
    closeSync(device);
  }, 20_000);

  it('that is a directory is refused', async () => {
    const descriptor = openSync(directory, 'r');
    const { error } = await describeInput(descriptor);
    closeSync(descriptor);
    expect(error).toContain('standard input: is a directory.');
  }, 20_000);

  it.runIf(process.platform === 'linux')(
    'that is silent does not keep the process alive',
    async () => {
      const path = fifo();
      const reader = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
      const writer = openSync(path, 'w');
      const child = spawn(process.execPath, [script, '-', 'exit'], {
        stdio: [reader, 'ignore', 'inherit'],
      });
      const [code] = await once(child, 'exit');
      expect(code).toBe(7);
      closeSync(reader);
      closeSync(writer);
    },
    20_000,
  );
});
