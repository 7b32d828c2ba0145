import { SECTION_NAMES } from '../compile/table-check.js';
import type { TableAuthority, TableHost, TableView } from '../compile/table-view.js';
import type { VerifiedTable } from '../compile/verify/verify-table.js';
import { printable } from '../control-characters.js';
import { RobotsFilterError } from '../errors.js';
import {
  type Authority,
  DEFAULT_PORTS,
  formatAuthority,
  parseAuthority,
  type Scheme,
} from '../protocol/authority.js';
import { Table, tableMemory } from '../table.js';
import { grouped, share, sized } from './numbers.js';
import type { InspectOptions } from './options.js';
import { writeOutput } from './standard-streams.js';

const SUCCESS = 0;

/**
 * Product tokens that every table has: `*`, and the empty one that only groups of the google
 * profile name.
 */
const FIXED_TOKENS = 2;
/** Product tokens of a reduced table that are named. */
const NAMED_TOKENS = 20;
/** Lines that are handed to the system at a time. */
const LINES_AT_A_TIME = 1000;

/**
 * `robots-filter inspect`: prints what a table holds, all in all, or of one host its groups and
 * rules as text.
 *
 * @param name a host, `HOST:PORT` or a URL
 * @param options whether to verify the whole table first
 * @returns the exit code
 * @throws RobotsFilterError `table` if it cannot be opened or verified, `usage` for a name that is
 *   no host or is not in the table
 */
export async function inspect(
  path: string,
  name: string | undefined,
  options: InspectOptions = {},
): Promise<number> {
  const table = await Table.open(path);
  const verified = options.verify === true ? await table.verify() : undefined;
  const { view } = tableMemory(table);
  print(name === undefined ? totals(path, table, verified) : hostLines(path, view, name));
  return SUCCESS;
}

/** What a table was found to hold. */
function inWords(verified: VerifiedTable): string {
  const counts: readonly (readonly [number, string, string])[] = [
    [verified.hosts, 'host', 'hosts'],
    [verified.authorities, 'authority', 'authorities'],
    [verified.robots, 'robots record', 'robots records'],
    [verified.groups, 'group', 'groups'],
    [verified.automata, 'automaton', 'automata'],
    [verified.nodes, 'state', 'states'],
    [verified.blocks, 'block', 'blocks'],
    [verified.rules, 'rule', 'rules'],
    [verified.texts, 'text', 'texts'],
  ];
  return counts
    .map(([count, one, more]) => `${grouped(count)} ${count === 1 ? one : more}`)
    .join(', ');
}

/** Prints lines, until nobody reads them any more. */
function print(lines: Iterable<string>): void {
  let held: string[] = [];
  for (const line of lines) {
    held.push(`${printable(line)}\n`);
    if (held.length < LINES_AT_A_TIME) continue;
    if (!writeOutput(held.join(''))) return;
    held = [];
  }
  writeOutput(held.join(''));
}

function* totals(
  path: string,
  table: Table,
  verified: VerifiedTable | undefined,
): Iterable<string> {
  const { header, view } = tableMemory(table);
  const rows: [string, string][] = [
    ['table', `${path}, version ${header.version}`],
    ['profile', header.profile],
    ['agents', agents(view, header.tokens)],
    ['hosts', `${grouped(header.hosts)}, with ${grouped(header.authorities)} authorities`],
    [
      'robots.txt',
      `${grouped(header.robots)} that differ, of ${sized(header.compiledOctets)} of files`,
    ],
    ['automata', grouped(header.automata)],
    ['rules', grouped(header.rules)],
    ['product tokens', `* and ${grouped(header.tokens - FIXED_TOKENS)} more`],
    [
      'bytes',
      `${grouped(header.length)}${header.hosts === 0 ? '' : `, ${grouped(header.length / header.hosts)} a host`}`,
    ],
  ];
  const width = grouped(header.length).length;
  for (const section of SECTION_NAMES) {
    const { start, end } = header.sections[section];
    const octets = grouped(end - start).padStart(width);
    rows.push([`  ${section}`, `${octets}  ${share(end - start, header.length).padStart(7)}`]);
  }
  const probe = `${grouped(header.longestProbe)} of ${grouped(header.buckets)} buckets`;
  rows.push(['longest probe', probe]);
  if (verified !== undefined) rows.push(['verified', inWords(verified)]);
  const nameWidth = Math.max(...rows.map(([row]) => row.length));
  for (const [row, value] of rows) yield `${row.padEnd(nameWidth)}  ${value}`;
}

function agents(view: TableView, count: number): string {
  if (!view.isReduced) return 'all';
  const tokens: string[] = [];
  for (const token of view.tokens()) {
    if (token === '') continue;
    if (tokens.length === NAMED_TOKENS) break;
    tokens.push(token);
  }
  // The empty token is counted, but not named.
  const further = count - 1 - tokens.length;
  return `only ${tokens.join(', ')}${further > 0 ? ` and ${grouped(further)} more` : ''}`;
}

function* hostLines(path: string, view: TableView, name: string): Iterable<string> {
  const asked = parseAuthority(name);
  if (asked === undefined) {
    throw new RobotsFilterError(
      'usage',
      `${JSON.stringify(name)} is no host. Say a host (example.com), HOST:PORT, or an http, https or ftp URL`,
    );
  }
  const found = view.find(asked.host);
  if (found === undefined) throw absent(path, asked, neighbour(view, asked.host));
  const authorities = found.authorities.filter((authority) => answersFor(authority, asked));
  if (authorities.length === 0) {
    throw absent(path, asked, found.authorities.map((each) => names(found, each)).join(', '));
  }
  for (const [index, authority] of authorities.entries()) {
    if (index > 0) yield '';
    yield names(found, authority);
    yield `  source  ${authority.source}`;
    yield `  access  ${authority.accessResult}`;
    if (authority.accessResult === 'successful') yield* groupLines(view, authority.robots);
  }
}

function absent(path: string, asked: Authority, instead: string | undefined): RobotsFilterError {
  const rest = instead === undefined ? '' : `. It has ${instead}`;
  return new RobotsFilterError(
    'usage',
    `${path} has no robots.txt for ${formatAuthority(asked)}${rest}`,
  );
}

/** The host with, or without, `www.`, if that is in the table. */
function neighbour(view: TableView, host: string): string | undefined {
  const other = host.startsWith('www.') ? host.slice('www.'.length) : `www.${host}`;
  return view.find(other)?.host;
}

/** Whether an authority of the table is one of those asked for: what is not said leaves it open. */
function answersFor({ schemes, port }: TableAuthority, asked: Authority): boolean {
  return schemes.some((scheme) => {
    if (asked.scheme !== undefined && asked.scheme !== scheme) return false;
    if (asked.scheme === undefined && asked.port === undefined) return true;
    return (port ?? DEFAULT_PORTS[scheme]) === (asked.port ?? DEFAULT_PORTS[scheme]);
  });
}

/** `http://example.com, https://example.com`. */
function names({ host }: TableHost, { schemes, port }: TableAuthority): string {
  return schemes.map((scheme: Scheme) => formatAuthority({ scheme, host, port })).join(', ');
}

function* groupLines(view: TableView, robots: number): Iterable<string> {
  const groups = view.groups(robots);
  if (groups.length === 0) yield '  no groups: everything is allowed';
  for (const group of groups) {
    yield '';
    for (const token of group.productTokens) yield `          User-agent: ${token}`;
    const rules = view.rules(group);
    if (rules.length === 0) yield '          # no rule that could match: everything is allowed';
    for (const { allow, text, line } of rules) {
      yield `${String(line).padStart(8)}  ${allow ? 'Allow' : 'Disallow'}: ${text}`;
    }
  }
}
