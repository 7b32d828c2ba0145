/** The library's Robots: one robots.txt, compiled, and its verdicts. */

import { Buffer } from 'node:buffer';
import {
  bodyBytes,
  checkBody,
  checkOptions,
  checkUrl,
  lacksScheme,
  type OptionKinds,
  shownValue,
} from '../base/arguments.js';
import { RobotsFilterError } from '../base/errors.js';
import { AutomatonCompiler, patternsOf } from '../kernel/automata.js';
import { Arena, createMemory, PAGE_BYTES, type Region } from '../kernel/kernel.js';
import { type Judgement, type JudgeTarget, Session, type UseJudgement } from '../kernel/session.js';
import { type Agent, lowerCaseAscii, Names, parseAgent } from '../protocol/agent.js';
import { type KeptRecord, keptRecords, recordsFor } from '../protocol/fields.js';
import {
  checkParseOptions,
  type FileParts,
  type ParseOptions,
  type PlacedFile,
  placeRules,
  withRules,
} from '../protocol/parse.js';
import { AgentPreferences, type PathMatcher, type Preferences } from '../protocol/preferences.js';
import {
  type CrawlDelay,
  type Group,
  groupsByProductToken,
  groupsFor,
  type OtherRecord,
  type RobotsFile,
  type Rule,
  type RulePlaces,
  type Warning,
} from '../protocol/robots-file.js';
import { type SignalGroup, type Signals, signalsOf } from '../protocol/signals.js';
import { useOf } from '../protocol/uses.js';
import { GREATEST_PARSING_LIMIT, type Profile, type Verdict } from '../protocol/verdict.js';
import {
  ACCESS_UNREACHABLE,
  GROUP_BYTES,
  GROUP_LINE,
  ROBOTS_WIDE,
  TAIL_BYTES,
  TOKEN_ANY,
} from '../table/format.js';

const OPTIONS: OptionKinds<ParseOptions> = { profile: 'other', maxBytes: 'number' };

/** Bytes in which a scheme ends. */
const LONGEST_SCHEME = 256;

/** A compiler with more memory than this is not kept for the next file. */
const HELD_BYTES = 1024 * 1024;

/** Shared by all `Robots`, and made for the first verdict. */
let memory: RobotsMemory | undefined;
let compiler: BlockCompiler | undefined;
/** Bytes of UTF-8 that a UTF-16 code unit may take. */
const BYTES_OF_UNIT = 3;

const encoder = new TextEncoder();
/** Most bodies are encoded into this memory. */
let bodyMemory = new Uint8Array(1 << 14);

/** Encodes a body as UTF-8; the next call may overwrite the bytes. */
function encodeBody(body: string): Uint8Array {
  const need = BYTES_OF_UNIT * body.length;
  if (need > HELD_BYTES) return encoder.encode(body);
  if (need > bodyMemory.length) bodyMemory = new Uint8Array(Math.max(need, 2 * bodyMemory.length));
  const { written } = encoder.encodeInto(body, bodyMemory);
  return new Uint8Array(bodyMemory.buffer, 0, written);
}

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
/** What answers about uses need of it. */
const SIGNALS: FileParts = { ...GROUPS, signals: true };

/** Options of `Robots.use`. */
export interface RobotsUseOptions {
  /** The product token whose groups speak for the use, too. Default: none. */
  readonly policyToken?: string | undefined;
}

const USE_OPTIONS: OptionKinds<RobotsUseOptions> = { policyToken: 'string' };

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
  /** Whether the block also has what the file says about uses. */
  #hasSignals = false;
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
   * @param agent a product token (RFC 9309 section 2.2.1), or a fallback chain: `A:B`, or a list
   * @throws RobotsFilterError `usage` if the agent is not a product token, or the URL neither a
   *   string nor bytes; and for `example.com/x`, whose scheme is missing
   */
  verdict(url: string | Uint8Array, agent: string | readonly string[]): Judgement {
    const resident = this.#load(agent);
    this.#checkReference(url);
    return (memory as RobotsMemory).session.judge(url, agent, resident);
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

  /**
   * What the file says to an agent about a use of a URL's content (experimental).
   *
   * @param use `train`, `search`, `input`, or a key of a signal such as `train-ai`
   * @param options `policyToken`: a product token whose groups speak for the use, too
   * @throws RobotsFilterError as `verdict`, and `usage` for a use that is none, or a policy token
   *   that is no product token
   */
  use(
    url: string | Uint8Array,
    agent: string | readonly string[],
    use: string,
    options: RobotsUseOptions = {},
  ): UseJudgement {
    checkOptions('Robots.use', options, USE_OPTIONS);
    const asked = useOf(use, options.policyToken);
    parseAgent(agent, this.#profile); // refuses a name that is no agent
    this.#checkReference(url);
    const resident = this.#loadSignals();
    return (memory as RobotsMemory).session.judgeUse(url, agent, asked, resident);
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
    return (memory as RobotsMemory).session.verdict(url, agent, resident);
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

  /** As `#load`, for the groups of all agents and what the file says about uses. */
  #loadSignals(): ResidentBlock {
    memory ??= new RobotsMemory();
    const isCompiled = this.#agent === null && this.#hasSignals;
    if (isCompiled && this.#resident !== undefined && memory.holds(this.#resident)) {
      return this.#resident;
    }
    if (!isCompiled) {
      const file = this.#placed ?? this.#groups(SIGNALS);
      this.#compileBlock(file, undefined, signalsOf(keptRecords(file, this.#profile)));
      this.#agent = null;
      this.#hasSignals = true;
    }
    this.#resident = memory.load(this.#block as RobotsBlock, this.#profile);
    return this.#resident;
  }

  /** Reads some groups, whose bytes the next file may overwrite. */
  #groups(parts: FileParts): PlacedFile {
    const body = typeof this.#body === 'string' ? encodeBody(this.#body) : this.#body;
    return placeRules(body, this.#options, parts);
  }

  /** Compiles the groups of the first agent; for a second agent, all groups. */
  #compile(name: string | readonly string[]): void {
    const isFirst = this.#agent === undefined && typeof name === 'string';
    const only = isFirst ? askedAgent(name, this.#profile) : undefined;
    if (only === undefined) parseAgent(name, this.#profile); // refuses a name that is no agent
    const file = this.#placed ?? this.#groups(only?.parts ?? GROUPS);
    this.#compileBlock(file, only?.agent, undefined);
    this.#agent = isFirst ? name : null;
  }

  #compileBlock(file: PlacedFile, agent: Agent | undefined, signals: Signals | undefined): void {
    compiler ??= new BlockCompiler();
    this.#block = compiler.compile(file, this.#profile, agent, signals);
    if (compiler.heldBytes > HELD_BYTES) compiler = undefined;
  }
}

function askedAgent(name: string, profile: Profile): AskedAgent {
  if (asked?.name === name && asked.profile === profile) return asked;
  const agent = parseAgent(name, profile);
  const tokens = new Names(['*', ...agent.chain.map(lowerCaseAscii)]);
  asked = { name, profile, agent, parts: { ...GROUPS, tokens } };
  return asked;
}

/** What a file says to an agent beside its rules; nothing of it changes a verdict. */
export function recordsSaidTo(file: RobotsFile, agent: string, profile: Profile) {
  const records = keptRecords(file, profile);
  const byToken = groupsByProductToken(file.groups, profile);
  const tokens = [...groupsFor(parseAgent(agent, profile), byToken, profile).keys()];
  return {
    crawlDelay: recordsFor(records, tokens).crawlDelay,
    sitemaps: records.flatMap(({ kind, value }) => (kind === 'sitemap' ? [value] : [])),
    preferences: new AgentPreferences(records, tokens, pathMatchers(profile)),
  };
}

/** Finds which of some paths is the longest that matches a URL; -1 for none. */
type LongestPath = (url: string | Uint8Array) => number;

/** The key of which lines are made to compare their paths. */
const ANY_USE = 'any';

/** Makes a function that finds the longest of some paths, by the matcher of rules. */
function longestOf(paths: readonly string[], profile: Profile): LongestPath {
  const parsed = (line: (path: string) => string): Robots =>
    Robots.parse(`User-agent: *\n${paths.map((path) => `${line(path)}\n`).join('')}`, {
      profile,
      maxBytes: GREATEST_PARSING_LIMIT,
    });
  const rules = parsed((path) => `Disallow: ${path}`);
  let signals: Robots | undefined;
  // The first line names the agent.
  return (url) => {
    const { rule, reason } = rules.verdict(url, '*');
    if (reason !== 'robots-txt') return (rule?.line ?? 1) - 2;
    // No rule counts for /robots.txt, but a signal does.
    signals ??= parsed((path) => `Content-Usage: ${path} ${ANY_USE}=y`);
    return (signals.use(url, '*', ANY_USE).signal?.line ?? 1) - 2;
  };
}

/** Makes matchers that find the longest of some path patterns, and all that are as long. */
export function pathMatchers(profile: Profile): (paths: readonly string[]) => PathMatcher {
  return (paths) => {
    const longestPath = longestOf(paths, profile);
    const othersFor = paths.length > 1 ? equallyLong(paths, profile) : undefined;
    return (url) => {
      const longest = longestPath(url);
      if (longest < 0) return [];
      return [longest, ...(othersFor?.(longest, url) ?? [])];
    };
  };
}

/** Paths of one length in canonical form. */
interface PathsOfLength {
  /** Those without wildcards: of them a URL matches at most one canonical form. */
  readonly plain: number[];
  readonly wild: number[];
}

/** Makes a function that finds the paths that match a URL and are as long as its longest path. */
function equallyLong(
  paths: readonly string[],
  profile: Profile,
): (longest: number, url: string | Uint8Array) => readonly number[] {
  const encoder = new TextEncoder();
  const rules = paths.map((path) => ({ allow: false, pattern: encoder.encode(path) }));
  /** The canonical form of each path without wildcards. */
  const plainForms = new Map<number, string>();
  const byLength = new Map<number, PathsOfLength>();
  const ofPath = patternsOf(rules, profile).map(([pattern], path) => {
    if (pattern === undefined) return undefined;
    const { bytes, prefix } = pattern;
    const own = byLength.get(bytes) ?? { plain: [], wild: [] };
    byLength.set(bytes, own);
    // A wildcard and a final $ count, too, and stand outside the prefix.
    const isPlain = prefix.length === bytes;
    if (isPlain) plainForms.set(path, Buffer.from(prefix).toString('latin1'));
    (isPlain ? own.plain : own.wild).push(path);
    return own;
  });
  const finders = new Map<number | PathsOfLength, LongestPath>();
  const find = (key: number | PathsOfLength, among: readonly number[]): LongestPath => {
    const known = finders.get(key);
    if (known !== undefined) return known;
    const finder = longestOf(
      among.map((path) => paths[path] ?? ''),
      profile,
    );
    finders.set(key, finder);
    return finder;
  };
  return (longest, url) => {
    const own = ofPath[longest];
    if (own === undefined || own.plain.length + own.wild.length < 2) return [];
    const wild = own.wild.filter((path) => path !== longest && find(path, [path])(url) === 0);
    if (own.plain.length === 0) return wild;
    const isPlain = plainForms.has(longest);
    const first = isPlain ? longest : own.plain[find(own, own.plain)(url)];
    if (first === undefined) return wild;
    const form = plainForms.get(first);
    const plain = own.plain.filter((path) => path !== longest && plainForms.get(path) === form);
    return [...wild, ...plain];
  };
}

/** Greatest length of the region for blocks, unless a single block needs more. */
const MOST_BYTES = 64 * 1024 * 1024;
/** The region grows by this factor. */
const GROWTH = 4;

/** A block in memory, until the next round. */
export class ResidentBlock implements JudgeTarget {
  readonly anyHost = BLOCK_OFFSET;
  readonly profile: Profile;
  readonly table: number;
  /** The round in which the block was copied. */
  readonly round: number;
  readonly #tokens: readonly string[];

  constructor(table: number, round: number, { tokens }: RobotsBlock, profile: Profile) {
    this.table = table;
    this.round = round;
    this.profile = profile;
    this.#tokens = tokens;
  }

  tokenNumber(token: string): number {
    return blockTokenNumber(this.#tokens, token);
  }

  checkAgent(): void {}
}

/**
 * One kernel and one memory, in which the blocks of all `Robots` lie one after another.
 *
 * A block is copied when its `Robots` is asked, and stays until the region is full. Then a new
 * round begins, at the start of the region or in a larger region, and each block is copied again
 * when it is next asked for. So the memory is bounded whatever the number of `Robots`, nothing is
 * released one by one, and a block costs no more than a copy now and then.
 */
export class RobotsMemory {
  readonly session: Session;
  readonly #arena = new Arena(createMemory(PAGE_BYTES));
  readonly #mostBytes: number;
  #region: Region;
  /** The bytes of the region. */
  #bytes: Uint8Array;
  #used = 0;
  #round = 1;

  /** @param mostBytes greatest length of the region, for tests */
  constructor(mostBytes = MOST_BYTES) {
    this.session = new Session(this.#arena);
    this.#mostBytes = mostBytes;
    this.#region = this.#arena.take(PAGE_BYTES);
    this.#bytes = this.#regionBytes();
  }

  /** Whether a block is still where it was copied to. */
  holds(resident: ResidentBlock): boolean {
    return resident.round === this.#round;
  }

  /**
   * Copies a block into the memory.
   *
   * @throws RobotsFilterError `limit` if the block does not fit into 4 GiB
   */
  load(block: RobotsBlock, profile: Profile): ResidentBlock {
    const { bytes } = block;
    // The kernel reads up to TAIL_BYTES past a block, but never past the region.
    if (this.#used + bytes.length + TAIL_BYTES > this.#region.bytes) {
      this.#beginRound(bytes.length + TAIL_BYTES);
    }
    const address = this.#region.address + this.#used;
    this.#bytes.set(bytes, this.#used);
    this.#used += bytes.length;
    return new ResidentBlock(address - BLOCK_OFFSET, this.#round, block, profile);
  }

  #beginRound(leastBytes: number): void {
    const grown = Math.min(GROWTH * this.#region.bytes, this.#mostBytes);
    const bytes = Math.max(grown, leastBytes);
    if (bytes > this.#region.bytes) {
      const region = this.#arena.take(bytes);
      this.#arena.give(this.#region);
      this.#region = region;
      this.#bytes = this.#regionBytes();
    }
    this.#round++;
    this.#used = 0;
  }

  #regionBytes(): Uint8Array {
    const { address, bytes } = this.#region;
    return new Uint8Array(this.#arena.memory.buffer, address, bytes);
  }
}

/**
 * Offset of a block in the table that the kernel takes it for. An offset of 0 would mean "none".
 */
export const BLOCK_OFFSET = 64;

/** Greatest length of a robots record, and number of product tokens, for numbers of two bytes. */
const MAX_NARROW = 0xffff;
const ANY_TOKEN = '*';
/** Most blocks share this array, so that looking up a missing token causes no cache miss. */
const NO_TOKENS: readonly string[] = [];
const INITIAL_BYTES = 1 << 14;

/** One robots.txt in the table's format: its robots record, then its automata. */
interface RobotsBlock {
  readonly bytes: Uint8Array;
  /**
   * The product tokens that its groups name, in lower case and sorted, without `*`. The first has
   * the number 1.
   */
  readonly tokens: readonly string[];
}

/** The number of a product token in a block, -1 if no group names the token. */
function blockTokenNumber(tokens: readonly string[], token: string): number {
  if (token === ANY_TOKEN) return TOKEN_ANY;
  let low = 0;
  let high = tokens.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    const other = tokens[middle] as string;
    if (other === token) return middle + 1;
    if (other < token) low = middle + 1;
    else high = middle;
  }
  return -1;
}

/** Length of a robots record. */
function recordBytes(width: number, tokens: number, groups: number): number {
  return 1 + width + 2 * width * tokens + GROUP_BYTES * groups;
}

/** The product tokens, among those that groups name, whose groups an agent may obey. */
function namedTokens(
  { chain, disregardsAny }: Agent,
  lists: ReadonlyMap<string, unknown>,
): string[] {
  const named = new Set(chain.map(lowerCaseAscii).filter((token) => lists.has(token)));
  // In the google profile an agent `*` names no group, but the groups of `*` are its fallback.
  if (lists.has(ANY_TOKEN) && named.size === 0 && disregardsAny !== true) named.add(ANY_TOKEN);
  return [...named];
}

const NO_SIGNALS: Signals['groups'] = new Map();

/** The rules of which some groups consist, or their signals as rules. */
interface GroupSource {
  readonly rules: RulePlaces;
  readonly profile: Profile;
  readonly isOfRules: boolean;
}

/** Compiles parsed robots.txt files into blocks. Its memory is reused for the next file. */
export class BlockCompiler {
  readonly #automata = new AutomatonCompiler();
  #out = new Uint8Array(INITIAL_BYTES);
  #view = new DataView(this.#out.buffer);
  #end = 0;

  /** Bytes that the compiler keeps for the next file. */
  get heldBytes(): number {
    return this.#out.length;
  }

  /**
   * Compiles a file. A file over its budget denies everything.
   *
   * @param agent the agent whose groups are compiled; `undefined` for all groups
   * @param signals what the file says about uses, if that is wanted
   */
  compile(
    file: Pick<PlacedFile, 'groups' | 'rules' | 'overBudget'>,
    profile: Profile,
    agent?: Agent,
    signals?: Signals,
  ): RobotsBlock {
    if (file.overBudget)
      return { bytes: Uint8Array.of(ACCESS_UNREACHABLE, 0, 0), tokens: NO_TOKENS };
    const lists = groupsByProductToken(file.groups, profile);
    const ofSignals = signals?.groups ?? NO_SIGNALS;
    const ofAgents = agent === undefined ? [...lists.keys()] : namedTokens(agent, lists);
    const named = [...ofAgents, ...ofSignals.keys()];
    const tokens = named.filter((token) => token !== ANY_TOKEN).sort();
    const all = tokens.length < named.length ? [ANY_TOKEN, ...tokens] : tokens;
    let groups = 0;
    for (const token of all) groups += (lists.get(token) ?? ofSignals.get(token))?.length ?? 0;
    const isWide = tokens.length >= MAX_NARROW || recordBytes(2, all.length, groups) > MAX_NARROW;
    const width = isWide ? 4 : 2;
    const bytes = recordBytes(width, all.length, groups);
    this.#end = 0;
    this.#reserve(bytes);
    this.#end = bytes;
    this.#out[0] = isWide ? ROBOTS_WIDE : 0;
    this.#word(isWide, 1, all.length);
    const compiled = new Map<SignalGroup, readonly [number, number]>();
    const first = tokens.length === all.length ? 1 : TOKEN_ANY;
    let number = 1 + width;
    let list = number + 2 * width * all.length;
    all.forEach((token, index) => {
      this.#word(isWide, number, first + index);
      this.#word(isWide, number + width * all.length, list);
      number += width;
      const own = ofSignals.get(token);
      const source = { rules: signals !== undefined && own ? signals.rules : file.rules, profile };
      const isOfRules = own === undefined;
      const written = own ?? lists.get(token) ?? [];
      list = this.#writeList({ ...source, isOfRules }, written, compiled, list);
    });
    // Small blocks share memory of Node's pool.
    const block = Buffer.allocUnsafe(this.#end);
    block.set(this.#out.subarray(0, this.#end));
    return { bytes: block, tokens: tokens.length === 0 ? NO_TOKENS : tokens };
  }

  /** Writes a list of groups at an offset; returns the offset after the list. */
  #writeList(
    source: GroupSource,
    groups: readonly SignalGroup[],
    compiled: Map<SignalGroup, readonly [number, number]>,
    start: number,
  ): number {
    let at = start;
    groups.forEach((group, index) => {
      let pair = compiled.get(group);
      if (pair === undefined) {
        pair = this.#compileGroup(source, group);
        compiled.set(group, pair);
      }
      const [automaton, firstLine] = pair;
      this.#view.setUint32(at, automaton, true);
      const followed = index + 1 < groups.length ? 1 : 0;
      this.#view.setUint32(at + GROUP_LINE, 2 * firstLine + followed, true);
      at += GROUP_BYTES;
    });
    return at;
  }

  /**
   * Compiles a group; returns the offset of its automaton, and the line that the lines of its rules
   * are relative to. Both are 0 if no rule can match.
   */
  #compileGroup(
    { rules, profile, isOfRules }: GroupSource,
    { firstRule, rulesEnd }: SignalGroup,
  ): readonly [number, number] {
    const automaton = this.#automata.compile(rules, firstRule, rulesEnd, profile, isOfRules);
    if (automaton === undefined) return [0, 0];
    const start = this.#end;
    this.#reserve(automaton.length);
    this.#out.set(automaton, start);
    this.#end += automaton.length;
    return [BLOCK_OFFSET + start, this.#automata.firstLine];
  }

  /** Makes room after the end. */
  #reserve(bytes: number): void {
    if (this.#end + bytes <= this.#out.length) return;
    const grown = new Uint8Array(Math.max(this.#end + bytes, 2 * this.#out.length));
    grown.set(this.#out.subarray(0, this.#end));
    this.#out = grown;
    this.#view = new DataView(grown.buffer);
  }

  #word(isWide: boolean, at: number, word: number): void {
    if (isWide) this.#view.setUint32(at, word, true);
    else this.#view.setUint16(at, word, true);
  }
}
