import { expect, it } from 'vitest';
import { Arena, PAGE_BYTES } from '../../src/kernel/kernel.js';

it('says that the system refused the addresses if the memory cannot grow', () => {
  const arena = new Arena(new WebAssembly.Memory({ initial: 1, maximum: 2, shared: true }));
  expect(arena.take(PAGE_BYTES)).toEqual({ address: PAGE_BYTES, bytes: PAGE_BYTES });
  expect(() => arena.take(1)).toThrow(
    expect.objectContaining({
      code: 'limit',
      message: expect.stringMatching(/^The system refused the addresses for a memory\./),
    }),
  );
});
