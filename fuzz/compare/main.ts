import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { playRound } from './round.js';
import { Totals } from './totals.js';

const USAGE = `Compares the command line with the library, record by record, on random records.

npm run compare -- [options]
    --records N         how many records (default 1,000,000)
    --seconds N         stop after that time
    --seed N            from which all choices follow (default: another one each time, printed)
    --round N           this round alone, to see a finding again
    --size N            records in a round (default 25,000)
    --long N            bytes of records of 1 KiB and more in a round (default 24,000,000)

The first difference ends it: the files are kept in fuzz-findings/, the exit status is 1.
`;

const FINDINGS = 'fuzz-findings';
const REPORT_EVERY = 10_000;

const { values } = parseArgs({
  options: {
    records: { type: 'string', default: '1000000' },
    seconds: { type: 'string' },
    seed: { type: 'string' },
    round: { type: 'string' },
    size: { type: 'string', default: '25000' },
    long: { type: 'string', default: '24000000' },
    help: { type: 'boolean', default: false },
  },
});
if (values.help) {
  process.stdout.write(USAGE);
  process.exit(0);
}
const seed = values.seed === undefined ? Date.now() % 1_000_000 : whole('--seed', values.seed);
const records = whole('--records', values.records);
const only = values.round === undefined ? undefined : whole('--round', values.round);
const deadline =
  values.seconds === undefined
    ? Number.POSITIVE_INFINITY
    : performance.now() + 1000 * whole('--seconds', values.seconds);
const amount = { records: whole('--size', values.size), longBytes: whole('--long', values.long) };

console.log(`seed ${seed}`);
const totals = new Totals();
let told = performance.now();
for (let round = only ?? 0; ; round++) {
  const directory = mkdtempSync(join(tmpdir(), 'robots-filter-compare-'));
  try {
    const finding = await playRound(seed, round, amount, directory, totals);
    if (finding !== undefined) {
      const kept = join(FINDINGS, `compare-${seed}-${round}`);
      mkdirSync(FINDINGS, { recursive: true });
      rmSync(kept, { recursive: true, force: true });
      cpSync(directory, kept, { recursive: true, filter: (path) => !path.endsWith('.fifo') });
      const again = `npm run compare -- --seed ${seed} --round ${round} --size ${amount.records} --long ${amount.longBytes}`;
      console.log(`round ${round}: ${finding.message}`);
      console.log(`command: ${finding.command.replaceAll(directory, kept)}`);
      console.log(`files: ${kept}\nto reproduce: ${again}`);
      process.exitCode = 1;
      break;
    }
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
  if (only !== undefined || totals.records >= records || performance.now() > deadline) break;
  if (performance.now() - told > REPORT_EVERY) {
    told = performance.now();
    console.log(`${totals.records.toLocaleString('en')} records in ${totals.rounds} rounds`);
  }
}
console.log(totals.describe());

function whole(option: string, text: string): number {
  const number = Number(text);
  if (!Number.isSafeInteger(number) || number < 0)
    throw new Error(`${option} ${text}: expected a whole number`);
  return number;
}
