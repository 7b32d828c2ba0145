import { printable } from '../../control-characters.js';
import { RobotsFilterError } from '../../errors.js';
import { inputName } from '../../files/standard-input.js';
import { unsupportedBody } from '../../files/unsupported-formats.js';
import type { Judgement } from '../../kernel/judge.js';
import { parseAgent } from '../../protocol/agent.js';
import { parseRobots } from '../../protocol/parse.js';
import { Robots } from '../../robots.js';
import { NOT_ALLOWED, SUCCESS } from '../exit-codes.js';
import { collectAgents } from '../options/agents.js';
import type { CheckOptions } from '../options/command-options.js';
import { withNamedAgents } from '../options/named-agents.js';
import { STANDARD_OUTPUT_DESCRIPTOR, writeOutput } from '../process/standard-streams.js';
import { CheckedUrls } from '../report/checked-url.js';
import { isForPeople, paintOf } from '../report/colour.js';
import { Diagnostics } from '../report/diagnostics.js';
import { RecordColumns, windowOfOutput } from '../report/record-columns.js';
import { usageError } from '../usage-error.js';
import { readRobotsFile } from './robots-file.js';

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
  parseAgent(agent, profile);
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
  const checked =
    options.json === true
      ? new CheckedUrls(parseRobots(body, parseOptions), agent, profile)
      : undefined;
  let code = SUCCESS;
  const rows: string[][] = [];
  const aligns = checked === undefined && isForPeople(STANDARD_OUTPUT_DESCRIPTOR);
  for (const url of urls) {
    if (url === '') throw usageError('check got an empty URL. Type a URL, or a path such as /');
    if (profile !== 'google' && isBare(url)) {
      diagnostics.note(
        `warning: ${printable(url)} has no scheme, so it is taken as a path. Use https://${printable(url)} or /${printable(url)}`,
      );
    }
    const judgement = robots.verdict(url, agent);
    if (judgement.verdict !== 'allow') code = NOT_ALLOWED;
    const columns = columnsOf(url, judgement);
    if (aligns) rows.push(columns);
    else if (!writeOutput(checked?.json(url, judgement) ?? `${columns.join('\t')}\n`)) {
      return SUCCESS;
    }
  }
  const aligned = new RecordColumns(paintOf(STANDARD_OUTPUT_DESCRIPTOR), windowOfOutput);
  writeOutput(
    aligned
      .lines(rows)
      .map((line) => `${line}\n`)
      .join(''),
  );
  return code;
}

/**
 * Whether a reference has neither a scheme nor a leading slash: its scheme was likely forgotten.
 */
function isBare(reference: string): boolean {
  const text = reference.trim();
  if (text.startsWith('/') || text.startsWith('\\')) return false;
  for (const character of text) {
    if (character === ':') return false;
    if ('/\\?#'.includes(character)) break;
  }
  return true;
}

/** The columns of a line; line ends and tabs from outside are escaped. */
function columnsOf(url: string, { verdict, reason, rule }: Judgement): string[] {
  const columns = [verdict, url, reason];
  if (rule !== undefined) columns.push(String(rule.line), rule.text, rule.agent);
  return columns.map(printable);
}
