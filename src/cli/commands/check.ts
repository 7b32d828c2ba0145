/** The command `check`: verdicts on single URLs, and the rules that decide. */

import { existsSync } from 'node:fs';
import { isBareReference } from '../../base/arguments.js';
import { printable } from '../../base/control-characters.js';
import type { RobotsFilterError } from '../../base/errors.js';
import { inputName, isStandardInput, STANDARD_INPUT } from '../../files/openings.js';
import { Robots, recordsSaidTo } from '../../judge/robots.js';
import { isProductToken, lowerCaseAscii } from '../../protocol/agent.js';
import { keptRecords } from '../../protocol/fields.js';
import { type ParseOptions, parseRobots } from '../../protocol/parse.js';
import { signalsOf } from '../../protocol/signals.js';
import { describeUnnamedPolicyTokens } from '../../protocol/unnamed-agents.js';
import { signalPrefix, type Use } from '../../protocol/uses.js';
import { collectAgents, noteUnnamedAgents, parseAgents, withNamedAgents } from '../agents.js';
import { Diagnostics, shellWords, usageError } from '../console.js';
import { usesOf } from '../options.js';
import { formatCount } from '../text.js';
import { isCacheName, readRobotsFile } from './arguments.js';
import {
  type Asked,
  type AskedUrl,
  CheckLines,
  type CheckOptions,
  eachUrl,
  type NamedAnswer,
} from './check-lines.js';
import { refuseSecondStandardInput } from './inputs.js';
import { purposeOf, refuseReadingOptions } from './robots-source.js';

/** Number of URLs without a scheme that are named: a list may have millions. */
const MOST_BARE = 10;

/** What begins a URL or a path, and no agent. */
const URL_STARTS = ['http://', 'https://', 'ftp://', '/'];

/**
 * `robots-filter check`: prints verdict, URL and reason of each URL. If a rule decided, its line,
 * text and product token follow. An invalid URL is not allowed.
 *
 * @param words what names the robots.txt files; the agent, unless `--agent` or nobody names it; and
 *   the URLs
 * @returns the exit code: 0 if all URLs are allowed, otherwise 1
 * @throws RobotsFilterError
 */
export async function check(words: readonly string[], options: CheckOptions): Promise<number> {
  const diagnostics = new Diagnostics(options.quiet ?? false);
  const { file, given, urls } = wordsOf(words, options);
  const agents = await withNamedAgents(given, options, diagnostics);
  const asked = { file, given, agents, urls, uses: usesOf(options), diagnostics };
  const isTable = purposeOf(file) === 'table';
  const isCache = purposeOf(file) === 'directory' || (isCacheName(file) && existsSync(file));
  if (isTable || isCache) {
    const { checkByHost } = await import('./check-table.js');
    return checkByHost(isTable ? 'table' : 'cache', asked, options);
  }
  if (options.history === true) {
    throw usageError(
      `--history shows each robots.txt of a host, and ${printable(file)} is one robots.txt. Leave --history out, or name robots.txt files with dates, or a table of compile --history`,
    );
  }
  return checkSingle(asked, options);
}

/**
 * Sorts the arguments. The agent may be the second one, where `--agent` does not name it.
 *
 * @throws RobotsFilterError `usage`, with what to type
 */
function wordsOf(
  [file = '', ...rest]: readonly string[],
  options: CheckOptions,
): { file: string; given: readonly string[]; urls: readonly AskedUrl[] } {
  const { agent: named, urls: list } = options;
  const [first = ''] = rest;
  const isUrl = first === STANDARD_INPUT || URL_STARTS.some((start) => first.startsWith(start));
  if (named !== undefined && !isUrl && mayBeAgent(first)) {
    const check = ['robots-filter', 'check', file, '-a', [...named, first].join()];
    throw usageError(
      `${printable(first)} stands where the URLs are, and --agent names the agents. Type: ${shellWords([...check, ...rest.slice(1)])}`,
    );
  }
  const takesAgent = named === undefined && rest.length > 0 && !isUrl;
  const given = named ?? (takesAgent ? collectAgents(first) : ['*']);
  const words = takesAgent ? rest.slice(1) : rest;
  if (words.length === 0 && list === undefined) throw withoutUrls(file, given);
  if (words.includes('')) {
    throw usageError('check got an empty URL. Type a URL, or a path such as /');
  }
  const urls = words.map((word) => (word === STANDARD_INPUT ? { list: word } : word));
  if (list !== undefined) urls.push({ list });
  const lists = urls.flatMap((url) => (typeof url === 'string' ? [] : [url.list]));
  refuseSecondStandardInput(lists);
  if (lists.some(isStandardInput) && isStandardInput(file)) {
    throw usageError(
      'standard input cannot be both the robots.txt and the URLs. Name a file: robots-filter check robots.txt -a AGENT - < urls.txt',
    );
  }
  return { file, given, urls };
}

/** Whether a word in the place of a URL is rather an agent: `GPTBot`, `A:B`, `*`, `@seo`. */
function mayBeAgent(word: string): boolean {
  if (word === '*' || word.startsWith('@')) return true;
  return word !== '' && word.split(',').every((name) => name.split(':').every(isProductToken));
}

/** The error for a command line without a URL, which may stand in the place of the file. */
function withoutUrls(file: string, given: readonly string[]): RobotsFilterError {
  const agents = ['-a', given.join()];
  if (!existsSync(file) && URL.canParse(file) && file.includes('://')) {
    const source = new URL('/robots.txt', file).href;
    const check = shellWords(['robots-filter', 'check', '-', ...agents, file]);
    return usageError(
      `check does not fetch: the robots.txt comes first, then the URLs. Type: curl -s ${shellWords([source])} | ${check}`,
    );
  }
  return usageError(
    `check needs a URL or a path after the robots.txt. Type: ${shellWords(['robots-filter', 'check', file, ...agents, '/'])}`,
  );
}

/** Judges URLs, whatever their hosts, by one robots.txt. */
async function checkSingle(asked: Asked, options: CheckOptions): Promise<number> {
  const { file, uses, diagnostics } = asked;
  const { profile = 'rfc9309', maxRobotsBytes } = options;
  refuseReadingOptions(options, 'robots.txt');
  const agents = parseAgents(asked.agents, profile);
  const body = await readRobotsFile(file, 'check', diagnostics);
  const name = inputName(file);
  const parseOptions = {
    profile,
    ...(maxRobotsBytes === undefined ? {} : { maxBytes: maxRobotsBytes }),
  };
  const robots = Robots.parse(body, parseOptions);
  for (const { line, message } of robots.warnings) {
    diagnostics.note(`warning: ${name}${line === 0 ? '' : `:${line}`}: ${message}`);
  }
  const parsed = parseRobots(body, parseOptions);
  if (body.length > 0) {
    const tokens = new Set(parsed.groups.flatMap((group) => group.productTokens));
    const named = { hasToken: (token: string) => tokens.has(token), tokens: () => tokens };
    await noteUnnamedAgents(agents, named, options, diagnostics, `${name} has no group`);
    noteUnstated(body, uses, parseOptions, name, diagnostics);
    const policy = describeUnnamedPolicyTokens(uses, named, `${name} has no group`);
    if (policy !== undefined) diagnostics.note(`warning: ${policy}`);
  }
  const lines = new CheckLines({
    json: options.json === true,
    namesAgents: agents.length > 1,
    hasUses: uses.length > 0,
    hasSources: false,
  });
  const said = agents.map((agent) => ({
    agent,
    records: recordsSaidTo(parsed, agent.name, profile),
  }));
  let bare = 0;
  await eachUrl(asked, lines, (url) => {
    const isPath = profile !== 'google' && isBareReference(url);
    if (isPath && bare++ < MOST_BARE) noteBareUrl(url, asked);
    const judged = isPath ? `/${url.trimStart()}` : url;
    for (const { agent, records } of said) {
      const judgement = robots.verdict(judged, agent.name);
      const answers = uses.map((use): NamedAnswer => {
        const { name, policyToken } = use;
        return { name, ...robots.use(judged, agent.name, name, { policyToken }) };
      });
      lines.add({ url, agent: agent.name, judgement, answers }, () => ({
        crawlDelay: records.crawlDelay ?? null,
        sitemaps: records.sitemaps,
        preferences: judgement.verdict === 'allow' ? records.preferences.for(judged) : null,
      }));
    }
  });
  if (bare > MOST_BARE) {
    diagnostics.note(`warning: ${formatCount(bare, 'URL')} had no scheme, and were taken as paths`);
  }
  return lines.code;
}

/** Says that a URL was taken as a path, or that it names a file with URLs. */
function noteBareUrl(url: string, { file, given, diagnostics }: Asked): void {
  const text = printable(url);
  if (existsSync(url)) {
    const check = ['robots-filter', 'check', file, '-a', given.join(), '--urls', url];
    diagnostics.note(
      `warning: ${text} was taken as a path, and is a file here. To check the URLs in it, type: ${shellWords(check)}`,
    );
    return;
  }
  diagnostics.note(
    `warning: ${text} has no scheme, so it is taken as a path. Use https://${text} or /${text}`,
  );
}

/** Says in one line about which uses the file says nothing. */
function noteUnstated(
  body: Uint8Array,
  uses: readonly Use[],
  options: ParseOptions,
  name: string,
  diagnostics: Diagnostics,
): void {
  if (uses.length === 0) return;
  const file = parseRobots(body, options);
  const { groups } = signalsOf(keptRecords(file, options.profile ?? 'rfc9309')) ?? {};
  const stated = [...(groups?.keys() ?? [])];
  const tokens = new Set(file.groups.flatMap((group) => group.productTokens));
  const unstated = uses.filter(
    ({ keys, policyToken }) =>
      !(policyToken !== undefined && tokens.has(lowerCaseAscii(policyToken))) &&
      !keys.some((key) => stated.some((token) => token.startsWith(signalPrefix(key)))),
  );
  if (unstated.length === 0) return;
  const named = unstated.map((use) => use.name).join(' and ');
  diagnostics.note(`warning: ${name} says nothing about ${named}, so each answer is unstated`);
}
