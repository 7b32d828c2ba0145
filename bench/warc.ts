import { execFileSync } from 'node:child_process';
import { closeSync, existsSync, openSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import {
  type ArchiveForm,
  archiveCase,
  copyCase,
  decompressCase,
  urlsCase,
  urlsFloorCase,
  urlsLibraryCase,
} from './cases/archive-cases.js';
import { formatCase } from './cases/format-cases.js';
import { archiveLibraries } from './competitors/warc-libraries.js';
import { CapturePlan } from './corpus/capture-plan.js';
import { CRAWLER } from './inputs/agents.js';
import { type GeneratedArchive, provideArchive } from './inputs/archive-store.js';
import { canCompress, provideCompressed } from './inputs/compressed.js';
import { DEFAULT_CORPUS_DIRECTORY } from './inputs/corpus-store.js';
import { provideForm } from './inputs/url-forms.js';
import type { Filter } from './program/filter.js';
import { type Measured, runBenchmark } from './report/benchmark.js';
import { timeRatio } from './report/ratios.js';
import { say } from './report/say.js';
import { CountWatch } from './verify/count-watch.js';
import { countIndex } from './verify/judges.js';

const USAGE = `Time how captures of robots.txt files in WARC files are compiled, and how their URLs are judged, beside
zcat of the same files, and assert verdict counts with each table.

npm run bench:warc -- [options]
    --captures 1000000  captures in all files
    --files 200         gzip files; a tenth of them is read as plain and as zstd files, too
    --seed 1  --runs 3
    --installed DIR     run the package that is installed in DIR, not one packed from this checkout
    --corpus DIR        where the files are kept (default: ${DEFAULT_CORPUS_DIRECTORY})
    --record            write the figures to bench/record/warc.json
    --quick             small files, one run: a test of verdict counts
`;

const { values } = parseArgs({
  options: {
    captures: { type: 'string' },
    files: { type: 'string' },
    seed: { type: 'string', default: '1' },
    runs: { type: 'string' },
    installed: { type: 'string' },
    corpus: { type: 'string', default: DEFAULT_CORPUS_DIRECTORY },
    record: { type: 'boolean', default: false },
    quick: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

const { quick, corpus: store, installed, record } = values;
const options = {
  seed: Number(values.seed),
  files: Number(values.files ?? (quick ? 4 : 200)),
  captures: Number(values.captures ?? (quick ? 2000 : 1_000_000)),
};
/** URLs that are judged with each table. */
const URLS = quick ? 2000 : 50_000;

if (values.help) process.stdout.write(USAGE);
else {
  const runs = Number(values.runs ?? (quick ? 1 : 3));
  await runBenchmark({ kind: 'warc', store, installed, record, runs, timed: !quick }, prepare);
}

async function prepare(filter: Filter, scratch: string): Promise<Measured> {
  const archive = await provideArchive(store, options, say);
  const plan = new CapturePlan(options);
  const forms = [allForm(archive), ...subsetForms(archive)];
  const tenth = tenthForm(archive);
  const table = join(scratch, 'warc.table');
  await filter.compile(archive.list, table);
  await checkVerdicts(filter, archive, plan, table);
  const urls = { filter, table, agent: CRAWLER, form: tenth };
  // Quick runs install nothing.
  const libraries = quick ? { present: [], absent: [] } : await archiveLibraries(store);
  const cases = [
    ...forms.flatMap((form) => [
      archiveCase(filter, form, join(scratch, `${form.id}.table`)),
      decompressCase(form),
    ]),
    urlsCase(urls),
    copyCase(urls, join(scratch, 'allowed.warc.gz')),
    urlsFloorCase(tenth),
    ...libraries.present.map((library) => urlsLibraryCase(library, tenth)),
  ];
  const ratios = [
    ...forms.map(({ id, decompressor }) =>
      timeRatio(id, `compiling captures, ${id}`, id, `${id}-floor`, `${decompressor} | wc -c`),
    ),
    timeRatio('urls', 'judging the URLs of captures, gzip', 'urls', 'urls-floor', 'zcat | wc -c'),
    timeRatio('copy', 'copying what is allowed, gzip', 'copy', 'urls-floor', 'zcat | wc -c'),
    timeRatio(
      'urls-warcio',
      'judging the URLs, gzip',
      'urls',
      'urls-warcio',
      'warcio listing them',
    ),
    timeRatio(
      'urls-fastwarc',
      'judging the URLs',
      'urls',
      'urls-fastwarc',
      'FastWARC listing them',
    ),
  ];
  const notMeasured = [
    ...(canCompress('zst') ? [] : ['zstd files: the zstd program is missing']),
    ...libraries.absent.map(({ name, reason }) => `${name}: ${reason}`),
  ];
  return { cases, ratios, notMeasured, input: archive.summary };
}

/** The verdicts of URLs with the table must be those of the plan and the naive matcher. */
async function checkVerdicts(
  filter: Filter,
  archive: GeneratedArchive,
  plan: CapturePlan,
  table: string,
): Promise<void> {
  const { path } = provideForm(archive, plan, URLS, 'txt');
  const { counts } = countIndex(plan, URLS, CRAWLER);
  const watch = new CountWatch();
  const task = { filter, table, agent: CRAWLER, path, rows: URLS, counted: 'captures' };
  const expected = { records: URLS, counts };
  await formatCase(watch, { ...task, id: 'check', expected }).rehearse?.();
  say(`the verdicts of ${URLS.toLocaleString('en')} URLs are those of the naive matcher`);
}

function allForm({ list, files, summary }: GeneratedArchive): ArchiveForm {
  const { bytes, options } = summary;
  return { id: 'gzip', list, files, bytes, captures: options.captures, decompressor: 'zcat' };
}

/** A tenth of the files. */
function tenthForm({ files, summary }: GeneratedArchive): ArchiveForm {
  const { options } = summary;
  const some = files.slice(0, Math.ceil(files.length / 10));
  const captures = (options.captures / options.files) * some.length;
  const bytes = some.reduce((sum, path) => sum + statSync(path).size, 0);
  return { id: 'tenth', list: '', files: some, bytes, captures, decompressor: 'zcat' };
}

/** A tenth of the files, plain, and as zstd files if that program is there. */
function subsetForms({ directory, files, summary }: GeneratedArchive): ArchiveForm[] {
  const { options } = summary;
  const subset = files.slice(0, Math.ceil(files.length / 10));
  const captures = (options.captures / options.files) * subset.length;
  const plain = subset.map((file) => provideDecompressed(file));
  const form = (id: string, paths: readonly string[], decompressor: string): ArchiveForm => {
    const list = join(directory, `${id}.paths`);
    writeFileSync(list, paths.map((path) => `${path}\n`).join(''));
    const bytes = paths.reduce((sum, path) => sum + statSync(path).size, 0);
    return { id, list, files: paths, captures, bytes, decompressor };
  };
  const forms = [form('plain', plain, 'cat')];
  if (canCompress('zst')) {
    const compressed = plain.map((path) => provideCompressed(path, 'zst'));
    forms.push(form('zstd', compressed, 'zstd -dcq'));
  }
  return forms;
}

function provideDecompressed(path: string): string {
  const plain = path.slice(0, -'.gz'.length);
  if (existsSync(plain)) return plain;
  const output = openSync(`${plain}.tmp`, 'w');
  execFileSync('gzip', ['-dc', path], { stdio: ['ignore', output, 'inherit'] });
  closeSync(output);
  renameSync(`${plain}.tmp`, plain);
  return plain;
}
