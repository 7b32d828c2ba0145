import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { kernelFile } from '../../src/kernel/module.js';
import { aheadFile } from '../../src/start/kept-module.js';

/** Reads an unsigned LEB128 number; returns it and the offset behind it. */
function leb128(bytes: Uint8Array, at: number): [number, number] {
  let value = 0;
  let scale = 1;
  for (;;) {
    const octet = bytes[at++] ?? 0;
    value += (octet & 0x7f) * scale;
    if (octet < 0x80) return [value, at];
    scale *= 128;
  }
}

it.each([
  ['compiled as it runs', kernelFile()],
  ['compiled ahead of time', aheadFile(kernelFile())],
])('%s, holds no data: instances that share a memory would write over one another’s', (_, file) => {
  const bytes = readFileSync(file);
  const sections: number[] = [];
  for (let at = 8; at < bytes.length; ) {
    sections.push(bytes[at] ?? 0);
    const [octets, content] = leb128(bytes, at + 1);
    at = content + octets;
  }
  const code = 10;
  const data = 11;
  expect(sections).toContain(code);
  expect(sections).not.toContain(data);
});
