import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { kernelFile, kernelModule, loadKernelBy } from '../../src/kernel/module.js';
import { keptModule } from '../../src/start/kept-module.js';

/*
 * Of the kernel there are two forms: that which V8 compiles as it runs, with which all suites ask
 * it; and that of which machine code is kept, which the program runs. The suites of its verdicts
 * are gone through with the second here. How it reads records is seen by the suites of the command
 * line, which run it.
 */
const ahead = keptModule(kernelFile(), readFileSync(kernelFile()));
loadKernelBy(() => {
  if (ahead === undefined) throw new Error('no code of the kernel has been kept, or V8 leaves it');
  return ahead;
});

it('is the form that is compiled ahead of time', () => {
  expect(kernelModule()).toBe(ahead);
});

await import('../conformance.test.js');
await import('./explanation.test.js');
await import('./hostile.test.js');
await import('./hosts.test.js');
