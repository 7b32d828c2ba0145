import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { say } from './report/say.js';

const USAGE = `Measure everything anew, about an hour on a quiet machine: replace all records in
bench/record/, then the picture and the figures of README.md and docs/benchmarks.md.

npm run bench:records -- DIR [options]
    DIR                 real data for bench:real
    --runs 3            whole runs of each benchmark
    --installed DIR     run the package that is installed in DIR, not one packed from this checkout
    --against DIR       in bench:throughput, compare with the package that is installed in DIR
`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    runs: { type: 'string', default: '3' },
    installed: { type: 'string' },
    against: { type: 'string' },
    help: { type: 'boolean', default: false },
  },
});

const [data] = positionals;
if (values.help || data === undefined) {
  process.stderr.write(USAGE);
  process.exitCode = values.help ? 0 : 2;
} else measureAll(data);

function measureAll(realData: string): void {
  const { runs, installed, against } = values;
  const common = ['--record', ...(installed === undefined ? [] : ['--installed', installed])];
  const versions = against === undefined ? [] : ['--against', against];
  run('throughput', ...common, '--runs', runs, ...versions);
  run('growth', ...common, '--runs', runs);
  run('load', ...common);
  run('real', realData, ...common, '--runs', runs);
  run('warc', ...common, '--runs', runs);
  run('formats', ...common, '--runs', runs);
  run('jobs', ...common, '--runs', runs, '--shared', realData);
  run('library', ...common, '--runs', runs);
  run('figures');
}

/** Runs one benchmark in a separate process. */
function run(name: string, ...args: string[]): void {
  say(`\n== bench:${name} ${args.join(' ')}`);
  const script = join(import.meta.dirname, `${name}.ts`);
  const words = ['--import', 'tsx', script, ...args];
  const { status } = spawnSync(process.execPath, words, { stdio: 'inherit' });
  if (status !== 0) throw new Error(`bench:${name} ended with ${status}`);
}
