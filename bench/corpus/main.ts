import { parseArgs } from 'node:util';
import { writeCorpus } from './corpus.js';

const USAGE = `Writes a seeded corpus of robots.txt files and URLs.

npx tsx bench/corpus/main.ts --out DIR [--hosts 5000] [--urls 1000000] [--seed 1]
    [--max-rules 5000] [--robots files|ndjson|both] [--url-last]
`;

const { values } = parseArgs({
  options: {
    out: { type: 'string' },
    hosts: { type: 'string', default: '5000' },
    urls: { type: 'string', default: '1000000' },
    seed: { type: 'string', default: '1' },
    'max-rules': { type: 'string', default: '5000' },
    robots: { type: 'string', default: 'files' },
    'url-last': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

const robots = (['files', 'ndjson', 'both'] as const).find((form) => form === values.robots);
if (values.help || values.out === undefined || robots === undefined) {
  process.stderr.write(USAGE);
  process.exitCode = values.help ? 0 : 2;
} else {
  const summary = writeCorpus(values.out, {
    seed: Number(values.seed),
    hosts: Number(values.hosts),
    urls: Number(values.urls),
    maxRules: Number(values['max-rules']),
    robots,
    urlLast: values['url-last'],
  });
  process.stdout.write(`${JSON.stringify(summary, null, 2)}\n`);
}
