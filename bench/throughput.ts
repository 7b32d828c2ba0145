import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { checkCompetitors, checkFilter } from './check.js';
import { npmCompetitors, otherCompetitors } from './competitors.js';
import { coresOf, describeCores } from './cores.js';
import { emptied } from './corpora.js';
import { storeCounts } from './expected.js';
import { describe, describeMachine } from './machine.js';
import { Figures, MARKS, type Mark, rowOf } from './marks.js';
import { writeRecord } from './record.js';
import { describeMarks, describeResults, resultRecord } from './report.js';
import { inTurn } from './rounds.js';
import { AGENT, Suite } from './suite.js';

const USAGE = `Times robots-filter from end to end beside its yardsticks and competitors, in one
interleaved run, and asserts the verdict counts before every run that is timed.

npm run bench:throughput -- [options]
    --urls 8000000      URLs of both corpora
    --hosts 1000000     hosts of the large corpus; the other has 5,000
    --rounds 11         runs of each case, in turn, each behind one that is not timed; five of compiling and of competitors
    --only ROW[,ROW]    rows of the table of marks, by their names: ${MARKS.map(({ id }) => id).join(', ')};
                        or floors, competitors, check
    --seed 1            of the corpora
    --corpus DIR        where corpora and competitors are kept for the next run
                        (default: ${join(tmpdir(), 'robots-filter-bench')})
    --real DIR          real robots.txt files, robots-*.ndjson.gz, for the size of their table
    --no-install        no competitors but those from npm, which are there anyway
    --record            keeps the figures in bench/record/
    --quick             small corpora, one round, no other languages: a test of verdict counts
    --store-expected    works out the counts of the small corpus by the naive matcher, and keeps them
`;

const { values } = parseArgs({
  allowNegative: true,
  options: {
    urls: { type: 'string' },
    hosts: { type: 'string' },
    rounds: { type: 'string' },
    only: { type: 'string' },
    seed: { type: 'string', default: '1' },
    corpus: { type: 'string', default: join(tmpdir(), 'robots-filter-bench') },
    real: { type: 'string' },
    install: { type: 'boolean', default: true },
    record: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    'store-expected': { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

const { quick } = values;
const sizes = {
  cache: values.corpus,
  seed: Number(values.seed),
  urls: Number(values.urls ?? (quick ? 20_000 : 8_000_000)),
  fewHosts: quick ? 200 : 5000,
  manyHosts: Number(values.hosts ?? (quick ? 2000 : 1_000_000)),
};
const turns = { rounds: Number(values.rounds ?? (quick ? 1 : 11)), warmUp: !quick };
const wanted = values.only?.split(',');

if (values.help) process.stdout.write(USAGE);
else if (values['store-expected']) storeCounts(new Suite(sizes, '', say).fewHosts(), AGENT, say);
else await benchmark();

async function benchmark(): Promise<void> {
  const machine = describeMachine('npm run bench:throughput --');
  say(describe(machine));
  const scratch = emptied(join(values.corpus, 'run'));
  try {
    const marks = MARKS.filter(
      ({ id }) => wants(id) && (id !== 'real' || values.real !== undefined),
    );
    const measured = await measure(marks, scratch);
    if (values.record) {
      say(`recorded in ${writeRecord('throughput', { machine, ...turns, ...measured })}`);
    }
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

async function measure(marks: readonly Mark[], scratch: string) {
  const suite = new Suite(sizes, scratch, say);
  const needed = new Set(marks.flatMap(({ needs }) => needs));
  const ofNpm = npmCompetitors().filter(({ id }) => wants('competitors') || needed.has(id));
  const others =
    wants('competitors') && values.install && !quick
      ? await otherCompetitors(sizes.cache, say)
      : { present: [], absent: [] };
  const competitors = [...ofNpm, ...others.present];
  const differences = [];
  if (wants('check')) {
    const annotated = await checkFilter(await suite.checked(), say);
    differences.push(
      ...(await checkCompetitors(await suite.checked(), annotated, competitors, say)),
    );
  }

  const cases = await suite.cases(needed, { floors: wants('floors'), competitors });
  const results = await inTurn(cases, turns, say);
  const figures = new Figures(results, await suite.fileSizes(marks, values.real));
  say(`\n${describeResults(results)}\n`);
  const cores = coresOf(results);
  say(`${describeCores(cores)}\n`);
  for (const { name, reason } of others.absent) say(`not here: ${name}: ${reason}`);
  const rows = marks.map((mark) => rowOf(mark, figures));
  say(quick ? 'too small for the marks: this was a test of counts' : describeMarks(rows));
  say(`\ncounts were asserted in ${suite.runsChecked} runs of the filter`);
  return {
    corpus: suite.summary,
    cores,
    marks: rows,
    results: results.map(resultRecord),
    differences,
    absent: others.absent,
  };
}

function wants(part: string): boolean {
  return wanted === undefined || wanted.includes(part);
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
