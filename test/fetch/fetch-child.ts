// Fetches the authorities http://h0.test to hN.test from a server on the loopback interface: node
// fetch-child.ts DIRECTORY PORT COUNT
import process from 'node:process';
import { RobotsFetcher } from '../../src/fetch/robots-fetcher.js';
import { Schedule } from '../../src/fetch/schedule.js';
import { Store } from '../../src/fetch/store.js';

const [directory = '', port, count] = process.argv.slice(2);
const fetcher = new RobotsFetcher({
  userAgent: 'TestBot/1.0',
  allowPrivate: true,
  pause: 0,
  perAddress: 64,
  resolve: async () => [{ address: '127.0.0.1', family: 4 }],
});
const store = await Store.open(directory);
const done = { asked: 0, fresh: 0 };
const schedule = new Schedule(fetcher, store, {
  attempts: 1,
  onDone: ({ result }) => done[result === undefined ? 'fresh' : 'asked']++,
});
function* authorities() {
  for (let number = 0; number < Number(count); number++) {
    yield { scheme: 'http' as const, host: `h${number}.test`, port: Number(port) };
  }
}
const begin = performance.now();
await schedule.run(authorities());
await fetcher.close();
const seconds = (performance.now() - begin) / 1000;
process.stdout.write(
  JSON.stringify({ ...done, seconds, peak: process.resourceUsage().maxRSS * 1024 }),
);
process.exit(0);
