// A program that open.test.ts runs as a separate process. It opens a path (`-` for standard input),
// and prints its kind and contents. With `exit` it gives up while it waits.
import { readSync } from 'node:fs';
import { openInput } from '../../../src/pipeline/input/open.js';

const [path = '-', action] = process.argv.slice(2);
if (action === 'exit') setTimeout(() => process.exit(7), 100);

async function read(): Promise<Buffer> {
  const input = await openInput(path);
  const parts: Uint8Array[] = [];
  if (input.kind === 'stream') {
    for await (const chunk of input.stream) parts.push(chunk);
  } else {
    if (input.kind === 'pipe') parts.push(input.head);
    let position = input.kind === 'file' ? input.offset : null;
    for (;;) {
      const buffer = Buffer.alloc(1_000);
      let bytes = 0;
      try {
        bytes = readSync(input.descriptor, buffer, 0, buffer.length, position);
      } catch (error) {
        if (error instanceof Error && 'code' in error && error.code === 'EAGAIN') continue;
        throw error;
      }
      if (bytes === 0) break;
      if (position !== null) position += bytes;
      parts.push(buffer.subarray(0, bytes));
    }
  }
  await input.close();
  const { kind, format, name, size, isTerminal } = input;
  const offset = input.kind === 'file' ? input.offset : undefined;
  const bytes = Buffer.concat(parts).toString('latin1');
  return Buffer.from(JSON.stringify({ kind, format, name, size, isTerminal, offset, bytes }));
}

try {
  process.stdout.write(await read());
} catch (error) {
  process.stdout.write(JSON.stringify({ error: String(error) }));
}
