import { expect } from 'vitest';
import { test } from './command-line.js';

const URLS = 'https://example.com/private/\nhttps://example.com/\nnone\n';

test('a run in the kept process gives what a run in a process of its own gives', async ({
  place,
}) => {
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

test('a command of a shell in a kept process gives what one in a process of its own gives', async ({
  place,
}) => {
  place.write('urls.txt', URLS);
  for (const line of [
    'cat urls.txt | $rf --robots-dir robots -q | cat',
    '$rf --robots-dir robots < urls.txt > out; cat out',
    'rm out; $rf --robots-dir robots -q urls.txt >> out; $rf --robots-dir robots -q - < urls.txt >> out; cat out',
    '$rf --robots-dir robots -q <(cat urls.txt) <(head -n 1 urls.txt)',
    '$rf --robots-dir robots --format verdicts urls.txt | $rf --robots-dir robots --threads 2 -q',
    'cd robots && $rf check example.com GPTBot / 2>&1 | sort; exit $PIPESTATUS',
    '$rf --robots-dir nowhere <(cat urls.txt)',
  ]) {
    const kept = await place.shell(line);
    expect(kept, line).toEqual(await place.shellAlone(line));
  }
});
