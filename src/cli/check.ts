import { readFile } from 'node:fs/promises';
import { isatty } from 'node:tty';
import { printable } from '../control-characters.js';
import { RobotsFilterError } from '../errors.js';
import type { Judgement } from '../kernel/judge.js';
import { foreignOf } from '../pipeline/signature.js';
import { parseAgent } from '../protocol/agent.js';
import { Robots } from '../robots.js';
import { Diagnostics } from './diagnostics.js';
import type { CheckOptions } from './options.js';
import { STANDARD_INPUT, writeOutput } from './standard-streams.js';

const ALL_ALLOWED = 0;
const SOME_NOT_ALLOWED = 1;

/**
 * `robots-filter check`: prints for each URL verdict, URL and reason and, where a rule decided, its
 * line, text and product token. A URL that is invalid is not allowed.
 *
 * @returns the exit code: 0 if all URLs are allowed, else 1
 */
export async function check(
  file: string,
  agent: string,
  urls: readonly string[],
  options: CheckOptions,
): Promise<number> {
  const diagnostics = new Diagnostics(options.quiet ?? false);
  const { profile = 'rfc9309', maxRobotsBytes } = options;
  if (agent.includes(',')) {
    const [first = ''] = agent.split(',');
    throw new RobotsFilterError(
      'usage',
      `${JSON.stringify(agent)} is a list, and check takes one agent. Say it once for each: ` +
        `robots-filter check ${printable(file)} ${printable(first.trim() || 'GPTBot')} ${printable(urls.join(' '))}`,
    );
  }
  parseAgent(agent, profile);
  const body = await readRobotsFile(file, diagnostics);
  const name = file === STANDARD_INPUT ? 'standard input' : file;
  const foreign = foreignOf(body);
  if (foreign !== undefined) {
    const { name: what, remedy } = foreign;
    const advice =
      remedy === undefined ? 'Get it anew.' : `Send it through "${remedy}" and name it -.`;
    throw new RobotsFilterError('input', `${name}: is ${what}, not text. ${advice}`);
  }
  const robots = Robots.parse(body, {
    profile,
    ...(maxRobotsBytes === undefined ? {} : { maxBytes: maxRobotsBytes }),
  });
  for (const { line, message } of robots.warnings) {
    diagnostics.note(`warning: ${name}${line === 0 ? '' : `:${line}`}: ${message}`);
  }
  let code = ALL_ALLOWED;
  for (const url of urls) {
    if (profile !== 'google' && isBare(url)) {
      diagnostics.note(
        `warning: ${printable(url)} has no scheme and is taken for a path. Say https://${printable(url)}, or /${printable(url)}`,
      );
    }
    const judgement = robots.verdict(url, agent);
    if (judgement.verdict !== 'allow') code = SOME_NOT_ALLOWED;
    if (!writeOutput(describe(url, judgement))) return ALL_ALLOWED;
  }
  return code;
}

/**
 * Whether a reference begins with neither a scheme nor a slash: more likely a URL whose scheme was
 * forgotten than a path.
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

/** A line of tab-separated columns; what comes from outside can part neither. */
function describe(url: string, { verdict, reason, rule }: Judgement): string {
  const columns = [verdict, url, reason];
  if (rule !== undefined) columns.push(String(rule.line), rule.text, rule.agent);
  return `${columns.map(printable).join('\t')}\n`;
}

async function readRobotsFile(file: string, diagnostics: Diagnostics): Promise<Uint8Array> {
  if (file === STANDARD_INPUT) {
    if (isatty(0))
      diagnostics.note('waiting for a robots.txt on standard input; end it with Ctrl-D');
    const chunks: Buffer[] = [];
    for await (const chunk of process.stdin) chunks.push(chunk as Buffer);
    return Buffer.concat(chunks);
  }
  try {
    return await readFile(file);
  } catch (cause) {
    throw new RobotsFilterError('input', `${file}: ${remedyFor(file, cause)}`, { cause });
  }
}

function remedyFor(file: string, cause: unknown): string {
  if (file.startsWith('http://') || file.startsWith('https://')) {
    return `nothing is fetched here. Say: curl -s ${file} | robots-filter check - AGENT URL...`;
  }
  const code = cause instanceof Error && 'code' in cause ? cause.code : undefined;
  switch (code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return 'no such file. The robots.txt comes first, then the agent, then the URLs.';
    case 'EISDIR':
      return 'is a directory. Name the robots.txt in it.';
    default:
      return `cannot be read (${cause instanceof Error ? cause.message : String(cause)}). Have it made readable, or pipe it in and name it -.`;
  }
}
