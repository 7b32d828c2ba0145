import { expect } from 'vitest';
import { RobotsFilterError } from '../../src/base/errors.js';
import { requireNode } from '../../src/cli/program.js';
import { test } from './command-line.js';

test('Deno and Bun are refused', () => {
  expect(() => requireNode(process.versions)).not.toThrow();
  for (const [key, name] of [
    ['deno', 'Deno'],
    ['bun', 'Bun'],
  ] as const) {
    const refused = () => requireNode({ node: '24.0.0', [key]: '1.2.3' });
    expect(refused).toThrow(RobotsFilterError);
    expect(refused).toThrow(`this is ${name} 1.2.3. Install Node`);
  }
});

// Node ends with success when nothing is left that could wake a run.
test('a process that ends in the middle of a run fails', async ({ place }) => {
  place.write('robots/example.com', 'User-agent: *\nDisallow: /a\n');
  place.write('urls.txt', 'https://example.com/a\n');
  place.write(
    'asleep.cjs',
    `const { setInterval } = globalThis;
globalThis.setInterval = (...args) => setInterval(...args).unref();
require('node:fs').read = () => {};
require('node:fs/promises').open = () => new Promise(() => {});
Atomics.waitAsync = () => ({ async: true, value: new Promise(() => {}) });
`,
  );
  const preload = { NODE_OPTIONS: `--require ${place.path}/asleep.cjs` };
  const args = ['--robots-dir', 'robots', 'urls.txt'];
  const { code, text, stderr } = await place.runAlone(args, '', preload);
  expect({ code, text }).toEqual({ code: 2, text: '' });
  expect(stderr).toContain('the run stopped before its end: the output is incomplete');
});
