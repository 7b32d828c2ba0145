import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { drawGrowth } from './report/growth-svg.js';
import { withFigures } from './report/markdown.js';
import { newestRecords } from './report/newest-records.js';
import { say } from './report/say.js';
import { drawRows, drawThroughput } from './report/throughput-svg.js';

const USAGE = `Draw docs/throughput.svg, docs/rows.svg and docs/growth.svg, and write the figures of README.md and docs/benchmarks.md, all from the
newest records in bench/record/. The same records give the same bytes.

npm run bench:figures
`;

const ROOT = join(import.meta.dirname, '..');
const PAGES = ['README.md', 'docs/benchmarks.md'];

const { values } = parseArgs({ options: { help: { type: 'boolean', default: false } } });

if (values.help) process.stdout.write(USAGE);
else {
  const records = newestRecords();
  if (records.throughput !== undefined) {
    write('docs/throughput.svg', drawThroughput(records.throughput));
    write('docs/rows.svg', drawRows(records.throughput));
  }
  if (records.growth !== undefined) write('docs/growth.svg', drawGrowth(records.growth));
  for (const page of PAGES) {
    write(page, withFigures(readFileSync(join(ROOT, page), 'utf8'), records));
  }
}

function write(name: string, text: string): void {
  writeFileSync(join(ROOT, name), text);
  say(name);
}
