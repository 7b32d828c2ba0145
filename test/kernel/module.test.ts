import binaryen from 'assemblyscript/binaryen';
import { expect, it } from 'vitest';
import { kernelBytes, requireLittleEndian } from '../../src/kernel/kernel.js';

it('holds no data: instances that share a memory would overwrite each other', () => {
  const text = binaryen.readBinary(kernelBytes()).emitText();
  expect(text).toContain('(func ');
  expect(text).not.toContain('(data ');
});

it('refuses a big-endian machine', () => {
  expect(() => requireLittleEndian('LE')).not.toThrow();
  expect(() => requireLittleEndian('BE')).toThrow(/is big-endian.*x86-64 or ARM64/);
});
