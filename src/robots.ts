import { Buffer } from 'node:buffer';
import {
  bodyBytes,
  checkBody,
  checkOptions,
  checkUrl,
  lacksScheme,
  type OptionKinds,
  shownValue,
} from './arguments.js';
import { BodyScratch } from './compile/body-scratch.js';
import { BlockCompiler, type RobotsBlock } from './compile/robots-block.js';
import { RobotsFilterError } from './errors.js';
import type { Judgement } from './kernel/judge.js';
import { type Agent, parseAgent } from './protocol/agent.js';
import type { FileParts, PlacedFile } from './protocol/file-parser.js';
import { groupsByProductToken, groupsFor } from './protocol/groups.js';
import { type KeptRecord, keptRecords } from './protocol/other-record-kinds.js';
import { checkParseOptions, type ParseOptions, placeRules, withRules } from './protocol/parse.js';
import { MAX_BYTES } from './protocol/parsing-limits.js';
import { AgentPreferences, type PathMatcher, type Preferences } from './protocol/preferences.js';
import { lowerCaseAscii, ProductTokens } from './protocol/product-token.js';
import type { Profile } from './protocol/profile.js';
import { recordsFor } from './protocol/records-for.js';
import type {
  CrawlDelay,
  Group,
  OtherRecord,
  RobotsFile,
  Rule,
  Warning,
} from './protocol/robots-file.js';
import type { Verdict } from './protocol/verdict.js';
import { type ResidentBlock, RobotsMemory } from './robots-memory.js';

const OPTIONS: OptionKinds<ParseOptions> = { profile: 'other', maxBytes: 'number' };

/** Bytes in which a scheme ends. */
const LONGEST_SCHEME = 256;

/** A compiler with more memory than this is not kept for the next file. */
const HELD_BYTES = 1024 * 1024;

/** Shared by all `Robots`, and made for the first verdict. */
let memory: RobotsMemory | undefined;
let compiler: BlockCompiler | undefined;
const scratch = new BodyScratch();
/** The last agent that a file was compiled for. Most programs have only one. */
let asked: AskedAgent | undefined;

interface AskedAgent {
  readonly name: string;
  readonly profile: Profile;
  readonly agent: Agent;
  /** What an agent's verdicts need of a file. */
  readonly parts: FileParts;
}

/** What verdicts need of a file. */
const GROUPS: FileParts = { records: false, warnings: 'none' };

/** One robots.txt: its groups and records, and verdicts for any URL. */
export class Robots {
  readonly #body: Uint8Array | string;
  readonly #options: ParseOptions;
  readonly #profile: Profile;
  /** Read on the first question that verdicts do not answer: most files are only judged by. */
  #placed: PlacedFile | undefined;
  #file: RobotsFile | undefined;
  #byToken: ReadonlyMap<string, readonly Group[]> | undefined;
  #kept: readonly KeptRecord[] | undefined;
  #block: RobotsBlock | undefined;
  /**
   * Whose groups the block has: those of the only agent so far, or with `null` all groups. A
   * crawler asks each file for one agent, and then the other groups need not be compiled.
   */
  #agent: string | null | undefined;
  #resident: ResidentBlock | undefined;

  private constructor(body: Uint8Array | string, options: ParseOptions) {
    this.#body = body;
    this.#options = options;
    this.#profile = options.profile ?? 'rfc9309';
  }

  /**
   * Parses a robots.txt (RFC 9309 section 2.2). Never throws on content: see `warnings`.
   *
   * @param body bytes, or a string, which is encoded as UTF-8
   * @throws RobotsFilterError `usage` for a body that is neither, an unknown option or profile, or
   *   a `maxBytes` outside 512,000 to 268,435,456
   */
  static parse(body: Uint8Array | string, options: ParseOptions = {}): Robots {
    checkBody('Robots.parse', body);
    checkOptions('Robots.parse', options, OPTIONS);
    checkParseOptions(options);
    return new Robots(typeof body === 'string' ? body : new Uint8Array(body), options);
  }

  /**
   * Judges whether the agent may fetch the URL, as if this file were the robots.txt of the URL's
   * authority. For each wildcard rule the time is linear in the URL's length.
   *
   * @param url a URL or a path. A string that is not an http, https or ftp URL is `invalid`, but
   *   the google profile accepts any string
   * @param agent a product token (RFC 9309 section 2.2.1), or a fallback chain: `A>B`, or a list
   * @throws RobotsFilterError `usage` if the agent is not a product token, or the URL neither a
   *   string nor bytes; and for `example.com/x`, whose scheme is missing
   */
  verdict(url: string | Uint8Array, agent: string | readonly string[]): Judgement {
    const resident = this.#load(agent);
    this.#checkReference(url);
    return (memory as RobotsMemory).judge.judge(url, agent, resident);
  }

  /**
   * Whether the agent may fetch the URL: whether the verdict is `allow`. Faster than `verdict`,
   * which names the rule. False for a URL that is `invalid`.
   *
   * @throws RobotsFilterError as `verdict`
   */
  isAllowed(url: string | Uint8Array, agent: string | readonly string[]): boolean {
    return this.#verdict(url, agent) === 'allow';
  }

  /**
   * Whether the verdict is `deny`. False for a URL that is `invalid`.
   *
   * @throws RobotsFilterError as `verdict`
   */
  isDisallowed(url: string | Uint8Array, agent: string | readonly string[]): boolean {
    return this.#verdict(url, agent) === 'deny';
  }

  /** Groups, in the order of the file (RFC 9309 section 2.2.1). */
  get groups(): readonly Group[] {
    return this.#parsed.groups;
  }

  /**
   * The rules that an agent obeys, in the order of the file: those of all groups that name the
   * agent, else those of `*` (RFC 9309 section 2.2.1). Empty if there are none.
   *
   * @throws RobotsFilterError `usage` if the agent is not a product token
   */
  rulesFor(agent: string | readonly string[]): readonly Rule[] {
    const groups = new Set([...this.#groupsByToken(agent).values()].flat());
    return [...groups].sort((a, b) => a.line - b.line).flatMap((group) => group.rules);
  }

  /**
   * The `Crawl-delay` for an agent in seconds; `undefined` if there is none, or no number. In each
   * group that the agent obeys it is the first one after the user-agent line that names the agent;
   * the longest of several counts. Not part of RFC 9309, and never obeyed here.
   *
   * @throws RobotsFilterError `usage` if the agent is not a product token
   */
  crawlDelay(agent: string | readonly string[]): number | undefined {
    const tokens = [...this.#groupsByToken(agent).keys()];
    const { crawlDelay } = recordsFor(this.#keptRecords, tokens);
    return typeof crawlDelay === 'number' ? crawlDelay : undefined;
  }

  /**
   * What the file says to an agent about the use of content, whatever the verdict. No such record
   * changes a verdict.
   *
   * @param url the URL or path that `Content-Usage` records with a path are compared with
   * @throws RobotsFilterError `usage` if the agent is not a product token, or the URL neither a
   *   string nor bytes
   */
  preferences(agent: string | readonly string[], url: string | Uint8Array = '/'): Preferences {
    checkUrl(url);
    const tokens = [...this.#groupsByToken(agent).keys()];
    return new AgentPreferences(this.#keptRecords, tokens, pathMatchers(this.#profile)).for(url);
  }

  /** The URLs of the `Sitemap` records, as written, in the order of the file. */
  get sitemaps(): string[] {
    return this.#parsed.sitemaps.map(({ value }) => value).filter((value) => value !== '');
  }

  /** `Crawl-delay` records; reported, never obeyed. */
  get crawlDelays(): readonly CrawlDelay[] {
    return this.#parsed.crawlDelays;
  }

  /** All records that are neither user-agent lines nor rules (RFC 9309 section 2.2.4). */
  get records(): readonly OtherRecord[] {
    return this.#parsed.records;
  }

  /** Lines without effect, or with an unexpected one; at most 100. */
  get warnings(): readonly Warning[] {
    return this.#parsed.warnings;
  }

  get #parsed(): RobotsFile {
    this.#placed ??= placeRules(bodyBytes('Robots.parse', this.#body), this.#options);
    this.#file ??= withRules(this.#placed);
    return this.#file;
  }

  /** The groups that an agent obeys, by the product token that they name. */
  #groupsByToken(name: string | readonly string[]): Map<string, readonly Group[]> {
    const agent = parseAgent(name, this.#profile);
    this.#byToken ??= groupsByProductToken(this.#parsed.groups, this.#profile);
    return groupsFor(agent, this.#byToken, this.#profile);
  }

  get #keptRecords(): readonly KeptRecord[] {
    this.#kept ??= keptRecords(this.#parsed, this.#profile);
    return this.#kept;
  }

  #verdict(url: string | Uint8Array, agent: string | readonly string[]): Verdict {
    const resident = this.#load(agent);
    this.#checkReference(url);
    return (memory as RobotsMemory).judge.verdict(url, agent, resident);
  }

  /**
   * Refuses `example.com/x`, which the URL Standard would read as the path `/example.com/x`.
   *
   * @throws RobotsFilterError `usage`
   */
  #checkReference(url: string | Uint8Array): void {
    checkUrl(url);
    if (this.#profile === 'google') return;
    const start = typeof url === 'string' ? url : Buffer.from(url.subarray(0, LONGEST_SCHEME));
    if (!lacksScheme(start.toString())) return;
    const shown = shownValue(typeof url === 'string' ? url : Buffer.from(url).toString());
    const remedy = 'Pass it with its scheme, or with a slash before it if it is a path';
    throw new RobotsFilterError('usage', `the URL is ${shown}, without a scheme. ${remedy}`);
  }

  /** Brings the compiled file into the memory, unless it is there. */
  #load(agent: string | readonly string[]): ResidentBlock {
    memory ??= new RobotsMemory();
    const isCompiled = this.#agent === agent || this.#agent === null;
    const resident = this.#resident;
    if (isCompiled && resident !== undefined && memory.holds(resident)) return resident;
    if (!isCompiled || this.#block === undefined) this.#compile(agent);
    this.#resident = memory.load(this.#block as RobotsBlock, this.#profile);
    return this.#resident;
  }

  /** Reads some groups, whose bytes the next file may overwrite. */
  #groups(parts: FileParts): PlacedFile {
    const body = typeof this.#body === 'string' ? scratch.encode(this.#body) : this.#body;
    return placeRules(body, this.#options, parts);
  }

  /** Compiles the groups of the first agent; for a second agent, all groups. */
  #compile(name: string | readonly string[]): void {
    const isFirst = this.#agent === undefined && typeof name === 'string';
    const only = isFirst ? askedAgent(name, this.#profile) : undefined;
    if (only === undefined) parseAgent(name, this.#profile); // refuses a name that is no agent
    const file = this.#placed ?? this.#groups(only?.parts ?? GROUPS);
    compiler ??= new BlockCompiler();
    this.#block = compiler.compile(file, this.#profile, only?.agent);
    this.#agent = isFirst ? name : null;
    if (compiler.heldBytes > HELD_BYTES) compiler = undefined;
  }
}

function askedAgent(name: string, profile: Profile): AskedAgent {
  if (asked?.name === name && asked.profile === profile) return asked;
  const agent = parseAgent(name, profile);
  const tokens = new ProductTokens(['*', ...agent.chain.map(lowerCaseAscii)]);
  asked = { name, profile, agent, parts: { ...GROUPS, tokens } };
  return asked;
}

/** Makes matchers that find the most specific of some path patterns, by the matcher of rules. */
export function pathMatchers(profile: Profile): (paths: readonly string[]) => PathMatcher {
  return (paths) => {
    const rules = paths.map((path) => `Disallow: ${path}\n`);
    const matcher = Robots.parse(`User-agent: *\n${rules.join('')}`, {
      profile,
      maxBytes: MAX_BYTES,
    });
    return (url) => {
      const { rule } = matcher.verdict(url, '*');
      // The first line names the agent.
      return rule && rule.line - 2;
    };
  };
}
