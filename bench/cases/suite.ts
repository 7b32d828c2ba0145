import { createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { type Competitor, competitorCase } from '../competitors/competitor.js';
import type { CorpusOptions, CorpusSummary } from '../corpus/options.js';
import { PLACES, SHAPES, type ShapeName, USUAL_PLACE } from '../corpus/shapes.js';
import { AGENT, TWO_AGENTS } from '../inputs/agents.js';
import { type Corpus, provideCorpus } from '../inputs/corpus-store.js';
import {
  gzipInput,
  oneUrlInput,
  recordInput,
  sortedInput,
  textInput,
  type UrlInput,
} from '../inputs/url-input.js';
import { coreCases } from '../measure/cores.js';
import { settlePages } from '../measure/page-cache.js';
import type { Case } from '../measure/runs.js';
import { findYardstick, type Yardstick } from '../measure/yardstick.js';
import type { Filter } from '../program/filter.js';
import { CountWatch } from '../verify/count-watch.js';
import { compileCase } from './compile-case.js';
import { type FilterTask, filterCase } from './filter-case.js';
import { gunzipCase, lineCountCases, nodeCase, yardstickCase } from './floor-cases.js';
import { prepareWorkload, type Workload } from './workload.js';

/** Sizes and directory of the corpora. */
export interface SuiteSizes {
  readonly store: string;
  readonly seed: number;
  /**
   * URLs as text and as short records; a file of the same size holds fewer of the longer records.
   */
  readonly urls: number;
  readonly fewHosts: number;
  readonly manyHosts: number;
}

/**
 * Number of URLs for the comparison, record by record, of all input formats and all competitors.
 */
const CHECKED_URLS = 100_000;

/** Cases that need the corpus with many hosts. */
const MANY = ['million-text', 'million-one', 'md5-table', 'compile'];

/** The cases of bench:throughput for one filter. Workloads are made when first needed. */
export class Suite {
  readonly #sizes: SuiteSizes;
  readonly #filter: Filter;
  readonly #scratch: string;
  readonly #report: (sentence: string) => void;
  readonly #watch = new CountWatch();
  readonly #workloads = new Map<string, Promise<Workload>>();

  /** @param scratch existing directory for this filter's tables */
  constructor(
    sizes: SuiteSizes,
    filter: Filter,
    scratch: string,
    report: (sentence: string) => void,
  ) {
    this.#sizes = sizes;
    this.#filter = filter;
    this.#scratch = scratch;
    this.#report = report;
  }

  /** Number of filter runs whose counts were asserted. */
  get runsChecked(): number {
    return this.#watch.runs;
  }

  get summary(): CorpusSummary {
    return this.#corpus(this.#sizes.fewHosts, this.#sizes.urls).summary;
  }

  /** The hosts of most cases with fewer URLs, for comparisons of each URL. */
  checked(): Promise<Workload> {
    return this.#workload('checked', () =>
      this.#corpus(this.#sizes.fewHosts, Math.min(this.#sizes.urls, CHECKED_URLS)),
    );
  }

  /** The rows of the index as its server prints them. */
  async rows(): Promise<UrlInput> {
    return recordInput((await this.#few('index')).corpus, 'index', USUAL_PLACE.index);
  }

  /** The requested cases of the filter. */
  async filterCases(needed: ReadonlySet<string>): Promise<Case[]> {
    const tasks = [
      ...(await this.#textTasks(needed)),
      ...(await this.#recordTasks(needed)),
      ...(await this.#rowTasks(needed)),
      ...(await this.#manyTasks(needed)),
    ].filter(({ id }) => needed.has(id));
    await settlePages([...new Set(tasks.flatMap(({ table, input }) => [input.path, table]))]);
    const cases = tasks.map((task) => filterCase(this.#watch, task));
    return needed.has('compile') ? [compileCase('compile', await this.#many()), ...cases] : cases;
  }

  /** The requested yardsticks, floors and competitors. */
  async otherCases(
    needed: ReadonlySet<string>,
    competitors: readonly Competitor[],
  ): Promise<Case[]> {
    const corpus = this.#corpus(this.#sizes.fewHosts, this.#sizes.urls);
    const yardsticks = await this.#yardstickCases(corpus, needed);
    const isShort = needed.has('wc') || needed.has('cat-wc');
    const floors = isShort ? lineCountCases(recordInput(corpus, 'short', 'first')) : [];
    if (needed.has('gunzip')) floors.push(gunzipCase(gzipInput(await this.rows())));
    return [
      ...coreCases(),
      ...[...yardsticks, ...floors, nodeCase()].filter(({ id }) => needed.has(id)),
      ...(await Promise.all(
        competitors.map(async (each) => competitorCase(each, await this.#corpusFor(each))),
      )),
    ];
  }

  /** Sizes of the tables that the cases used, in bytes. */
  async tableSizes(): Promise<{ hosts: number; bytes: number }[]> {
    const workloads = await Promise.all(this.#workloads.values());
    const sizes = workloads.map(({ corpus, tableBytes }) => ({
      hosts: corpus.summary.hosts,
      bytes: tableBytes,
    }));
    const byHosts = new Map(sizes.map((size) => [size.hosts, size]));
    return [...byHosts.values()].sort((a, b) => a.hosts - b.hosts);
  }

  async #textTasks(needed: ReadonlySet<string>): Promise<FilterTask[]> {
    const few = await this.#few('short');
    const small = await this.#workload('small', () => this.#corpus(10, 1000));
    const text = textInput(few.corpus);
    return [
      task('text', few, text),
      task('one-thread', few, text, { options: ['--threads', '1'] }),
      ...(needed.has('sorted') ? [task('sorted', few, sortedInput(few.corpus))] : []),
      task('text-one', few, oneUrlInput(few.corpus)),
      task('small-one', small, oneUrlInput(small.corpus)),
    ];
  }

  async #recordTasks(needed: ReadonlySet<string>): Promise<FilterTask[]> {
    const tasks: FilterTask[] = [];
    for (const shape of Object.keys(SHAPES) as ShapeName[]) {
      for (const place of PLACES) {
        const id = `${shape}-${place}`;
        if (!needed.has(id)) continue;
        const workload = await this.#few(shape);
        tasks.push(task(id, workload, recordInput(workload.corpus, shape, place)));
      }
    }
    if (!['pipe', 'pipes', 'agents', 'explain'].some((id) => needed.has(id))) return tasks;
    const few = await this.#few('short');
    const short = recordInput(few.corpus, 'short', 'first');
    return [
      ...tasks,
      task('pipe', few, short, { route: 'cat |' }),
      task('pipes', few, short, { route: 'cat | … | cat' }),
      task('agents', few, short, { agents: TWO_AGENTS }),
      task('explain', few, short, { options: ['--explain'] }),
    ];
  }

  /** The rows of the index in other ways. */
  async #rowTasks(needed: ReadonlySet<string>): Promise<FilterTask[]> {
    const tasks: FilterTask[] = [];
    if (!['gzip', 'strict'].some((id) => needed.has(id))) return tasks;
    const few = await this.#few('index');
    const rows = await this.rows();
    if (needed.has('gzip')) tasks.push(task('gzip', few, gzipInput(rows)));
    if (needed.has('strict')) {
      const allowed = await this.#allowed(few, rows);
      tasks.push(task('allowed', few, allowed));
      tasks.push(task('strict', few, allowed, { options: ['--strict'] }));
    }
    return tasks;
  }

  async #manyTasks(needed: ReadonlySet<string>): Promise<FilterTask[]> {
    if (!MANY.some((id) => needed.has(id))) return [];
    const many = await this.#many();
    return [
      task('million-text', many, textInput(many.corpus)),
      task('million-one', many, oneUrlInput(many.corpus)),
    ];
  }

  async #yardstickCases(corpus: Corpus, needed: ReadonlySet<string>): Promise<Case[]> {
    const yardstick = await findYardstick();
    const cases = [yardstickOf('md5-text', yardstick, textInput(corpus), 'f.txt')];
    for (const shape of Object.keys(SHAPES) as ShapeName[]) {
      const id = `md5-${shape}`;
      if (!needed.has(id)) continue;
      const { corpus } = await this.#few(shape);
      cases.push(yardstickOf(id, yardstick, recordInput(corpus, shape, 'first'), `f.ndjson`));
    }
    if (needed.has('md5-table')) {
      const { table } = await this.#many();
      cases.push(yardstickCase('md5-table', yardstick, { path: table, name: 't', records: 0 }));
    }
    return cases;
  }

  /** The records that the filter allows: --strict refuses the corpus, since it has invalid URLs. */
  async #allowed({ table }: Workload, input: UrlInput): Promise<UrlInput> {
    const path = join(this.#scratch, 'allowed.ndjson');
    const args = ['--table', table, '--agent', AGENT, ...input.options, '--allowed'];
    const output = createWriteStream(path);
    const { statistics } = await this.#filter.runCounted(args, { paths: [input.path] }, output);
    return { ...input, path, records: statistics.passed, bytes: output.bytesWritten };
  }

  /** The workload with few hosts whose records of a shape fill a file of the common size. */
  #few(shape: ShapeName): Promise<Workload> {
    const { fewHosts, urls } = this.#sizes;
    const share = SHAPES.short.meanBytes / SHAPES[shape].meanBytes;
    return this.#workload(`few-${shape}`, () => this.#corpus(fewHosts, Math.round(urls * share)));
  }

  #many(): Promise<Workload> {
    const { manyHosts, urls } = this.#sizes;
    return this.#workload('many', () =>
      this.#corpus(manyHosts, Math.round(urls / 2), { robots: 'ndjson' }),
    );
  }

  /** The corpus that the filter's case of the same records has. */
  async #corpusFor({ format }: Competitor): Promise<Corpus> {
    return (await this.#few(format === 'text' ? 'short' : format)).corpus;
  }

  #corpus(hosts: number, urls: number, more: Partial<CorpusOptions> = {}): Corpus {
    const { store, seed } = this.#sizes;
    return provideCorpus(store, { seed, hosts, urls, ...more }, this.#report);
  }

  #workload(name: string, corpus: () => Corpus): Promise<Workload> {
    const known = this.#workloads.get(name);
    if (known !== undefined) return known;
    const table = join(this.#scratch, `${name}.table`);
    const made = prepareWorkload(this.#filter, corpus(), table);
    this.#workloads.set(name, made);
    return made;
  }
}

function task(
  id: string,
  { filter, table, corpus, expected }: Workload,
  input: UrlInput,
  more: Pick<FilterTask, 'agents' | 'route' | 'options'> = {},
): FilterTask {
  const whole = input.records === corpus.summary.urls;
  const counts = whole ? expected : { records: input.records };
  const counted = `${corpus.directory}, ${input.records} URLs`;
  return { id, filter, table, input, counted, expected: counts, ...more };
}

function yardstickOf(id: string, yardstick: Yardstick, input: UrlInput, name: string): Case {
  return yardstickCase(id, yardstick, { path: input.path, name, records: input.records });
}
