import { expect, test } from 'vitest';
import { workplace } from './command-line.js';

const URLS = 'https://example.com/private/\nhttps://example.com/\nnone\n';

test('a run in the kept process gives what a run in a process of its own gives', async () => {
  const place = workplace();
  place.write('urls.txt', URLS);
  const seen = new Set<number | null>();
  for (const [args, input] of [
    [['--robots-dir', 'robots', 'urls.txt'], ''],
    [['--robots-dir', 'robots', '--threads', '2'], URLS],
    [['--robots-dir', 'robots', '--strict', 'urls.txt'], ''],
    [['compile', '--robots-dir', 'robots', '-o', 't.table', '-q'], ''],
    [['check', 'robots/example.com', '*', '/private/'], ''],
    [['inspect', 't.table'], ''],
    [['--robots-dri', 'robots'], ''],
    [['fetch', '--help'], ''],
  ] as const) {
    const kept = await place.run(args, input);
    expect(kept, args.join(' ')).toEqual(await place.runAlone(args, input));
    seen.add(kept.code);
  }
  expect([...seen].sort()).toEqual([0, 1, 2]);
});
