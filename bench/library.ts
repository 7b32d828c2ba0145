import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { runCompetitor } from './competitors/competitor.js';
import { languageCompetitors } from './competitors/languages.js';
import { Random } from './corpus/random.js';
import { AGENT } from './inputs/agents.js';
import { DEFAULT_CORPUS_DIRECTORY, makeScratch, provideCorpus } from './inputs/corpus-store.js';
import { type FirstVerdicts, readBodies, timeFirstVerdicts } from './library/first-verdicts.js';
import {
  type Asker,
  type Library,
  loadRobotsParser,
  loadVersion,
  type Version,
} from './library/subjects.js';
import { describeMachine, machineText } from './measure/machine.js';
import { runProgram } from './measure/process.js';
import { figureOf } from './measure/statistics.js';
import { packageText, providePackage } from './program/installed-package.js';
import { IN_ANY_ORDER, writeRecord } from './report/record.js';
import { say } from './report/say.js';
import { aligned } from './report/tables.js';
import { assertEqual } from './verify/assert-equal.js';

const USAGE = `Ask single questions through the library, as a crawler with one object for each host does, beside
robots-parser (npm) and Protego (PyPI). All of Node runs in one process, interleaved.

npm run bench:library -- [options]
    --hosts 2000  --urls 100000  --seed 1
    --runs 5            whole runs
    --bodies FILE       also time each file of these records (.ndjson, .ndjson.gz) to its first verdict
    --objects 100000    objects whose memory is measured; 0 for none
    --installed DIR     load the package that is installed in DIR, not one packed from this checkout
    --against DIR       load the package that is installed in DIR, too
    --corpus DIR        where the corpus is kept (default: ${DEFAULT_CORPUS_DIRECTORY})
    --record            write the figures to bench/record/library.json
`;

const { values } = parseArgs({
  options: {
    hosts: { type: 'string', default: '2000' },
    urls: { type: 'string', default: '100000' },
    seed: { type: 'string', default: '1' },
    runs: { type: 'string', default: '5' },
    objects: { type: 'string', default: '100000' },
    bodies: { type: 'string' },
    installed: { type: 'string' },
    against: { type: 'string' },
    corpus: { type: 'string', default: DEFAULT_CORPUS_DIRECTORY },
    record: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});

/** A case: what it asks, of which library, and a function that asks all of it once. */
interface LibraryCase {
  readonly what: string;
  readonly library: string;
  readonly questions: number;
  /** Returns how many were allowed. */
  run(): number | Promise<number>;
  /** Seconds of the runs. */
  readonly seconds: number[];
}

/** A URL, and the host whose robots.txt decides. */
interface Question {
  readonly url: string;
  readonly host: string;
}

/** The counts of robots-filter's cases must be equal; robots-parser's differ by its deviations. */
const allowedBy = new Map<string, number>();

if (values.help) process.stdout.write(USAGE);
else await measure();

async function measure(): Promise<void> {
  const machine = describeMachine('npm run bench:library --');
  say(machineText(machine));
  const scratch = makeScratch(values.corpus);
  try {
    const installed = await providePackage(scratch, values.installed);
    say(packageText(installed));
    const options = {
      hosts: Number(values.hosts),
      urls: Number(values.urls),
      seed: Number(values.seed),
    };
    const corpus = provideCorpus(values.corpus, options, say);
    const bodies = new Map(
      readdirSync(corpus.robots).map((host) => [
        host,
        readFileSync(join(corpus.robots, host), 'utf8'),
      ]),
    );
    const questions = questionsOf(readFileSync(corpus.text, 'utf8'), bodies);
    new Random(options.seed).shuffle(questions);
    const ours = await loadVersion('robots-filter', installed);
    const versions = [ours];
    if (values.against !== undefined) {
      versions.unshift(await loadVersion('before', { directory: values.against }));
    }
    const cases = [...casesOf(versions, loadRobotsParser(), bodies, questions)];
    const { present, absent } = await languageCompetitors(values.corpus, say, ['Python']);
    const protego = present.find(({ id }) => id === 'protego');
    for (let run = 0; run < Number(values.runs); run++) {
      say(`run ${run + 1} of ${values.runs}`);
      for (const each of cases) await time(each);
      if (protego === undefined) continue;
      const task = { robots: corpus.robots, input: corpus.text, urls: corpus.summary.urls };
      const { seconds } = await runCompetitor(protego, task);
      protegoCase(cases, task.urls).seconds.push(seconds);
    }
    report(cases);
    for (const { name, reason } of absent) {
      if (name.startsWith('Protego')) say(`${name} was not measured: ${reason}`);
    }
    const firstVerdicts = firstVerdictsOf([loadRobotsParser(), ...versions]);
    const memory = await memoryOf(versions, corpus.robots, installed.directory);
    const results = cases.map(({ what, library, questions: asked, seconds }) => ({
      what,
      library,
      questions: asked,
      ...figureOf(seconds),
      seconds,
    }));
    if (values.record) {
      const content = {
        runs: Number(values.runs),
        corpus: corpus.summary,
        library: results,
        firstVerdicts,
        memory,
      };
      say(`recorded in ${writeRecord('library', { machine, package: installed }, content)}`);
    }
  } finally {
    rmSync(scratch, { recursive: true });
  }
}

/** The URLs of https at known hosts, which all libraries can answer. */
function questionsOf(text: string, bodies: ReadonlyMap<string, string>): Question[] {
  const questions: Question[] = [];
  for (const line of text.split('\n')) {
    const [, host = ''] = /^https?:\/\/([a-z0-9.-]+)\//.exec(line) ?? [];
    if (bodies.has(host)) {
      // A URL read from a file is a part of a large string; a crawler's URL is its own.
      const url = Buffer.from(line.replace(/^http:/, 'https:')).toString();
      questions.push({ url, host });
    }
  }
  return questions;
}

function* casesOf(
  versions: readonly Version[],
  parser: Library,
  bodies: ReadonlyMap<string, string>,
  questions: readonly Question[],
): Generator<LibraryCase> {
  const libraries: Library[] = [...versions, parser];
  const byHost = questions.toSorted((a, b) => (a.host < b.host ? -1 : 1));
  const urls = questions.map(({ url }) => url);
  for (const library of libraries) {
    yield caseOf('parse, with the first verdict', library, bodies.size, () => {
      let allowed = 0;
      for (const [host, body] of bodies) {
        if (library.parse(host, body)(`https://${host}/a/b.html`, AGENT)) allowed++;
      }
      return allowed;
    });
  }
  for (const [what, asked] of [
    [IN_ANY_ORDER, questions],
    ['isAllowed, host by host', byHost],
  ] as const) {
    for (const library of libraries) {
      const pairs = pairsOf(asked, bodies, (host, body) => library.parse(host, body));
      yield caseOf(what, library, pairs.length, () => allowedOf(pairs));
    }
  }
  for (const version of versions) {
    const pairs = pairsOf(questions, bodies, (_host, body) => version.parseForRule(body));
    yield caseOf('Robots.verdict, with the rule', version, pairs.length, () => allowedOf(pairs));
    const table = version.table(bodies);
    yield caseOf('Table.verdict, with the rule', version, urls.length, () => {
      let allowed = 0;
      for (const url of urls) if (table.verdict(url, AGENT).verdict === 'allow') allowed++;
      return allowed;
    });
    if (table.isAllowed === undefined || table.verdicts === undefined) continue;
    yield caseOf('Table.isAllowed', version, urls.length, () => {
      let allowed = 0;
      for (const url of urls) if (table.isAllowed?.(url, AGENT)) allowed++;
      return allowed;
    });
    yield caseOf('Table.verdicts', version, urls.length, () => {
      const verdicts = table.verdicts?.(urls, AGENT) ?? [];
      return verdicts.reduce(
        (allowed, verdict) => (verdict === 'allow' ? allowed + 1 : allowed),
        0,
      );
    });
  }
}

function caseOf(
  what: string,
  { name }: Library,
  questions: number,
  run: () => number,
): LibraryCase {
  return { what, library: name, questions, run, seconds: [] };
}

function pairsOf(
  questions: readonly Question[],
  bodies: ReadonlyMap<string, string>,
  parse: (host: string, body: string) => Asker,
): (readonly [Asker, string])[] {
  const askers = new Map([...bodies].map(([host, body]) => [host, parse(host, body)]));
  return questions.map(({ host, url }) => [askers.get(host) as Asker, url]);
}

function allowedOf(pairs: readonly (readonly [Asker, string])[]): number {
  let allowed = 0;
  for (const [ask, url] of pairs) if (ask(url, AGENT)) allowed++;
  return allowed;
}

async function time({ what, library, questions, run, seconds }: LibraryCase): Promise<void> {
  if (library === 'Protego') return;
  if (seconds.length === 0) await run(); // warms up
  const start = process.hrtime.bigint();
  const allowed = await run();
  seconds.push(Number(process.hrtime.bigint() - start) / 1e9);
  const kind = `${library === 'robots-parser' ? library : 'robots-filter'} ${questions}`;
  const known = allowedBy.get(kind) ?? allowed;
  assertEqual(`allowed: ${what}, ${library}`, allowed, known);
  allowedBy.set(kind, known);
}

/** Protego's program reads the URLs from a file and finds their hosts while the clock runs. */
function protegoCase(cases: LibraryCase[], questions: number): LibraryCase {
  let found = cases.find(({ library }) => library === 'Protego');
  if (found === undefined) {
    const what = IN_ANY_ORDER;
    found = { what, library: 'Protego', questions, run: () => 0, seconds: [] };
    cases.push(found);
  }
  return found;
}

function report(cases: readonly LibraryCase[]): void {
  const rows = cases.map(({ what, library, questions, seconds }) => {
    const { median, least, greatest } = figureOf(seconds);
    const rate = (time: number): string => Math.round(questions / time).toLocaleString('en');
    return [what, library, rate(median), `${rate(greatest)}–${rate(least)}`];
  });
  say(`\n${aligned([['case', 'library', 'a second', 'least–greatest'], ...rows], 2)}\n`);
}

/** The times of each real body to its first verdict, if bodies are given. */
function firstVerdictsOf(libraries: readonly Library[]): FirstVerdicts[] {
  if (values.bodies === undefined) return [];
  const timed = timeFirstVerdicts(libraries, readBodies(values.bodies), Number(values.runs));
  for (const { library, files, firstPass, pass, medianFile } of timed) {
    const all = `all ${files.toLocaleString('en')} in ${pass.median.toFixed(2)} s (${pass.least.toFixed(2)}–${pass.greatest.toFixed(2)})`;
    say(
      `${library}: to the first verdict ${all}, for the first time ${firstPass.toFixed(2)} s; the median file ${medianFile.toFixed(1)} µs`,
    );
  }
  return timed;
}

/** Bytes of each object beside its body, in processes of their own. */
async function memoryOf(versions: readonly Version[], robots: string, directory: string) {
  if (values.objects === '0') return [];
  const script = join(import.meta.dirname, 'library', 'objects.mjs');
  const folders = new Map(versions.map(({ name }) => [name, directory]));
  if (values.against !== undefined) folders.set('before', values.against);
  const memory: { library: string; bytes: number }[] = [];
  for (const [library, folder] of [...folders, ['robots-parser', process.cwd()] as const]) {
    const words = ['--expose-gc', script, library, folder, robots, values.objects];
    const { output } = await runProgram(process.execPath, words, { output: 'keep' });
    const { bytes, body } = JSON.parse(output) as { bytes: number; body: number };
    memory.push({ library, bytes });
    say(
      `${library}: ${bytes.toLocaleString('en')} bytes for each of ${values.objects} objects, beside bodies of ${body} bytes`,
    );
  }
  return memory;
}
