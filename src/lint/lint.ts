/** Lints one robots.txt: runs all checks, and repairs what is safe to repair. */

import { isIP } from 'node:net';
import { addressRefusal } from '../base/addresses.js';
import { ASTERISK, SLASH } from '../base/ascii.js';
import { isDigit, isLetter } from '../base/characters.js';
import { addTo } from '../base/maps.js';
import {
  findNeverDeciding,
  type NeverDeciding,
  type Precedence,
} from '../patterns/never-deciding.js';
import { FILE_WORK, rankedRules, type WorkBudget } from '../patterns/rules.js';
import { type Authority, parseAuthority } from '../protocol/authority.js';
import type { KnownAgent } from '../protocol/known-agent.js';
import { type AgentNames, agentNames, type CheckContext, listedLines, quoted } from './check.js';
import { checkEncoding, checkFormat } from './checks/encoding.js';
import { checkGroups, checkUserAgents } from './checks/groups.js';
import { checkPatterns } from './checks/patterns.js';
import { checkInvisible, checkKeys, checkPreferences } from './checks/records.js';
import {
  contentSpan,
  type DocumentGroup,
  type DocumentLine,
  RobotsDocument,
  type RuleLine,
  valueSpan,
} from './document.js';
import { type Edit, type Finding, FindingList, type ListOptions } from './finding.js';
import type { LintRuleName } from './rules.js';

const SAME_EITHER_WAY = 'of rules of equal length and verdict either may decide';

/** Ends of patterns that deny style sheets and scripts. */
const ASSET_ENDINGS = ['.css', '.js', '.css$', '.js$', '.css*', '.js*'];

/** Directories that hold them by convention. */
const ASSET_DIRECTORIES = new Set([
  'css',
  'js',
  'scripts',
  'styles',
  'assets',
  'static',
  'wp-includes',
]);

/** What begins and ends a placeholder of a template engine or of documentation. */
const PLACEHOLDERS: readonly (readonly [begin: string, end: string])[] = [
  ['{{', '}}'],
  ['{%', '%}'],
  ['<%', '%>'],
  ['<?', '?>'],
  ['${', '}'],
  ['#{', '}'],
  ['@@', '@@'],
  ['[[', ']]'],
  ['<', '>'],
];

/** Words that stand for a name in documentation, in lower case. */
const SAMPLE_WORDS = ['yourdomain', 'your-domain', 'yoursite', 'your-site'];

/** Domains for documentation (RFC 2606). */
const SAMPLE_DOMAINS = ['example', 'example.com', 'example.net', 'example.org'];

/** Keys of records with a path, in lower case. */
const PATH_KEYS = ['disallow', 'allow', 'noindex'];

/** Checks, in the order in which they run. The findings come in the order of the file. */
const CHECKS = [
  checkInvisible,
  checkTemplates,
  checkKeys,
  checkUserAgents,
  checkGroups,
  checkPatterns,
  checkSitemaps,
  checkPreferences,
  checkDecisions,
  checkOpinions,
] as const;

interface LinterOptions extends ListOptions {
  /** Known agents, with which names are compared. */
  readonly agents: readonly KnownAgent[];
}

/** The findings of one file. */
export interface LintReport {
  readonly document: RobotsDocument;
  /** The listed findings, in the order of the file. */
  readonly findings: readonly Finding[];
  /** Number of findings by rule, listed or not. */
  readonly counts: ReadonlyMap<LintRuleName, number>;
  /** The edits of all findings, if they are collected. */
  readonly edits: readonly Edit[];
}

/** Finds what is wrong in robots.txt files, one after another. */
export class Linter {
  readonly #options: LinterOptions;
  readonly #agents: AgentNames;

  constructor(options: LinterOptions) {
    this.#options = options;
    this.#agents = agentNames(options.agents);
  }

  /**
   * Finds what is wrong in a robots.txt. Never throws on content. Time is linear in the length of
   * the body, which counts up to 512,000 bytes.
   *
   * @param authority the host that the file is of, if it is known
   */
  lint(body: Uint8Array, authority?: Authority): LintReport {
    const document = new RobotsDocument(body);
    const findings = new FindingList(this.#options);
    const explained = new Set<DocumentLine>();
    const context = { document, findings, authority, agents: this.#agents, explained };
    if (checkFormat(body, context)) {
      checkEncoding(body, context);
      for (const check of CHECKS) check(context);
    }
    const { counts, edits } = findings;
    return { document, findings: findings.list(), counts, edits };
  }
}

/** A body after its safe edits. */
interface FixedBody {
  readonly body: Uint8Array;
  /** Number of edits that were made. */
  readonly edits: number;
}

/**
 * Makes the safe edits of a report: no verdict of the `rfc9309` profile changes by them. Of edits
 * that overlap the first is made. A file in UTF-16, and one
 * of which only the beginning counts, are left as they are.
 *
 * @param body the body that the report is about
 */
export function fixBody(body: Uint8Array, { document, edits }: LintReport): FixedBody {
  if (document.utf16 || document.ignoredBytes > 0) return { body, edits: 0 };
  const sorted = [...edits].sort((a, b) => a.start - b.start || b.end - a.end);
  const pieces: Uint8Array[] = [];
  let kept = 0;
  let count = 0;
  for (const { start, end, text } of sorted) {
    if (start < kept) continue;
    pieces.push(body.subarray(kept, start), Buffer.from(text));
    kept = end;
    count++;
  }
  pieces.push(body.subarray(kept));
  return { body: Buffer.concat(pieces), edits: count };
}

/**
 * Finds rules that never decide. The rules of groups that name the same crawlers are compared
 * together. A crawler may obey further groups: these can only make rules decide less.
 */
function checkDecisions({ document, findings }: CheckContext): void {
  const budget: WorkBudget = { left: FILE_WORK };
  let firstLeftOut: RuleLine | undefined;
  for (const groups of groupsOfSameAgents(document.groups)) {
    const rules = groups.flatMap((group) => group.rules);
    const groupOf = new Map<RuleLine, DocumentGroup>(
      groups.flatMap((group) => group.rules.map((rule) => [rule, group] as const)),
    );
    const { found, leftOut } = findNeverDeciding(rankedRules(rules), budget);
    for (const never of found) {
      const { same } = never;
      const rule = rules[never.rule.line] as RuleLine;
      const deciding = never.deciding.map(({ line }) => rules[line] as RuleLine);
      const isOverruled = deciding.some(({ allow }) => allow !== rule.allow);
      const name = isOverruled ? 'contradicting-rule' : same ? 'duplicate-rule' : 'shadowed-rule';
      const group = groupOf.get(rule);
      // Without its last rule, a group would run into the next one.
      const isRemovable = deciding.every((other) => groupOf.get(other) === group);
      findings.add(name, contentSpan(document, rule.line), () => ({
        message: messageFor(never, deciding, isOverruled, document),
        fix: isOverruled
          ? `Delete the line; or, if it is meant, line ${deciding[0]?.line.line}.`
          : 'Delete the line.',
        edits: isRemovable ? [removal(rule, document)] : [],
      }));
    }
    firstLeftOut ??= leftOut && rules[leftOut.line];
  }
  if (firstLeftOut === undefined) return;
  findings.add('analysis-limit', contentSpan(document, firstLeftOut.line), () => ({
    message:
      'The file has too many wildcards to compare all rules: from here on, only rules for exactly the same paths were found.',
    fix: 'Write fewer rules with "*": one shorter pattern can match what many long ones do.',
  }));
}

/** Puts together the groups that name the same crawlers, in the order of the file. */
function groupsOfSameAgents(groups: readonly DocumentGroup[]): Iterable<DocumentGroup[]> {
  const byAgents = new Map<string, DocumentGroup[]>();
  for (const group of groups) {
    const tokens = new Set(group.agents.map(({ token }) => token));
    tokens.delete('');
    // A group without a crawler has no paths to decide on.
    if (tokens.size === 0) continue;
    addTo(byAgents, [...tokens].sort().join(), group);
  }
  return byAgents.values();
}

function messageFor(
  { same, reasons }: NeverDeciding,
  deciding: readonly RuleLine[],
  isOverruled: boolean,
  document: RobotsDocument,
): string {
  const named = deciding.map(
    ({ allow, line }) =>
      `${allow ? 'Allow' : 'Disallow'}: ${shortened(document.valueText(line))} in line ${line.line}`,
  );
  const others = named.join(' and ');
  if (same && !isOverruled)
    return `The rule matches the same paths as ${others}, and never decides.`;
  const reason = reasonFor(reasons);
  return same
    ? `The rule matches the same paths as ${others}, which overrules it (${reason}; RFC 9309 section 2.2.2). It never decides.`
    : `The rule never decides: ${others} ${deciding.length === 1 ? 'matches' : 'match'} all of its paths and ${deciding.length === 1 ? 'overrules' : 'overrule'} it (${reason}; RFC 9309 section 2.2.2).`;
}

/** The sentence of RFC 9309 by which the deciding rules decide. */
function reasonFor(reasons: ReadonlySet<Precedence>): string {
  const ties = reasons.has('allow') ? 'of rules of equal length Allow wins' : SAME_EITHER_WAY;
  if (!reasons.has('longer')) return ties;
  return reasons.size === 1 ? 'a longer rule wins' : `a longer rule wins, and ${ties}`;
}

function shortened(text: string): string {
  return text.length <= 40 ? text : `${text.slice(0, 40)}…`;
}

/** The edit that deletes a rule with its line end. */
function removal({ line }: RuleLine, document: RobotsDocument): Edit {
  return { start: line.start, end: document.nextLine(line), text: '' };
}

/** Checks that are matters of taste, and off unless they are asked for. */
function checkOpinions(context: CheckContext): void {
  const { findings } = context;
  const wanted = (['trailing-slash', 'assets-denied', 'trailing-star'] as const).some((rule) =>
    findings.wants(rule),
  );
  if (!wanted) return;
  for (const { rules } of context.document.groups) {
    for (const rule of rules) {
      if (rule.pattern[0] !== SLASH && rule.pattern[0] !== ASTERISK) continue;
      const text = context.document.valueText(rule.line);
      if (!rule.allow) {
        checkTrailingSlash(rule, text, context);
        checkAssets(rule, text, context);
      }
      if (text.length > 2 && text.endsWith('*')) {
        findings.add('trailing-star', valueSpan(rule.line), () => ({
          message: `${quoted(text)} matches the same paths as ${quoted(text.slice(0, -1))}: every pattern matches what follows it.`,
          fix: 'Delete the "*". The rule then has one byte less, which may let another rule win.',
        }));
      }
    }
  }
}

function checkTrailingSlash({ line }: RuleLine, text: string, { findings }: CheckContext): void {
  const last = text.slice(text.lastIndexOf('/') + 1);
  if (text.length < 2 || last.includes('.') || '*$='.includes(text.at(-1) ?? '')) return;
  if (text.includes('?')) return;
  findings.add('trailing-slash', valueSpan(line), () =>
    last === ''
      ? {
          message: `The rule does not deny ${quoted(text.slice(0, -1))} itself, without "/" at the end.`,
          fix: `Add "Disallow: ${text.slice(0, -1)}$", if that is meant.`,
        }
      : {
          message: `The rule denies all paths that begin with ${quoted(text)}, such as ${quoted(`${text}s-and-more`)}.`,
          fix: `Write "Disallow: ${text}/", if a directory is meant.`,
        },
  );
}

function checkAssets({ line }: RuleLine, text: string, { findings }: CheckContext): void {
  const lower = text.toLowerCase();
  const isEnding = ASSET_ENDINGS.some((ending) => lower.endsWith(ending) && lower.includes('*'));
  const [, directory = ''] = lower.split('/');
  const isDirectory = ASSET_DIRECTORIES.has(directory) && lower.split('/').length <= 3;
  if (!isEnding && !isDirectory) return;
  findings.add('assets-denied', valueSpan(line), () => ({
    message: 'The rule denies style sheets or scripts: crawlers that render pages see them broken.',
    fix: 'Allow what pages need, such as "Allow: /*.css$".',
  }));
}

/** Finds placeholders that no template engine filled in. */
function checkTemplates({ document, findings, authority, explained }: CheckContext): void {
  for (const line of document.lines) {
    if (line.form !== 'record' || line.holdsNul || isDenied(line, document)) continue;
    const span = contentSpan(document, line);
    const text = document.bytes.toString('latin1', span.start, document.lineEnd(line));
    const place =
      placeholderIn(text) ?? (isSampleHost(authority?.host) ? undefined : sampleIn(line, text));
    if (place === undefined) continue;
    if (findings.wants('template-placeholder')) explained.add(line);
    const start = span.start + place.at;
    const end = start + place.length;
    findings.add('template-placeholder', { line: line.line, start, end }, () => ({
      message: `${JSON.stringify(text.slice(place.at, place.at + place.length))} looks like a placeholder that was not filled in; crawlers take it as it stands.`,
      fix: 'Fill in the value.',
    }));
  }
}

/**
 * Whether a rule has a path. Its author may want to keep crawlers from addresses that templates
 * broke: `Disallow: /*{{`.
 */
function isDenied(line: DocumentLine, document: RobotsDocument): boolean {
  const first = document.bytes[line.valueStart];
  if (first !== SLASH && first !== ASTERISK) return false;
  return PATH_KEYS.includes(document.keyText(line).toLowerCase());
}

interface Place {
  readonly at: number;
  readonly length: number;
}

function placeholderIn(text: string): Place | undefined {
  for (const [begin, end] of PLACEHOLDERS) {
    const at = text.indexOf(begin);
    if (at < 0) continue;
    const stop = text.indexOf(end, at + begin.length);
    if (stop <= at + begin.length) continue;
    if (!isName(text.slice(at + begin.length, stop), begin)) continue;
    return { at, length: stop + end.length - at };
  }
  return undefined;
}

/** Whether a text between the marks is a name, not a part of a path or of a page. */
function isName(text: string, begin: string): boolean {
  const name = text.trim();
  if (name === '' || name.includes('*')) return false;
  if (begin === '<') return Array.from(name).every((each) => isWord(each) || each === ' ');
  return begin !== '[[' || !(name.includes(',') || name.includes('"'));
}

function isWord(character: string): boolean {
  const code = character.charCodeAt(0);
  return isLetter(code) || isDigit(code) || character === '-' || character === '_';
}

function sampleIn(line: DocumentLine, text: string): Place | undefined {
  if (line.key !== 'sitemap') return undefined;
  const lower = text.toLowerCase();
  for (const word of SAMPLE_WORDS) {
    const at = lower.indexOf(word);
    if (at >= 0) return { at, length: word.length };
  }
  const slashes = lower.indexOf('://');
  if (slashes < 0) return undefined;
  const host = hostOf(lower.slice(slashes + 3));
  return isSampleHost(host) ? { at: slashes + 3, length: host.length } : undefined;
}

/** The host at the beginning of a URL without its scheme. */
function hostOf(text: string): string {
  let end = 0;
  while (end < text.length && !'/:?#'.includes(text[end] as string)) end++;
  return text.slice(0, end);
}

/** Whether a host is one of documentation. */
function isSampleHost(host: string | undefined): boolean {
  return SAMPLE_DOMAINS.some((domain) => host === domain || host?.endsWith(`.${domain}`));
}

// ---- The addresses of sitemaps: whole URLs, on hosts that crawlers of the internet can reach

/** Names of internal networks: reserved (RFC 6761, 6762, 8375), or never delegated. */
const INTERNAL_DOMAINS = [
  'localhost',
  'localdomain',
  'local',
  'test',
  'invalid',
  'internal',
  'intranet',
  'private',
  'corp',
  'home',
  'home.arpa',
  'lan',
];

/** Schemes as they are written, the longest mistakes first. */
const SCHEMES = ['https://', 'http://', 'https:/', 'http:/', 'https:', 'http:'];

function checkSitemaps({ document, findings, authority, explained }: CheckContext): void {
  /** The lines of the sitemaps on each other host. */
  const elsewhere = new Map<string, DocumentLine[]>();
  for (const line of document.lines) {
    if (line.key !== 'sitemap' || line.holdsNul || explained.has(line)) continue;
    const value = document.valueText(line);
    const span = valueSpan(line);
    const lower = value.toLowerCase();
    if (!lower.startsWith('http://') && !lower.startsWith('https://')) {
      const isInvalid = value === '' || lower.slice(0, 12).includes(':');
      const host = authority?.host ?? 'HOST';
      findings.add(isInvalid ? 'invalid-sitemap' : 'relative-sitemap', span, () => ({
        message: isInvalid
          ? sitemapMessage(value)
          : `The sitemap ${quoted(value)} is not a whole URL, and crawlers ignore it.`,
        fix:
          value === ''
            ? fixOfEmpty(document, line, host)
            : `Write "Sitemap: ${wholeUrl(value, host)}", with scheme and host.`,
      }));
      continue;
    }
    const target = URL.canParse(value) && !value.includes(' ') ? parseAuthority(value) : undefined;
    if (target === undefined || target.host === 'http' || target.host === 'https') {
      findings.add('invalid-sitemap', span, () => ({
        message: `The sitemap ${quoted(value)} is not a URL.`,
        fix: document.hasComment(line)
          ? 'Percent-encode it: a "#" begins a comment.'
          : value.includes(' ')
            ? 'Write one whole URL on each line.'
            : `Write "Sitemap: ${target === undefined ? withHost(value, authority?.host ?? 'HOST') : wholeUrl(value.slice(value.indexOf('//') + 2), 'HOST')}".`,
      }));
      continue;
    }
    // A host that is itself in an internal network is not reported.
    if (authority !== undefined && areOfOneSite(target.host, authority.host)) continue;
    const reason = unreachable(target.host);
    if (reason !== undefined) {
      findings.add('unreachable-sitemap', span, () => ({
        message: `The sitemap is on ${target.host}, ${reason}: no crawler of the internet can fetch it.`,
        fix: `Write "Sitemap: https://${authority?.host ?? 'HOST'}${pathAndQuery(value)}", with the public host.`,
      }));
      continue;
    }
    if (authority === undefined) continue;
    addTo(elsewhere, target.host, line);
  }
  for (const [host, lines] of elsewhere) {
    const [first, ...others] = lines as [DocumentLine];
    findings.add('sitemap-of-another-host', valueSpan(first), () => ({
      message: `The sitemap is on ${host}${others.length === 0 ? '' : ` (and so is that in ${listedLines(others)})`}, and the file is of ${authority?.host}. It counts if it is meant: this file then vouches for it (sitemaps.org).`,
      fix: 'Check the host.',
    }));
  }
}

/** Why a host cannot be reached from the internet; `undefined` if it may be. */
function unreachable(host: string): string | undefined {
  const address = host.startsWith('[') ? host.slice(1, -1) : host;
  if (isIP(address) !== 0) {
    return addressRefusal(address) === undefined ? undefined : 'which is no public address';
  }
  const isInternal =
    !host.includes('.') ||
    INTERNAL_DOMAINS.some((domain) => host === domain || host.endsWith(`.${domain}`));
  return isInternal ? 'which is a name of an internal network' : undefined;
}

function pathAndQuery(url: string): string {
  const { pathname, search } = new URL(url);
  return pathname + search;
}

function sitemapMessage(value: string): string {
  return value === ''
    ? 'The sitemap has no URL.'
    : `The sitemap ${quoted(value)} is not an http or https URL.`;
}

/** The URL of an empty sitemap often stands on the next line. */
function fixOfEmpty(document: RobotsDocument, line: DocumentLine, host: string): string {
  const next = document.lines[line.line];
  const text = next === undefined ? '' : document.text(next.start, next.end).trim();
  const url = text.startsWith('http') && URL.canParse(text) ? text : `https://${host}/sitemap.xml`;
  return `Write the URL on the same line: "Sitemap: ${url}".`;
}

/** A likely URL for one that is relative or broken. */
function wholeUrl(value: string, host: string): string {
  const scheme = SCHEMES.find((each) => value.toLowerCase().startsWith(each));
  if (scheme !== undefined) {
    const name = scheme.startsWith('https') ? 'https' : 'http';
    return `${name}://${value.slice(scheme.length)}`;
  }
  if (value.startsWith('//')) return `https:${value}`;
  if (value.startsWith('/')) return `https://${host}${value}`;
  const [first = ''] = value.split('/', 1);
  const isHost = value.includes('/') && first.includes('.') && !first.includes(':');
  if (isHost) return `https://${value}`;
  return value.includes(':') ? `https://${host}/sitemap.xml` : `https://${host}/${value}`;
}

/** `https:///sitemap.xml` with a host; another value as a placeholder. */
function withHost(value: string, host: string): string {
  const slashes = value.indexOf('///');
  if (slashes < 0) return `https://${host}/sitemap.xml`;
  return `${value.slice(0, slashes)}//${host}${value.slice(slashes + 2)}`;
}

/** Whether one host is the other, or a host below it. */
function areOfOneSite(one: string, other: string): boolean {
  const [a, b] = [withoutWww(one), withoutWww(other)];
  return a === b || a.endsWith(`.${b}`) || b.endsWith(`.${a}`);
}

function withoutWww(host: string): string {
  return host.startsWith('www.') ? host.slice('www.'.length) : host;
}
