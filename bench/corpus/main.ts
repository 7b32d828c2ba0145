import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { writeCorpus } from './corpus.js';
import { writeRecords } from './records.js';
import { PLACES, SHAPES, type ShapeName } from './shapes.js';

const USAGE = `Write a seeded corpus of robots.txt files and URLs.

npx tsx bench/corpus/main.ts --out DIR [options]
    --hosts 5000  --urls 1000000  --seed 1
    --max-rules 5000           rules of the largest file
    --robots files|ndjson|both
    --records SHAPE[,SHAPE]    NDJSON records to write as well: ${Object.keys(SHAPES).join(', ')};
                               each with the URL ${PLACES.join(', ')}
`;

const { values } = parseArgs({
  options: {
    out: { type: 'string' },
    hosts: { type: 'string', default: '5000' },
    urls: { type: 'string', default: '1000000' },
    seed: { type: 'string', default: '1' },
    'max-rules': { type: 'string', default: '5000' },
    robots: { type: 'string', default: 'files' },
    records: { type: 'string', default: '' },
    help: { type: 'boolean', default: false },
  },
});

const robots = (['files', 'ndjson', 'both'] as const).find((layout) => layout === values.robots);
const shapes = values.records.split(',').filter((name) => name !== '');
if (values.help || values.out === undefined || robots === undefined || !shapes.every(isShape)) {
  process.stderr.write(USAGE);
  process.exitCode = values.help ? 0 : 2;
} else {
  const seed = Number(values.seed);
  const summary = writeCorpus(values.out, {
    seed,
    hosts: Number(values.hosts),
    urls: Number(values.urls),
    maxRules: Number(values['max-rules']),
    robots,
  });
  const text = join(values.out, 'urls.txt');
  for (const shape of shapes) {
    for (const place of PLACES) {
      writeRecords(text, join(values.out, `urls-${shape}-${place}.ndjson`), { shape, place, seed });
    }
  }
  process.stdout.write(`${JSON.stringify(summary, null, 2)}\n`);
}

function isShape(name: string): name is ShapeName {
  return name in SHAPES;
}
