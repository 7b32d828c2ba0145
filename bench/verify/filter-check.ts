import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { VERDICTS } from '../../src/protocol/verdict.js';
import { Random } from '../corpus/random.js';
import { PLACES, SHAPES, type ShapeName } from '../corpus/shapes.js';
import { AGENT } from '../inputs/agents.js';
import type { Corpus } from '../inputs/corpus-store.js';
import { LineSink, Lines } from '../inputs/lines.js';
import { recordInput, textInput, type UrlInput } from '../inputs/url-input.js';
import type { Filter, Route } from '../program/filter.js';
import { type Annotated, readAnnotated } from './annotated.js';
import { assertEqual } from './assert-equal.js';
import { CorpusJudge } from './judges.js';
import { countsText } from './verdict-counts.js';

/** Number of URLs that the naive matcher also decides. */
const SAMPLE = 5000;

/** Runs the filter over a corpus in all formats and compares record by record. */
export class FilterCheck {
  readonly #filter: Filter;
  readonly #args: readonly string[];
  readonly #report: (sentence: string) => void;

  constructor(filter: Filter, table: string, report: (sentence: string) => void) {
    this.#filter = filter;
    this.#args = ['--table', table, '--agent', AGENT];
    this.#report = report;
  }

  /**
   * Asserts that each record comes out once and in order, with the same verdict as text and as
   * records of all shapes, from a file and from a pipe; that `--allowed` passes the allowed records
   * unchanged; and that the naive matcher agrees on a sample.
   *
   * @returns the verdicts
   */
  async check(corpus: Corpus): Promise<Annotated> {
    const text = await this.#checkInput('text', textInput(corpus));
    for (const shape of Object.keys(SHAPES) as ShapeName[]) {
      for (const place of PLACES) {
        const name = `${shape} records, the URL ${place}`;
        const { verdicts } = await this.#checkInput(name, recordInput(corpus, shape, place));
        assertEqual(`${name}: the verdicts`, hashOf(verdicts), hashOf(text.verdicts));
      }
    }
    this.#checkAgainstNaive(corpus, text);
    return text;
  }

  async #checkInput(name: string, input: UrlInput): Promise<Annotated> {
    const lines = new Lines(readFileSync(input.path));
    const annotated = await this.#annotate(input, lines, 'file');
    const piped = await this.#annotate(input, lines, 'cat |');
    assertEqual(`${name}: the output from a pipe`, piped.hash, annotated.hash);
    const allowed = await this.#checkAllowed(name, input, lines, annotated);
    const counts = countsText(annotated.counts);
    this.#report(`${name}: ${counts}; file and pipe agree; --allowed passes ${allowed}`);
    return annotated;
  }

  async #annotate(input: UrlInput, lines: Lines, route: Route): Promise<Annotated> {
    const { sink, result } = readAnnotated(input.format, lines);
    const from = { paths: [input.path], route };
    await this.#filter.runCounted([...this.#args, ...input.options], from, sink);
    return result();
  }

  async #checkAllowed(
    name: string,
    input: UrlInput,
    lines: Lines,
    annotated: Annotated,
  ): Promise<number> {
    const expected = createHash('sha256');
    for (const [index, verdict] of annotated.verdicts.entries()) {
      if (VERDICTS[verdict] === 'allow') expected.update(lines.at(index) ?? '').update('\n');
    }
    const passed = createHash('sha256');
    let count = 0;
    const sink = new LineSink((line) => {
      passed.update(line).update('\n');
      count++;
    });
    const args = [...this.#args, ...input.options, '--allowed'];
    await this.#filter.runCounted(args, { paths: [input.path] }, sink);
    assertEqual(`${name}: lines that --allowed passes`, count, annotated.counts.allow);
    assertEqual(`${name}: --allowed's output`, passed.digest('hex'), expected.digest('hex'));
    return count;
  }

  #checkAgainstNaive(corpus: Corpus, annotated: Annotated): void {
    const judge = new CorpusJudge(corpus.robots, AGENT);
    const urls = new Lines(readFileSync(corpus.text));
    const random = new Random(1);
    for (let drawn = 0; drawn < SAMPLE; drawn++) {
      const index = random.below(urls.length);
      const url = urls.at(index)?.toString() ?? '';
      const ours = VERDICTS[annotated.verdicts[index] ?? 0];
      const { verdict, rule } = judge.decide(url);
      assertEqual(`line ${index + 1}, ${url} (${rule || 'no rule'})`, ours, verdict);
    }
    this.#report(`the naive matcher agrees on ${SAMPLE} URLs`);
  }
}

function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}
