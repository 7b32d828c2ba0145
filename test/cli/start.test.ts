import { basename } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Workplace } from './command-line.js';

/** Has a process say at its end which files it has loaded, and which of node's own modules. */
const WATCH = `process.on('exit', () => {
  const loaded = { files: Object.keys(require.cache), own: process.moduleLoadList };
  require('node:fs').writeFileSync('loaded.json', JSON.stringify(loaded));
});`;

describe('the start of the command line', () => {
  it('loads few files for one URL and a table, and nothing of what takes long', async () => {
    const workplace = new Workplace();
    workplace.write('robots/example.com.txt', 'User-agent: *\nDisallow: /private\n');
    workplace.write('urls.txt', 'https://example.com/private\n');
    workplace.write('watch.cjs', WATCH);
    const compiled = await workplace.shell('$rf compile --robots-dir robots -o hosts.table');
    expect(compiled.code).toBe(0);

    const { code, text } = await workplace.shell(
      'NODE_OPTIONS="-r ./watch.cjs" $rf --table hosts.table urls.txt',
    );
    expect(text).toBe('deny\thttps://example.com/private\n');
    expect(code).toBe(0);
    const { files, own } = JSON.parse(workplace.read('loaded.json')) as {
      files: string[];
      own: string[];
    };
    const ours = files.filter((path) => /[\\/]dist[\\/]cli[\\/]/.test(path));
    expect(ours.map((path) => basename(path))).toEqual([
      'main.js',
      'command-line.js',
      'rolldown-runtime.js',
      'filter.js',
      'judging.js',
    ]);
    expect(own).toContain('NativeModule fs');
    for (const slow of ['crypto', 'http', 'worker_threads']) {
      expect(own).not.toContain(`NativeModule ${slow}`);
    }
  });
});
