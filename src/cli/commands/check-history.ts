/** `check --history`: what each robots.txt of a URL's authority says about the URL. */

import { printable, printableJson } from '../../base/control-characters.js';
import { RobotsFilterError } from '../../base/errors.js';
import { STANDARD_INPUT } from '../../files/openings.js';
import { isoSeconds } from '../../inspect/host-report.js';
import { openForHosts, type Table, tableMemory } from '../../judge/table.js';
import { hasHistories } from '../../judge/table-memory.js';
import type { Judgement } from '../../kernel/session.js';
import { type Authority, authorityOfUrl } from '../../protocol/authority.js';
import { answersFor, type TableAuthority } from '../../view/table-content.js';
import { type NamedAgentOptions, noteUnnamedInTable, parseNamedAgent } from '../agents.js';
import { type Diagnostics, NOT_ALLOWED, SUCCESS, shellWords, usageError } from '../console.js';
import type { ProfileOptions } from '../options.js';
import { TextBatches } from '../report/rows.js';
import { isForPeople, RecordColumns } from '../text.js';
import { urlsOf } from './arguments.js';
import { checkProfile, purposeOf } from './robots-source.js';

interface CheckHistoryOptions extends ProfileOptions, NamedAgentOptions {
  readonly json?: boolean;
}

/** A verdict on a URL, and how long it held. */
interface Period {
  readonly url: string;
  /** From when on, in seconds since 1970; undefined if the table has no robots.txt for the URL. */
  readonly since: number | undefined;
  /** Undefined for the newest. */
  readonly until: number | undefined;
  readonly judgement: Judgement;
}

/**
 * Prints for each URL a line for each robots.txt of its authority, oldest first: verdict, URL, from
 * when on it was in force, until when, and the reason. If a rule decided, its line, text, product
 * token and source follow.
 *
 * @returns the exit code: 0 if all URLs are allowed by the newest robots.txt, otherwise 1
 * @throws RobotsFilterError `usage` for anything but a table with histories and whole URLs
 */
export async function checkHistory(
  path: string,
  agent: string,
  urls: readonly string[],
  options: CheckHistoryOptions,
  diagnostics: Diagnostics,
): Promise<number> {
  refuseOtherFiles(path, agent, urls, options);
  const asked: { readonly url: string; readonly authority: Authority }[] = [];
  for (const each of urls) {
    for await (const url of each === STANDARD_INPUT ? urlsOf(each) : [each]) {
      const authority = authorityOfUrl(url);
      if (authority !== undefined) asked.push({ url, authority });
      else throw usageError(`${printable(url)} is no http, https or ftp URL. Type all of it`);
    }
  }
  const table = await openForHosts(path, [
    ...new Set(asked.map(({ authority }) => authority.host)),
  ]);
  const memory = tableMemory(table);
  if (!hasHistories(memory)) {
    throw usageError(`${path} has no histories. Compile it with --history, or leave --history out`);
  }
  checkProfile(table.profile, path, options.profile);
  const parsed = parseNamedAgent(agent, table.profile);
  memory.view.checkAgent(parsed);
  await noteUnnamedInTable(memory, [parsed], options, diagnostics);
  const out = new TextBatches();
  const periods = asked.flatMap(({ url, authority }) =>
    periodsOf(table, parsed.name, url, authority),
  );
  if (options.json === true) for (const period of periods) out.add(`${jsonOf(period)}\n`);
  else if (isForPeople()) {
    for (const line of new RecordColumns().lines(periods.map(columnsOf))) out.add(`${line}\n`);
  } else for (const period of periods) out.add(`${columnsOf(period).join('\t')}\n`);
  out.flush();
  if (out.isClosed) return SUCCESS;
  const newest = periods.filter(({ until }) => until === undefined);
  return newest.every(({ judgement }) => judgement.verdict === 'allow') ? SUCCESS : NOT_ALLOWED;
}

/** @throws RobotsFilterError `usage` for what has no histories, or chooses what was chosen */
function refuseOtherFiles(
  path: string,
  agent: string,
  urls: readonly string[],
  { maxRobotsBytes }: CheckHistoryOptions,
): void {
  if (maxRobotsBytes !== undefined) {
    throw usageError(
      '--max-robots-bytes has no effect on a table, which is compiled already. Leave it out',
    );
  }
  if (purposeOf(path) === 'table') return;
  const words = shellWords(['history.table', agent, ...urls]);
  throw new RobotsFilterError(
    'usage',
    `${printable(path)} is no table, and --history asks one with histories. Type: robots-filter compile --history --robots-dir ${shellWords([path])} -o history.table && robots-filter check --history ${words}`,
  );
}

/** The verdicts on a URL, each with the robots.txt that gave it. */
function periodsOf(table: Table, agent: string, url: string, authority: Authority): Period[] {
  const view = tableMemory(table).view.withUnknown();
  const host = view.find(authority.host);
  const own = host?.authorities.find((each: TableAuthority) => answersFor(each, authority));
  const times = own === undefined ? [] : view.timesOf(own);
  if (times.length === 0) {
    const judgement = table.verdict(url, agent);
    return [{ url, since: undefined, until: undefined, judgement }];
  }
  return times.map((since, index) => ({
    url,
    since,
    until: times[index + 1],
    judgement: table.verdict(url, agent, { at: 1000 * since }),
  }));
}

const timeText = (seconds: number | undefined): string =>
  seconds === undefined ? '' : isoSeconds(seconds);

function columnsOf({ url, since, until, judgement }: Period): string[] {
  const { verdict, reason, rule } = judgement;
  const columns = [verdict, url, timeText(since), timeText(until), reason];
  if (rule !== undefined) {
    columns.push(String(rule.line), rule.text, rule.agent, rule.source ?? '');
  }
  return columns.map(printable);
}

function jsonOf({ url, since, until, judgement }: Period): string {
  const { verdict, reason, rule = null } = judgement;
  const from = since === undefined ? null : isoSeconds(since);
  const to = until === undefined ? null : isoSeconds(until);
  return printableJson({ url, verdict, since: from, until: to, reason, rule });
}
