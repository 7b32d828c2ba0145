import { statSync } from 'node:fs';
import { join } from 'node:path';
import {
  compileCase,
  compiled,
  filterCase,
  floorCases,
  nodeCase,
  TWO_AGENTS,
  tableOctets,
  type Workload,
  yardstickCase,
} from './cases.js';
import { type Competitor, competitorCase } from './competitors.js';
import { coreCases } from './cores.js';
import { type Corpus, corpusIn } from './corpora.js';
import { CountWatch } from './counts.js';
import type { Mark } from './marks.js';
import { settlePages } from './page-cache.js';
import { compileRealRobots } from './real-data.js';
import type { Case } from './rounds.js';
import { findYardstick } from './yardstick.js';

export { AGENT } from './cases.js';

/** How large the corpora are, and where they are kept. */
export interface SuiteSizes {
  readonly cache: string;
  readonly seed: number;
  readonly urls: number;
  readonly fewHosts: number;
  readonly manyHosts: number;
}

/** Cases that take the corpus of many hosts. */
const MANY = new Set(['million-text', 'million-one', 'million-yardstick', 'compile']);

/**
 * URLs over which the ways through the program, and the competitors' verdicts, are compared one by
 * one.
 */
const CHECKED_URLS = 200_000;

/**
 * The cases of the throughput benchmark over their corpora, each made when it is first asked for.
 */
export class Suite {
  readonly #sizes: SuiteSizes;
  readonly #scratch: string;
  readonly #report: (sentence: string) => void;
  readonly #watch = new CountWatch();
  readonly #workloads = new Map<string, Promise<Workload>>();

  /** @param scratch directory for tables, which are compiled anew for each run */
  constructor(sizes: SuiteSizes, scratch: string, report: (sentence: string) => void) {
    this.#sizes = sizes;
    this.#scratch = scratch;
    this.#report = report;
  }

  /** The corpus over which most is measured. */
  fewHosts(): Corpus {
    const { cache, seed, fewHosts: hosts, urls } = this.#sizes;
    return corpusIn(cache, { seed, hosts, urls }, this.#report);
  }

  get summary() {
    return this.fewHosts().summary;
  }

  /** Measured runs of the filter whose counts were asserted. */
  get runsChecked(): number {
    return this.#watch.runs;
  }

  /** The same hosts with fewer URLs, for what looks at each of them. */
  async checked(): Promise<Workload> {
    const { cache, seed, fewHosts: hosts, urls } = this.#sizes;
    const options = { seed, hosts, urls: Math.min(urls, CHECKED_URLS) };
    return await this.#workload('checked', () => corpusIn(cache, options, this.#report));
  }

  async cases(
    needed: ReadonlySet<string>,
    others: { floors: boolean; competitors: readonly Competitor[] },
  ): Promise<Case[]> {
    const few = await this.#few();
    const cases = [...this.#ownCases(few, await this.#small()), nodeCase()];
    const files = [few.corpus.ndjson, few.corpus.text];
    const yardstick = await findYardstick();
    cases.push(yardstickCase('yardstick', yardstick, few.corpus.ndjson, few.corpus.summary.urls));
    if ([...needed].some((id) => MANY.has(id))) {
      const many = await this.#many();
      files.push(many.corpus.text, many.corpus.robots, many.table);
      cases.push(
        filterCase(this.#watch, { id: 'million-text', workload: many, form: 'text' }),
        filterCase(this.#watch, { id: 'million-one', workload: many, form: 'oneUrl' }),
        yardstickCase('million-yardstick', yardstick, many.table),
        compileCase('compile', many),
      );
    }
    await settlePages(files);
    const competitors = others.competitors.map((each) => competitorCase(each, few.corpus));
    const oneThread = competitors.length > 0 ? ['one-thread'] : [];
    return [
      ...coreCases(),
      ...cases.filter(({ id }) => needed.has(id) || oneThread.includes(id)),
      ...(others.floors ? floorCases(few) : []),
      ...competitors,
    ];
  }

  #ownCases(few: Workload, small: Workload): Case[] {
    const over =
      (workload: Workload) =>
      (id: string, more: Partial<FilterOptions> = {}) =>
        filterCase(this.#watch, { id, workload, form: 'ndjson', ...more });
    const ofFew = over(few);
    return [
      ofFew('ndjson'),
      ofFew('text', { form: 'text' }),
      ofFew('text-one', { form: 'oneUrl' }),
      ofFew('pipe', { way: 'cat |' }),
      ofFew('pipes', { way: 'cat | … | cat' }),
      ofFew('agents', { agents: TWO_AGENTS }),
      ofFew('explain', { options: ['--explain'] }),
      ofFew('one-thread', { form: 'text', options: ['--threads', '1'] }),
      over(small)('small-one', { form: 'oneUrl' }),
    ];
  }

  /** Sizes of files that marks ask for, in octets, and the hosts that they are for. */
  async fileSizes(
    marks: readonly Mark[],
    real: string | undefined,
  ): Promise<ReadonlyMap<string, number>> {
    const asked = new Set(marks.flatMap((mark) => mark.sizes ?? []));
    const sizes = new Map<string, number>();
    const add = (name: string, workload: Workload) =>
      sizes.set(name, tableOctets(workload)).set(`${name}-hosts`, workload.corpus.summary.hosts);
    if (asked.has('generated')) add('generated', await this.#few());
    if (asked.has('million')) add('million', await this.#many());
    if (asked.has('real') && real !== undefined) {
      sizes.set('real', statSync(await compileRealRobots(real, this.#scratch)).size);
    }
    return sizes;
  }

  async #few(): Promise<Workload> {
    return await this.#workload('few', () => this.fewHosts());
  }

  async #small(): Promise<Workload> {
    const { cache, seed } = this.#sizes;
    return await this.#workload('small', () =>
      corpusIn(cache, { seed, hosts: 10, urls: 1000 }, this.#report),
    );
  }

  async #many(): Promise<Workload> {
    const { cache, seed, manyHosts: hosts, urls } = this.#sizes;
    const options = { seed, hosts, urls, robots: 'ndjson' } as const;
    return await this.#workload('many', () => corpusIn(cache, options, this.#report));
  }

  #workload(name: string, corpus: () => Corpus): Promise<Workload> {
    const known = this.#workloads.get(name);
    if (known !== undefined) return known;
    const made = this.#compiled(name, corpus());
    this.#workloads.set(name, made);
    return made;
  }

  async #compiled(name: string, corpus: Corpus): Promise<Workload> {
    this.#report(`compiling the robots.txt of ${corpus.summary.hosts.toLocaleString('en')} hosts`);
    return await compiled(corpus, join(this.#scratch, `${name}.table`));
  }
}

type FilterOptions = Parameters<typeof filterCase>[1];
