import { TableBuilder } from './compile/table-builder.js';
import type { TableAuthority, TableHost } from './inspect/table-content.js';
import { TableView } from './inspect/table-view.js';
import { Arena } from './kernel/arena.js';
import { Judge, type Judgement } from './kernel/judge.js';
import { createMemory, PAGE_BYTES } from './kernel/kernel.js';
import { parseAgent } from './protocol/agent.js';
import { type ParseOptions, parseRobots } from './protocol/parse.js';
import type { Profile } from './protocol/profile.js';
import type {
  CrawlDelay,
  Group,
  OtherRecord,
  RobotsFile,
  Warning,
} from './protocol/robots-file.js';

/** The only host in the table of a `Robots`; no URL has this host. */
const ANY_HOST = 'any.invalid';

/** One kernel and one memory, which all `Robots` use in turn. */
class SharedMatcher {
  readonly arena = new Arena(createMemory(PAGE_BYTES));
  readonly judge = new Judge(this.arena);
  #owner: Robots | undefined;
  #region = this.arena.take(PAGE_BYTES);

  /** Loads the table of a `Robots`; returns its address. */
  load(owner: Robots, table: Uint8Array): number {
    if (this.#owner !== owner) {
      this.judge.forget();
      if (table.length > this.#region.bytes) {
        this.arena.give(this.#region);
        this.#region = this.arena.take(table.length);
      }
      new Uint8Array(this.arena.memory.buffer).set(table, this.#region.address);
      this.#owner = owner;
    }
    return this.#region.address;
  }
}

let matcher: SharedMatcher | undefined;

/** One robots.txt: its groups and records, and verdicts for any URL. */
export class Robots {
  readonly #file: RobotsFile;
  readonly #body: Uint8Array;
  readonly #options: ParseOptions;
  readonly #profile: Profile;
  #compiled: { table: Uint8Array; view: TableView; robots: number } | undefined;

  private constructor(body: Uint8Array, options: ParseOptions) {
    this.#body = body;
    this.#options = options;
    this.#profile = options.profile ?? 'rfc9309';
    this.#file = parseRobots(body, options);
  }

  /**
   * Parses a robots.txt (RFC 9309 section 2.2). Never throws on content: see `warnings`.
   *
   * @param body bytes, or a string, which is encoded as UTF-8
   * @throws RobotsFilterError `usage` for an unknown profile, or a `maxBytes` outside 512,000 to
   *   268,435,456
   */
  static parse(body: Uint8Array | string, options: ParseOptions = {}): Robots {
    const bytes = typeof body === 'string' ? new TextEncoder().encode(body) : body.slice();
    return new Robots(bytes, options);
  }

  /** Groups, in the order of the file (RFC 9309 section 2.2.1). */
  get groups(): readonly Group[] {
    return this.#file.groups;
  }

  /** `Sitemap` records. */
  get sitemaps(): readonly OtherRecord[] {
    return this.#file.sitemaps;
  }

  /** `Crawl-delay` records; reported, never obeyed. */
  get crawlDelays(): readonly CrawlDelay[] {
    return this.#file.crawlDelays;
  }

  /** All records that are neither user-agent lines nor rules (RFC 9309 section 2.2.4). */
  get records(): readonly OtherRecord[] {
    return this.#file.records;
  }

  /** Lines without effect, or with an unexpected one; at most 100. */
  get warnings(): readonly Warning[] {
    return this.#file.warnings;
  }

  /**
   * Judges whether the agent may fetch the URL, as if this file were the robots.txt of the URL's
   * authority. For each wildcard rule the time is linear in the URL's length.
   *
   * @param url a URL or a path. A string that is not an http, https or ftp URL is `invalid`, but
   *   the google profile accepts any string
   * @param agent a product token (RFC 9309 section 2.2.1), or a fallback chain: `A>B`, or a list
   * @throws RobotsFilterError `usage` if the agent is not a product token
   */
  verdict(url: string | Uint8Array, agent: string | readonly string[]): Judgement {
    const compiled = this.#compile();
    matcher ??= new SharedMatcher();
    const table = matcher.load(this, compiled.table);
    return matcher.judge.judge(url, parseAgent(agent, this.#profile), {
      table,
      google: this.#profile === 'google',
      anyHost: compiled.robots,
      tokenNumber: (token) => compiled.view.tokenNumber(token),
    });
  }

  /** Compiles this file into a table of one host, on the first call. */
  #compile(): { table: Uint8Array; view: TableView; robots: number } {
    if (this.#compiled === undefined) {
      const builder = new TableBuilder(this.#options);
      builder.add({ scheme: undefined, host: ANY_HOST, port: undefined }, this.#body, {
        source: '',
        status: undefined,
      });
      const table = builder.build();
      const view = new TableView(table);
      const [authority] = (view.find(ANY_HOST) as TableHost).authorities;
      this.#compiled = { table, view, robots: (authority as TableAuthority).robots };
    }
    return this.#compiled;
  }
}
