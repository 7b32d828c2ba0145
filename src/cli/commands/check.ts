/** The command `check`: verdicts of one robots.txt. */

import { existsSync } from 'node:fs';
import { isatty } from 'node:tty';
import { isBareReference } from '../../base/arguments.js';
import { printable, printableJson } from '../../base/control-characters.js';
import { RobotsFilterError } from '../../base/errors.js';
import { inputName, STANDARD_INPUT } from '../../files/openings.js';
import { unsupportedBody } from '../../files/unsupported-formats.js';
import { Robots, recordsSaidTo } from '../../judge/robots.js';
import type { DecidingRule, Judgement, UseJudgement } from '../../kernel/session.js';
import { lowerCaseAscii } from '../../protocol/agent.js';
import { keptRecords } from '../../protocol/fields.js';
import { type ParseOptions, parseRobots } from '../../protocol/parse.js';
import type { RobotsFile } from '../../protocol/robots-file.js';
import { signalsOf } from '../../protocol/signals.js';
import { describeUnnamedPolicyTokens } from '../../protocol/unnamed-agents.js';
import { signalPrefix, type Use } from '../../protocol/uses.js';
import type { Profile } from '../../protocol/verdict.js';
import {
  collectAgents,
  type NamedAgentOptions,
  noteUnnamedAgents,
  parseNamedAgent,
  withNamedAgents,
} from '../agents.js';
import { Diagnostics, NOT_ALLOWED, SUCCESS, shellWords, usageError } from '../console.js';
import { type ProfileOptions, type UseOptions, usesOf } from '../options.js';
import { TextBatches } from '../report/rows.js';
import { formatCount, isForPeople, RecordColumns } from '../text.js';
import { isCacheName, readRobotsFile, urlsOf } from './arguments.js';
import { purposeOf } from './robots-source.js';

export interface CheckOptions extends ProfileOptions, NamedAgentOptions, UseOptions {
  readonly json?: boolean;
  readonly history?: boolean;
}

const STANDARD_INPUT_DESCRIPTOR = 0;

/** Number of URLs without a scheme that are named: a list may have millions. */
const MOST_BARE = 10;

/** Number of rows that are aligned and written at a time. */
const ROWS_AT_A_TIME = 1000;

/**
 * `robots-filter check`: prints verdict, URL and reason of each URL. If a rule decided, its line,
 * text and product token follow. An invalid URL is not allowed.
 *
 * @returns the exit code: 0 if all URLs are allowed, otherwise 1
 */
export async function check(
  file: string,
  asked: string,
  urls: readonly string[],
  options: CheckOptions,
): Promise<number> {
  const diagnostics = new Diagnostics(options.quiet ?? false);
  const { profile = 'rfc9309', maxRobotsBytes } = options;
  const names = collectAgents(asked);
  const [agent = '', ...others] = await withNamedAgents(names, options, diagnostics);
  if (names.length > 1 || others.length > 0) {
    throw usageError(
      `${JSON.stringify(asked)} is a list, and check takes one agent. Run it once for each: ` +
        `robots-filter check ${printable(file)} ${printable(agent || 'GPTBot')} ${printable(urls.join(' '))}`,
    );
  }
  checkUrls(file, urls);
  const uses = usesOf(options);
  if (options.history === true) {
    if (uses.length > 0) {
      throw usageError(
        `--use has no effect with --history. For what was said at one time, type: robots-filter --table ${printable(file)} --as-of DATE -a ${printable(asked)} --use ${uses[0]?.name} --explain`,
      );
    }
    const { checkHistory } = await import('./check-history.js');
    return checkHistory(file, agent, urls, options, diagnostics);
  }
  const parsed = parseNamedAgent(agent, profile);
  await refuseFilesByHost(file, asked, urls, options.profile);
  const body = await readRobotsFile(file, 'check', diagnostics);
  const name = inputName(file);
  const unsupported = unsupportedBody(body);
  if (unsupported !== undefined) {
    const { name: what, command } = unsupported;
    const advice =
      command === undefined
        ? 'Download it again.'
        : `Type: ${command} < FILE | robots-filter check - AGENT URL...`;
    throw new RobotsFilterError('input', `${name}: is ${what}, not text. ${advice}`);
  }
  const parseOptions = {
    profile,
    ...(maxRobotsBytes === undefined ? {} : { maxBytes: maxRobotsBytes }),
  };
  const robots = Robots.parse(body, parseOptions);
  for (const { line, message } of robots.warnings) {
    diagnostics.note(`warning: ${name}${line === 0 ? '' : `:${line}`}: ${message}`);
  }
  if (body.length === 0) {
    const cause = file === STANDARD_INPUT ? '. If a download failed, its command says why' : '';
    diagnostics.note(`warning: ${name} is empty, so everything is allowed${cause}`);
  } else {
    const tokens = new Set(
      parseRobots(body, parseOptions).groups.flatMap((group) => group.productTokens),
    );
    const named = { hasToken: (token: string) => tokens.has(token), tokens: () => tokens };
    await noteUnnamedAgents([parsed], named, options, diagnostics, `${name} has no group`);
    noteUnstated(body, uses, parseOptions, name, diagnostics);
    const policy = describeUnnamedPolicyTokens(uses, named, `${name} has no group`);
    if (policy !== undefined) diagnostics.note(`warning: ${policy}`);
  }
  const json =
    options.json === true
      ? jsonLines(parseRobots(body, parseOptions), parsed.name, profile)
      : undefined;
  let code = SUCCESS;
  const out = new TextBatches();
  const rows: string[][] = [];
  const aligns = json === undefined && isForPeople();
  const aligned = new RecordColumns();
  const flushRows = (): void => {
    for (const line of aligned.lines(rows.splice(0))) out.add(`${line}\n`);
    out.flush();
  };
  let bare = 0;
  const judge = (url: string): void => {
    const isPath = profile !== 'google' && isBareReference(url);
    if (isPath && bare++ < MOST_BARE) {
      noteBareUrl(url, { file, asked, diagnostics });
    }
    const judged = isPath ? `/${url.trimStart()}` : url;
    const judgement = robots.verdict(judged, parsed.name);
    const answers = uses.map((use): NamedAnswer => {
      const { name, policyToken } = use;
      return { name, ...robots.use(judged, parsed.name, name, { policyToken }) };
    });
    const isRefused = answers.some(({ answer }) => answer === 'refused');
    if (judgement.verdict !== 'allow' || isRefused) code = NOT_ALLOWED;
    const columns = columnsOf(url, judgement, answers);
    if (aligns) rows.push(columns);
    else out.add(json?.(url, judged, judgement, answers) ?? `${columns.join('\t')}\n`);
  };
  try {
    for (const url of urls) {
      if (url === STANDARD_INPUT) {
        // What a person types is answered line by line.
        const isTyped = isatty(STANDARD_INPUT_DESCRIPTOR);
        if (isTyped) diagnostics.note('reading URLs from standard input; press Ctrl-D to end');
        for await (const line of urlsOf(url)) {
          judge(line);
          if (isTyped || rows.length === ROWS_AT_A_TIME) flushRows();
          if (out.isClosed) return SUCCESS;
        }
      } else judge(url);
      if (out.isClosed) return SUCCESS;
    }
  } finally {
    flushRows();
    if (bare > MOST_BARE) {
      diagnostics.note(
        `warning: ${formatCount(bare, 'URL')} had no scheme, and were taken as paths`,
      );
    }
  }
  return out.isClosed ? SUCCESS : code;
}

/** @throws RobotsFilterError `usage` for an empty URL, and if standard input would be read twice */
function checkUrls(file: string, urls: readonly string[]): void {
  if (urls.includes('')) {
    throw usageError('check got an empty URL. Type a URL, or a path such as /');
  }
  const lists = urls.filter((url) => url === STANDARD_INPUT).length;
  if (lists + (file === STANDARD_INPUT ? 1 : 0) < 2) return;
  throw usageError(
    lists > 1
      ? 'standard input can be read only once, but - is named twice. Name it once'
      : 'standard input cannot be both the robots.txt and the URLs. Name a file: robots-filter check robots.txt AGENT - < urls.txt',
  );
}

/**
 * Refuses a directory, a file of records or captures, and a table: `check` reads one robots.txt.
 *
 * @throws RobotsFilterError `usage`, with the command that explains a URL by them
 */
async function refuseFilesByHost(
  file: string,
  asked: string,
  urls: readonly string[],
  profile: Profile | undefined,
): Promise<void> {
  const purpose = purposeOf(file);
  const isTable = purpose === 'table';
  const isCache = purpose === 'directory' || (isCacheName(file) && existsSync(file));
  if (!isTable && !isCache) return;
  const source = [isTable ? '--table' : '--robots-dir', file];
  const under = profile === undefined ? [] : ['--profile', profile];
  const explain = shellWords(['robots-filter', ...source, ...under, '-a', asked, '--explain']);
  const [url = 'https://example.com/'] = urls;
  throw usageError(
    `${file} is ${isTable ? 'a table' : 'no single robots.txt'}. To explain a URL by it, type: ` +
      (url === STANDARD_INPUT ? explain : `echo ${shellWords([url])} | ${explain}`),
  );
}

/** Says that a URL was taken as a path, or that it names a file with URLs. */
function noteBareUrl(
  url: string,
  { file, asked, diagnostics }: { file: string; asked: string; diagnostics: Diagnostics },
): void {
  const text = printable(url);
  if (existsSync(url)) {
    const check = shellWords(['robots-filter', 'check', file, asked, '-']);
    diagnostics.note(
      `warning: ${text} was taken as a path, and is a file here. To check the URLs in it, type: ${check} < ${shellWords([url])}`,
    );
    return;
  }
  diagnostics.note(
    `warning: ${text} has no scheme, so it is taken as a path. Use https://${text} or /${text}`,
  );
}

/** The answer about a use that was asked about. */
interface NamedAnswer extends UseJudgement {
  readonly name: string;
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

/**
 * The columns of a line; line ends and tabs from outside are escaped. Answers about uses follow the
 * verdict. Then no column is left out, and the signals stand in the last ones.
 */
function columnsOf(
  url: string,
  { verdict, reason, rule }: Judgement,
  answers: readonly NamedAnswer[],
): string[] {
  const partsOf = (rule: DecidingRule | undefined): string[] =>
    rule === undefined ? ['', '', ''] : [String(rule.line), rule.text, rule.agent];
  const hasUses = answers.length > 0;
  const columns = [
    verdict,
    ...(hasUses ? [answers.map(({ answer = '' }) => answer).join(',')] : []),
    url,
    reason,
    ...(hasUses || rule !== undefined ? partsOf(rule) : []),
    ...answers.flatMap((each) => [each.reason, ...partsOf(each.signal)]),
  ];
  return columns.map(printable);
}

/** The members of the answers, as the filter names them. */
function usesJson(answers: readonly NamedAnswer[]): Record<string, unknown> {
  const ruleOf = (rule: DecidingRule | undefined) =>
    rule === undefined ? null : { line: rule.line, text: rule.text, agent: rule.agent };
  const [only, ...others] = answers;
  if (only === undefined) return {};
  if (others.length === 0) {
    const { answer = null, reason, signal } = only;
    return { use: answer, use_reason: reason, signal: ruleOf(signal) };
  }
  const byName = (pick: (answer: NamedAnswer) => unknown) =>
    Object.fromEntries(answers.map((answer) => [answer.name, pick(answer)]));
  return {
    use: byName(({ answer = null }) => answer),
    use_reasons: byName(({ reason }) => reason),
    signals: byName(({ signal }) => ruleOf(signal)),
  };
}

/**
 * Describes what one robots.txt says to an agent about URLs: an object on a line for each URL.
 * Preferences are given only where the verdict is allow.
 *
 * @returns a function of the URL as asked, and the URL or path that it stands for
 */
function jsonLines(
  file: RobotsFile,
  agent: string,
  profile: Profile,
): (url: string, judged: string, judgement: Judgement, answers: readonly NamedAnswer[]) => string {
  const { crawlDelay = null, sitemaps, preferences } = recordsSaidTo(file, agent, profile);
  return (url, judged, { verdict, reason, rule }, answers) => {
    const line = {
      url,
      verdict,
      reason,
      rule: rule === undefined ? null : { line: rule.line, text: rule.text, agent: rule.agent },
      crawlDelay,
      sitemaps,
      preferences: verdict === 'allow' ? preferences.for(judged) : null,
      ...usesJson(answers),
    };
    return `${printableJson(line)}\n`;
  };
}
