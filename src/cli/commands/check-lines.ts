/** What `check` asks, and its lines: what is said to an agent about a URL. */

import { printable, printableJson } from '../../base/control-characters.js';
import { isTerminal, STANDARD_INPUT } from '../../files/openings.js';
import { isoSeconds } from '../../inspect/host-report.js';
import type { DecidingRule, Judgement, UseJudgement } from '../../kernel/session.js';
import type { Use } from '../../protocol/uses.js';
import { type Diagnostics, NOT_ALLOWED, SUCCESS } from '../console.js';
import type { RobotsOptions, UseOptions } from '../options.js';
import { TextBatches } from '../report/rows.js';
import { isForPeople, RecordColumns } from '../text.js';
import { noteEmptyList, urlsOf } from './arguments.js';

export interface CheckOptions extends RobotsOptions, UseOptions {
  readonly urls?: string;
  readonly json?: boolean;
  readonly history?: boolean;
}

/** The URLs that are asked about: one, or a list of them. */
export type AskedUrl = string | { readonly list: string };

/** What a run of `check` asks. */
export interface Asked {
  readonly file: string;
  /** The agents as they were given. */
  readonly given: readonly string[];
  /** The agents as product tokens, chains and published names. */
  readonly agents: readonly string[];
  readonly urls: readonly AskedUrl[];
  readonly uses: readonly Use[];
  readonly diagnostics: Diagnostics;
}

const STANDARD_INPUT_DESCRIPTOR = 0;

/**
 * Passes on each URL that is asked about, in order, until nobody reads the lines.
 *
 * @param judge writes the lines of a URL
 */
export async function eachUrl(
  { urls, diagnostics }: Asked,
  lines: CheckLines,
  judge: (url: string) => void,
): Promise<void> {
  try {
    for (const url of urls) {
      if (lines.isClosed) return;
      if (typeof url === 'string') {
        judge(url);
        continue;
      }
      // What a person types is answered line by line.
      const isTyped = url.list === STANDARD_INPUT && isTerminal(STANDARD_INPUT_DESCRIPTOR);
      if (isTyped) {
        lines.rowsAtATime = 1;
        diagnostics.note('reading URLs from standard input; press Ctrl-D to end');
      }
      let count = 0;
      for await (const line of urlsOf(url.list)) {
        count++;
        judge(line);
        if (lines.isClosed) return;
      }
      if (count === 0) noteEmptyList(url.list, 'URL', diagnostics);
    }
  } finally {
    lines.flush();
  }
}

/** The answer about a use that was asked about. */
export interface NamedAnswer extends UseJudgement {
  readonly name: string;
}

/** What is said about a URL to an agent. */
export interface CheckedUrl {
  /** As it was asked. */
  readonly url: string;
  readonly agent: string;
  readonly judgement: Judgement;
  readonly answers: readonly NamedAnswer[];
  /** When the robots.txt was in force, of several: in seconds since 1970, open for the newest. */
  readonly period?: { readonly since: number | undefined; readonly until: number | undefined };
}

/** What the lines of a run have beside verdict, URL and reason. */
export interface CheckShape {
  readonly json: boolean;
  /** Whether several agents were asked for: each line then names one. */
  readonly namesAgents: boolean;
  readonly hasUses: boolean;
  /** Whether rules are named with their robots.txt, of which there are many. */
  readonly hasSources: boolean;
}

/** Number of rows that are aligned and written at a time. */
const ROWS_AT_A_TIME = 1000;

/** Writes the lines of a run, and knows its exit code. */
export class CheckLines {
  /** Number of lines after which they are written: 1 for what a person types. */
  rowsAtATime = ROWS_AT_A_TIME;
  readonly #shape: CheckShape;
  readonly #aligned: RecordColumns | undefined;
  readonly #out = new TextBatches();
  readonly #rows: string[][] = [];
  #count = 0;
  #isAllowed = true;

  constructor(shape: CheckShape) {
    this.#shape = shape;
    this.#aligned = !shape.json && isForPeople() ? new RecordColumns() : undefined;
  }

  /** Whether the reader has gone away. */
  get isClosed(): boolean {
    return this.#out.isClosed;
  }

  /** 0 if every URL is allowed by its newest robots.txt and no use is refused, otherwise 1. */
  get code(): number {
    return this.isClosed || this.#isAllowed ? SUCCESS : NOT_ALLOWED;
  }

  /** @param records further members of the JSON object, made if they are needed */
  add(checked: CheckedUrl, records: () => object): void {
    const { judgement, answers, period } = checked;
    if (period?.until === undefined) {
      const isRefused = answers.some(({ answer }) => answer === 'refused');
      if (judgement.verdict !== 'allow' || isRefused) this.#isAllowed = false;
    }
    if (this.#shape.json) this.#out.add(this.#json(checked, records()));
    else if (this.#aligned !== undefined) this.#rows.push(this.#columns(checked));
    else this.#out.add(`${this.#columns(checked).join('\t')}\n`);
    if (++this.#count % this.rowsAtATime === 0) this.flush();
  }

  flush(): void {
    const lines = this.#aligned?.lines(this.#rows.splice(0)) ?? [];
    for (const line of lines) this.#out.add(`${line}\n`);
    this.#out.flush();
  }

  /**
   * The columns of a line; line ends and tabs from outside are escaped. Answers about uses follow
   * the verdict. Then no column is left out, and the signals stand in the last ones.
   */
  #columns({ url, agent, judgement, answers, period }: CheckedUrl): string[] {
    const { hasUses, namesAgents, hasSources } = this.#shape;
    const { verdict, reason, rule } = judgement;
    const partsOf = (rule: DecidingRule | undefined): string[] => {
      const parts = rule === undefined ? ['', '', ''] : [`${rule.line}`, rule.text, rule.agent];
      return hasSources ? [...parts, rule?.source ?? ''] : parts;
    };
    const columns = [
      verdict,
      ...(hasUses ? [answers.map(({ answer = '' }) => answer).join(',')] : []),
      ...(namesAgents ? [agent] : []),
      url,
      ...(period === undefined ? [] : [timeText(period.since), timeText(period.until)]),
      reason,
      ...(hasUses || rule !== undefined ? partsOf(rule) : []),
      ...answers.flatMap((each) => [each.reason, ...partsOf(each.signal)]),
    ];
    return columns.map(printable);
  }

  #json({ url, agent, judgement, answers, period }: CheckedUrl, records: object): string {
    const { verdict, reason, rule } = judgement;
    const line = {
      url,
      ...(this.#shape.namesAgents ? { agent } : {}),
      verdict,
      ...(period === undefined
        ? {}
        : { since: timeText(period.since) || null, until: timeText(period.until) || null }),
      reason,
      rule: ruleJson(rule),
      ...records,
      ...usesJson(answers),
    };
    return `${printableJson(line)}\n`;
  }
}

const timeText = (seconds: number | undefined): string =>
  seconds === undefined ? '' : isoSeconds(seconds);

function ruleJson(rule: DecidingRule | undefined): object | null {
  if (rule === undefined) return null;
  const { line, text, agent, source } = rule;
  return { line, text, agent, ...(source === undefined ? {} : { source }) };
}

/** The members of the answers, as the filter names them. */
function usesJson(answers: readonly NamedAnswer[]): Record<string, unknown> {
  const [only, ...others] = answers;
  if (only === undefined) return {};
  if (others.length === 0) {
    const { answer = null, reason, signal } = only;
    return { use: answer, use_reason: reason, signal: ruleJson(signal) };
  }
  const byName = (pick: (answer: NamedAnswer) => unknown) =>
    Object.fromEntries(answers.map((answer) => [answer.name, pick(answer)]));
  return {
    use: byName(({ answer = null }) => answer),
    use_reasons: byName(({ reason }) => reason),
    signals: byName(({ signal }) => ruleJson(signal)),
  };
}
