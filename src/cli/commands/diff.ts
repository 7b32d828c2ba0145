import { readFile } from 'node:fs/promises';
import type { NamedTokens } from '../../agents/unnamed-agents.js';
import { TableBuilder } from '../../compile/table-builder.js';
import { Robots } from '../../robots.js';
import { Table, tableMemory } from '../../table.js';
import { DIFFERENT, SUCCESS } from '../exit-codes.js';
import { neededTokens, parseAgents } from '../options/agents.js';
import type { DiffOptions } from '../options/command-options.js';
import { noteUnnamedAgents } from '../options/named-agents.js';
import { checkSpreadsheet } from '../options/report-options.js';
import { refuseReadingOptions } from '../options/robots-source.js';
import { writeOutput } from '../process/standard-streams.js';
import { Diagnostics } from '../report/diagnostics.js';
import {
  type Difference,
  DiffTally,
  differencesText,
  differenceText,
} from '../report/diff-figures.js';
import { HeldRows } from '../report/held-rows.js';
import { formatCount } from '../report/numbers.js';
import { TextRows } from '../report/row-sink.js';
import { withAgents } from '../report/rows.js';
import { usageError } from '../usage-error.js';
import { HOST_COLUMNS, HostDiff } from './diff-hosts.js';
import { diffUrls, URL_COLUMNS } from './diff-urls.js';
import { checkProfile, refuseEmptyTable } from './filter-table.js';
import { noteEmptyList } from './list-lines.js';
import { kindOfPath, type PathKind, unreadable } from './path-kind.js';
import { compileWithRecords } from './table-with-records.js';

/** The host in the table of a single robots.txt. */
const SINGLE_HOST = 'robots.txt';

/** One of the two sides. */
interface Side {
  readonly table: Table;
  /** The product tokens that its robots.txt files name. */
  readonly named: NamedTokens;
  /** Present if the side is a single robots.txt: it judges the URLs of every host. */
  readonly robots?: Robots;
}

/**
 * `robots-filter diff`: prints what has changed between two sets of robots.txt files, by effect.
 *
 * @returns the exit code
 * @throws RobotsFilterError
 */
export async function diff(
  oldPath: string,
  newPath: string,
  options: DiffOptions,
): Promise<number> {
  checkSpreadsheet(options);
  const diagnostics = new Diagnostics(options.quiet ?? false);
  const [oldKind, newKind] = [await kindOfPath(oldPath), await kindOfPath(newPath)];
  // Beside a table, the options are for the files of the other side.
  if (oldKind === newKind && oldKind !== 'cache') refuseReadingOptions(options, oldKind);
  const oldSide = await openSide(oldPath, oldKind, options, diagnostics);
  // A signal has ended the wait for a pipe: the other side would wait for one more.
  if (typeof oldSide === 'number') return oldSide;
  const newSide = await openSide(newPath, newKind, options, diagnostics);
  if (typeof newSide === 'number') return newSide;
  checkKinds([oldPath, oldSide], [newPath, newSide]);
  const [old, next] = [oldSide.table, newSide.table];
  if (old.profile !== next.profile) {
    throw usageError(
      `${oldPath} was compiled with --profile ${old.profile} and ${newPath} with --profile ${next.profile}. Compile both with one profile`,
    );
  }
  const agents = parseAgents(options.agent, old.profile);
  for (const table of [old, next]) {
    for (const agent of agents) tableMemory(table).view.checkAgent(agent);
  }
  await noteUnnamedAgents(agents, namedBy([oldSide, newSide]), options, diagnostics);
  const { urls, format = 'table' } = options;
  const names = agents.map(({ name }) => name);
  const columns = withAgents(urls === undefined ? HOST_COLUMNS : URL_COLUMNS, names);
  const held = new HeldRows(columns);
  const text = format === 'html' ? undefined : new TextRows(format, columns, options.spreadsheet);
  const sink = text ?? held;
  const tally = new DiffTally(names);
  if (urls === undefined) {
    new HostDiff({ old, new: next, agents }, sink, tally).write();
  } else {
    const sides = { old: oldSide.robots ?? old, new: newSide.robots ?? next, agents };
    await diffUrls(urls, sides, sink, tally);
    if (tally.compared === 0) noteEmptyList(urls, 'URL', diagnostics);
  }
  sink.end();
  const what = urls === undefined ? 'host' : 'URL';
  if (format === 'html') {
    const { diffPage } = await import('../report/report-pages.js');
    const created = new Date().toISOString();
    const about = { old: oldPath, new: newPath, what, profile: old.profile, created } as const;
    writeOutput(diffPage(about, tally, held));
  }
  if (sink.isClosed) return SUCCESS;
  for (const line of totals(tally, what)) diagnostics.note(line);
  if (text?.omission !== undefined) diagnostics.note(text.omission);
  return options.exitCode === true && tally.differences > 0 ? DIFFERENT : SUCCESS;
}

/** Opens or compiles one of the two sides; a number is the exit code after a signal. */
async function openSide(
  path: string,
  kind: PathKind,
  options: DiffOptions,
  diagnostics: Diagnostics,
): Promise<Side | number> {
  const { profile = 'rfc9309', maxRobotsBytes } = options;
  switch (kind) {
    case 'table': {
      const table = await Table.open(path);
      checkProfile(table.profile, path, options.profile);
      refuseEmptyTable(path, table.hosts, options, diagnostics);
      return { table, named: tableMemory(table).view };
    }
    case 'cache': {
      const tokens = neededTokens(parseAgents(options.agent, profile));
      return compileWithRecords([path], options, tokens, diagnostics);
    }
    case 'robots.txt': {
      const parseOptions = {
        profile,
        ...(maxRobotsBytes === undefined ? {} : { maxBytes: maxRobotsBytes }),
      };
      const body = await contentOf(path);
      const builder = new TableBuilder(parseOptions);
      const authority = { scheme: undefined, host: SINGLE_HOST, port: undefined };
      builder.add(authority, body, { source: path });
      const table = Table.from(builder.build(), path);
      const named = tableMemory(table).view;
      return { table, named, robots: Robots.parse(body, parseOptions) };
    }
  }
}

/** The product tokens that either side names: an agent may be new, or gone. */
function namedBy(sides: readonly Side[]): NamedTokens {
  return {
    hasToken: (token) => sides.some(({ named }) => named.hasToken(token)),
    *tokens() {
      for (const { named } of sides) yield* named.tokens();
    },
  };
}

/** Refuses a single robots.txt beside files by host: it belongs to none of their hosts. */
function checkKinds(...sides: readonly (readonly [path: string, side: Side])[]): void {
  const [single] = sides.find(([, { robots }]) => robots !== undefined) ?? [];
  const [several] = sides.find(([, { robots }]) => robots === undefined) ?? [];
  if (single === undefined || several === undefined) return;
  throw usageError(
    `${single} is one robots.txt, which names no host, and ${several} holds files by host. Name two robots.txt files, or two directories, files of records or tables`,
  );
}

async function contentOf(path: string): Promise<Uint8Array> {
  try {
    return await readFile(path);
  } catch (cause) {
    throw unreadable(path, cause);
  }
}

/** A line for each agent: how many hosts or URLs have changed, and how. */
function totals({ agents, compared }: DiffTally, what: 'host' | 'URL'): string[] {
  const rowsText = (difference: Difference, rows: number): string => {
    const text = differenceText(difference);
    return formatCount(rows, text, text);
  };
  return agents.map((each) => {
    const separator = each.counts.length === 0 ? ',' : ':';
    const text = differencesText(each, rowsText);
    return `${each.agent}: ${formatCount(compared, what)}${separator} ${text}`;
  });
}
