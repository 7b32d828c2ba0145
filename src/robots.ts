import { TableBuilder } from './compile/table-builder.js';
import { type TableAuthority, type TableHost, TableView } from './compile/table-view.js';
import { Arena } from './kernel/arena.js';
import { Judge, type Judgement } from './kernel/judge.js';
import { createMemory, PAGE_OCTETS } from './kernel/kernel.js';
import { parseAgent } from './protocol/agent.js';
import { parseRobots } from './protocol/parse.js';
import type { Profile } from './protocol/profile.js';
import type {
  CrawlDelay,
  Group,
  OtherRecord,
  RobotsFile,
  Warning,
} from './protocol/robots-file.js';

/** How a robots.txt is read. */
export interface ParseOptions {
  /** Default `rfc9309`. */
  readonly profile?: Profile;
  /**
   * Parsing limit in octets (RFC 9309 section 2.5): at least, and by default, 512,000; none in the
   * google profile.
   */
  readonly maxBytes?: number;
}

const ANY_HOST = 'any.invalid';

/** Where single files are judged: one memory for all `Robots`, which take turns in it. */
class Bench {
  readonly arena = new Arena(createMemory(PAGE_OCTETS));
  readonly judge = new Judge(this.arena);
  #owner: Robots | undefined;
  #region = this.arena.take(PAGE_OCTETS);

  /** Brings the table of a `Robots` in; returns its address. */
  load(owner: Robots, table: Uint8Array): number {
    if (this.#owner !== owner) {
      this.judge.forget();
      if (table.length > this.#region.octets) {
        this.arena.give(this.#region);
        this.#region = this.arena.take(table.length);
      }
      new Uint8Array(this.arena.memory.buffer).set(table, this.#region.address);
      this.#owner = owner;
    }
    return this.#region.address;
  }
}

let bench: Bench | undefined;

/** One robots.txt: what it says, and what it means for any URL. */
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
   * Parses a robots.txt (RFC 9309 section 2.2). Never throws on content: what is wrong with it
   * stands in `warnings`.
   *
   * @param body its octets; a string is taken as UTF-8
   * @throws RobotsFilterError `usage` if `maxBytes` is below 512,000
   */
  static parse(body: Uint8Array | string, options: ParseOptions = {}): Robots {
    const octets = typeof body === 'string' ? new TextEncoder().encode(body) : body.slice();
    return new Robots(octets, options);
  }

  /** The groups in the order of the file (RFC 9309 section 2.2.1). */
  get groups(): readonly Group[] {
    return this.#file.groups;
  }

  /** `Sitemap` records. */
  get sitemaps(): readonly OtherRecord[] {
    return this.#file.sitemaps;
  }

  /** `Crawl-delay` records, in seconds; reported, never obeyed. */
  get crawlDelays(): readonly CrawlDelay[] {
    return this.#file.crawlDelays;
  }

  /** All records that are neither user-agent line nor rule (RFC 9309 section 2.2.4). */
  get records(): readonly OtherRecord[] {
    return this.#file.records;
  }

  get warnings(): readonly Warning[] {
    return this.#file.warnings;
  }

  /**
   * Whether the agent may fetch the URL, this file being the robots.txt of the URL's authority,
   * whatever that is. Linear in the URL's octets for each wildcard rule; see the matcher.
   *
   * @param url any string; what is no http, https or ftp URL is `invalid`, but in the google
   *   profile any string is taken as it stands
   * @param agent a product token or a fallback chain of them, as `A>B` or a list (RFC 9309 section
   *   2.2.1)
   * @throws RobotsFilterError `usage` if the agent is no product token
   */
  verdict(url: string | Uint8Array, agent: string | readonly string[]): Judgement {
    const compiled = this.#compile();
    bench ??= new Bench();
    const table = bench.load(this, compiled.table);
    return bench.judge.judge(url, parseAgent(agent, this.#profile), {
      table,
      google: this.#profile === 'google',
      anyHost: compiled.robots,
      tokenNumber: (token) => compiled.view.tokenNumber(token),
    });
  }

  /** A table that holds this file alone, for a host that no URL has. */
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
