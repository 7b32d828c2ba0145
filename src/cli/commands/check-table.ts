/** `check` by robots.txt files of many hosts, or by a table. */

import { existsSync } from 'node:fs';
import { printable } from '../../base/control-characters.js';
import type { RobotsFilterError } from '../../base/errors.js';
import { openForHosts, type Table, tableMemory } from '../../judge/table.js';
import { hasHistories } from '../../judge/table-memory.js';
import { authorityOfUrl } from '../../protocol/authority.js';
import type { NamedTokens } from '../../protocol/unnamed-agents.js';
import { answersFor, type TableAuthority } from '../../view/table-content.js';
import type { TableView } from '../../view/table-view.js';
import { neededTokens, noteUnnamedAgents, noteUnnamedInTable, parseAgents } from '../agents.js';
import { shellWords, usageError } from '../console.js';
import {
  type Asked,
  type CheckedUrl,
  CheckLines,
  type CheckOptions,
  eachUrl,
  type NamedAnswer,
} from './check-lines.js';
import { compileWithRecords, openWithRecords } from './compile-caches.js';
import { noteUnstatedUses } from './filter-table.js';
import {
  checkChoices,
  checkProfile,
  noteTimeToCome,
  refuseEmptyTable,
  refuseReadingOptions,
} from './robots-source.js';

/**
 * Prints for each URL and agent a line, as `check` does for one robots.txt; with `--history` a line
 * for each robots.txt of the URL's authority, oldest first.
 *
 * @returns the exit code: 0 if all URLs are allowed by the newest robots.txt, otherwise 1
 * @throws RobotsFilterError
 */
export async function checkByHost(
  kind: 'cache' | 'table',
  asked: Asked,
  options: CheckOptions,
): Promise<number> {
  const { file, uses, diagnostics } = asked;
  const { json = false, history = false } = options;
  for (const url of asked.urls) {
    if (typeof url === 'string' && authorityOfUrl(url) === undefined) throw withoutHost(url, asked);
  }
  const opened = await open(kind, asked, options);
  if (typeof opened === 'number') return opened;
  const { table, named } = opened;
  const agents = parseAgents(asked.agents, table.profile);
  const memory = tableMemory(table);
  const { view } = memory;
  for (const agent of agents) view.checkAgent(agent);
  view.checkUses(uses);
  if (named === undefined) await noteUnnamedInTable(memory, agents, options, diagnostics);
  else if (table.hosts > 0) await noteUnnamedAgents(agents, named, options, diagnostics);
  if (table.hosts > 0) noteUnstatedUses(uses, view, file, diagnostics, named);
  const lines = new CheckLines({
    json,
    namesAgents: agents.length > 1,
    hasUses: uses.length > 0,
    hasSources: true,
  });
  const hasRecords = view.hasRecords && !view.isOfThePast;
  const versions = history ? view.withUnknown() : undefined;
  await eachUrl(asked, lines, (url) => {
    const periods = versions === undefined ? [undefined] : periodsOf(versions, url);
    for (const { name: agent } of agents) {
      for (const period of periods) {
        const at = period?.since === undefined ? undefined : 1000 * period.since;
        const judgement = table.verdict(url, agent, { at });
        const answers = uses.map(({ name, policyToken }): NamedAnswer => {
          return { name, ...table.use(url, agent, name, { at, policyToken }) };
        });
        // A table keeps the other records of the newest robots.txt alone.
        lines.add({ url, agent, judgement, answers, ...(period && { period }) }, () =>
          history
            ? {}
            : {
                crawlDelay: (hasRecords ? table.crawlDelay(url, agent) : undefined) ?? null,
                sitemaps: hasRecords ? table.sitemaps(url) : null,
                preferences:
                  hasRecords && judgement.verdict === 'allow'
                    ? table.preferences(url, agent)
                    : null,
              },
        );
      }
    }
  });
  return lines.code;
}

/** Opens the table, or compiles the files; a number is the exit code after a signal. */
async function open(
  kind: 'cache' | 'table',
  { file, agents, urls, uses, diagnostics }: Asked,
  options: CheckOptions,
): Promise<{ readonly table: Table; readonly named?: NamedTokens } | number> {
  const { profile, asOf, json = false, history = false } = options;
  if (kind === 'cache') {
    await checkChoices([file], options, 'Leave --as-of out');
    const tokens = neededTokens(parseAgents(agents, profile ?? 'rfc9309'), uses);
    const signals = uses.length > 0;
    return compileWithRecords([file], { ...options, signals }, tokens, diagnostics);
  }
  const { asOf: _time, ...others } = options;
  refuseReadingOptions(others, 'table');
  const hosts = new Set<string>();
  for (const url of urls) {
    const host = typeof url === 'string' ? authorityOfUrl(url)?.host : undefined;
    if (host !== undefined) hosts.add(host);
  }
  // A list is read as it is judged, so its hosts are not known yet.
  const needed = urls.some((url) => typeof url !== 'string') ? undefined : [...hosts];
  const table =
    json && !history
      ? await openWithRecords(file, options, diagnostics, needed)
      : await openForHosts(file, needed);
  const memory = tableMemory(table);
  refuseEmptyTable(file, memory.hosts, options, diagnostics);
  checkProfile(table.profile, file, profile);
  const timed = history ? '--history' : asOf === undefined ? undefined : '--as-of';
  if (timed !== undefined && !hasHistories(memory)) {
    throw usageError(`${file} has no histories. Compile it with --history, or leave ${timed} out`);
  }
  noteTimeToCome(asOf, diagnostics);
  return { table: asOf === undefined ? table : table.at(asOf) };
}

/** The error for a path, which many hosts have, and for the name of a list. */
function withoutHost(url: string, { file, given }: Asked): RobotsFilterError {
  const text = printable(url);
  if (existsSync(url) && !url.startsWith('/')) {
    const check = ['robots-filter', 'check', file, '-a', given.join(), '--urls', url];
    return usageError(
      `${text} is no URL, and is a file here. To check the URLs in it, type: ${shellWords(check)}`,
    );
  }
  return usageError(
    `${text} is no http, https or ftp URL, and ${printable(file)} has the robots.txt files of many hosts. Type all of it: https://HOST${url.startsWith('/') ? text : '/'}`,
  );
}

/** When each robots.txt of a URL's authority was in force, oldest first. */
function periodsOf(view: TableView, url: string): NonNullable<CheckedUrl['period']>[] {
  const authority = authorityOfUrl(url);
  const host = authority && view.find(authority.host);
  const own =
    authority && host?.authorities.find((each: TableAuthority) => answersFor(each, authority));
  const times = own === undefined ? [] : view.timesOf(own);
  if (times.length === 0) return [{ since: undefined, until: undefined }];
  return times.map((since, index) => ({ since, until: times[index + 1] }));
}
