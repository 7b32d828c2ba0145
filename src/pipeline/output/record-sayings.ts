import type { Buffer } from 'node:buffer';
import { BACKSLASH, COLON, DELETE, HASH, QUESTION_MARK, SLASH, SPACE } from '../../base/ascii.js';
import { printableJson } from '../../base/control-characters.js';
import { HostAnswers } from '../../judge/host-records.js';
import type { TableMemory } from '../../judge/table-memory.js';
import { REASON_BITS } from '../../kernel/layout.js';
import type { Agent } from '../../protocol/agent.js';
import { authorityOfUrl, formatAuthority } from '../../protocol/authority.js';
import type { AgentPreferences, Preferences } from '../../protocol/preferences.js';
import { VERDICTS } from '../../protocol/verdict.js';

/** Characters of preferences as JSON that a record gets: site owners choose how many there are. */
const LONGEST = 4096;
/** Characters of the records of an agent's group that are looked at. */
const LONGEST_READ = 1 << 13;
/** Paths with wildcards that are looked at: those of one length are compared one by one. */
const MOST_WILDCARDS = 64;

/** Authorities, and characters of their preferences, that are kept. */
const KEPT_AUTHORITIES = 1 << 16;
const KEPT_CHARACTERS = 1 << 24;

const ALLOW = VERDICTS.indexOf('allow');

/**
 * What may be said beside verdicts: the preferences about the use of content, and the seconds that
 * an agent is asked to wait between two fetches.
 */
export type Saying = 'preferences' | 'crawl_delay';

/** What a robots.txt says to an agent. */
export interface Said {
  readonly json: string;
  /** Whether it says nothing. */
  readonly isEmpty: boolean;
}

/** What a record gets in place of longer preferences. */
const TOO_LONG: Said = { json: '{"truncated":true}', isEmpty: false };
const NO_DELAY: Said = { json: 'null', isEmpty: true };

/** What one scheme, host and port says to one agent. What was not asked for is missing. */
interface Kept {
  /** `undefined` if they are too long. */
  preferences?: AgentPreferences | undefined;
  /** By the part of the preferences that counts. */
  readonly parts: Map<number | undefined, Said>;
  delay?: Said;
}

/**
 * What robots.txt files say beside verdicts of the records of a run, where the verdict is allow.
 * The answers of the hosts that were asked for last are kept.
 */
export class RecordSayings {
  /** What is said, in the order of the columns. */
  readonly sayings: readonly Saying[];
  readonly #records: HostAnswers;
  readonly #agents: readonly Agent[];
  /** By the authority, see `authorityKey`. */
  readonly #kept = new Map<string, (Kept | undefined)[]>();
  #characters = 0;

  /**
   * @param name the table's name in messages
   * @throws RobotsFilterError `usage` if the table has no records
   */
  constructor(
    { view, header }: TableMemory,
    agents: readonly Agent[],
    sayings: readonly Saying[],
    name: string,
  ) {
    this.sayings = sayings;
    this.#records = new HostAnswers(view, header.profile, name);
    this.#records.requireRecords();
    this.#agents = agents;
  }

  /**
   * What is said to each agent, one saying after the other; `undefined` where the verdict of the
   * agent is not allow.
   *
   * @param outcomes `verdict << REASON_BITS | reason` of each agent
   */
  of(url: Buffer, outcomes: Uint8Array): readonly (Said | undefined)[] {
    let kept: (Kept | undefined)[] | undefined;
    return this.sayings.flatMap((saying) =>
      this.#agents.map((_, index) => {
        if ((outcomes[index] as number) >> REASON_BITS !== ALLOW) return undefined;
        kept ??= this.#keptFor(url);
        const ofAgent = this.#ofAgent(kept, index, url);
        return saying === 'crawl_delay' ? ofAgent.delay : this.#preferencesFor(url, ofAgent);
      }),
    );
  }

  #preferencesFor(url: Buffer, { preferences, parts }: Kept): Said {
    if (preferences === undefined) return TOO_LONG;
    const part = preferences.partFor(url);
    let said = parts.get(part);
    if (said === undefined) {
      said = described(preferences.ofPart(part));
      this.#characters += said.json.length;
      parts.set(part, said);
    }
    return said;
  }

  #ofAgent(kept: (Kept | undefined)[], index: number, url: Buffer): Kept {
    const known = kept[index];
    if (known !== undefined) return known;
    const { name } = this.#agents[index] as Agent;
    const made: Kept = { parts: new Map() };
    if (this.sayings.includes('preferences')) {
      const all = this.#records.agentPreferences(url, name);
      const isShort = all.characters <= LONGEST_READ && all.wildcards <= MOST_WILDCARDS;
      if (isShort) this.#characters += all.characters;
      made.preferences = isShort ? all : undefined;
    }
    if (this.sayings.includes('crawl_delay')) {
      const delay = this.#records.crawlDelay(url, name);
      made.delay = delay === undefined ? NO_DELAY : { json: String(delay), isEmpty: false };
    }
    kept[index] = made;
    return made;
  }

  /** What is kept for the authority of a URL. */
  #keptFor(url: Buffer): (Kept | undefined)[] {
    const key = authorityKey(url);
    let kept = this.#kept.get(key);
    if (kept === undefined) {
      if (this.#kept.size >= KEPT_AUTHORITIES || this.#characters > KEPT_CHARACTERS) {
        this.#kept.clear();
        this.#characters = 0;
      }
      kept = [];
      this.#kept.set(key, kept);
    }
    return kept;
  }
}

/** A text that is the same only for URLs of one scheme, host and port. */
function authorityKey(url: Buffer): string {
  const end = authorityEnd(url);
  if (end !== undefined) return url.toString('latin1', 0, end);
  const authority = authorityOfUrl(url.toString());
  return authority === undefined ? '' : `${formatAuthority(authority)} `;
}

/**
 * Where the authority of a URL ends: URLs with equal bytes up to there have the same one.
 * `undefined` for URLs of unusual form, whose authority may lie elsewhere.
 */
function authorityEnd(url: Buffer): number | undefined {
  const colon = url.indexOf(COLON);
  if (colon < 0 || url[colon + 1] !== SLASH || url[colon + 2] !== SLASH) return undefined;
  for (let at = 0; at < colon; at++) if ((url[at] as number) <= SPACE) return undefined;
  const start = colon + 3;
  for (let at = start; at < url.length; at++) {
    const byte = url[at] as number;
    if (byte === SLASH || byte === QUESTION_MARK || byte === HASH || byte === BACKSLASH) {
      return at === start ? undefined : at;
    }
    if (byte <= SPACE || byte >= DELETE) return undefined;
  }
  return url.length;
}

function described(preferences: Preferences): Said {
  const { contentUsage, contentSignal, license } = preferences;
  const isEmpty =
    license.length === 0 &&
    Object.keys(contentUsage).length === 0 &&
    Object.keys(contentSignal).length === 0;
  const json = printableJson(preferences);
  return json.length > LONGEST ? TOO_LONG : { json, isEmpty };
}
