import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { SectionId, sectionsOf } from '../../build/wasm-module.js';
import { kernelFile } from '../../src/kernel/module.js';
import { aheadFile } from '../../src/start/kept-module.js';

it.each([
  ['compiled as it runs', kernelFile()],
  ['compiled ahead of time', aheadFile(kernelFile())],
])('%s, holds no data: instances that share a memory would write over one another’s', (_, file) => {
  const sections = sectionsOf(readFileSync(file)).map(({ id }) => id);
  const data = 11;
  expect(sections).toContain(SectionId.CODE);
  expect(sections).not.toContain(data);
});
