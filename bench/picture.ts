import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { drawThroughput } from './throughput-svg.js';

const USAGE = `Draws a record of bench:throughput as docs/throughput.svg: the same octets for the same record.

npm run bench:picture [-- RECORD.json] [--out FILE]
    RECORD.json         default: the newest in bench/record/
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    out: { type: 'string', default: join(import.meta.dirname, '..', 'docs', 'throughput.svg') },
    help: { type: 'boolean', default: false },
  },
});

if (values.help) process.stdout.write(USAGE);
else {
  const file = positionals[0] ?? newestRecord();
  writeFileSync(values.out, drawThroughput(JSON.parse(readFileSync(file, 'utf8'))));
  process.stdout.write(`${values.out} from ${file}\n`);
}

function newestRecord(): string {
  const directory = join(import.meta.dirname, 'record');
  const name = readdirSync(directory)
    .filter((each) => each.endsWith('-throughput.json'))
    .sort()
    .at(-1);
  if (name === undefined) throw new Error('no record: npm run bench:throughput -- --record');
  return join(directory, name);
}
