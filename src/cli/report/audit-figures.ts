import type { Reach } from '../../inspect/reach.js';
import type { AccessResult } from '../../protocol/access.js';
import { RECORD_FIGURES, type RecordFigure } from './record-figures.js';

/** How much is allowed, or that the host is not known. */
export type Allowed = Reach | 'unknown';

/** Whose group decides: the agent's own, that of `*`, or none. */
export type Decider = 'own' | 'any' | 'nobody';

/** The counts of hosts for one agent. */
export type AgentFigures = Record<Allowed, number> & {
  readonly agent: string;
  /** Hosts by whose group decides. */
  readonly by: Record<Decider, number>;
};

/** A host, and what it allows to each agent in the order of the agents. */
export interface HostFigures {
  readonly host: string;
  readonly allowed: readonly Allowed[];
}

/** Every figure of an audit. docs/cli.md describes the JSON; `schema` names its version. */
export interface AuditFigures {
  readonly schema: 'robots-filter/audit/1';
  readonly source: string;
  readonly profile: string;
  /** The time of the audit: ISO 8601. */
  readonly created: string;
  /** Hosts, each authority counted on its own. */
  readonly hosts: number;
  readonly agents: readonly AgentFigures[];
  readonly access: Readonly<Record<AccessResult | 'unknown', number>>;
  /** Hosts with records of a kind; `null` if the table keeps no records. */
  readonly records: Readonly<Record<RecordFigure, number>> | null;
  /** The hosts that allow nothing to most agents. */
  readonly strictest: readonly HostFigures[];
}

/** Hosts in `strictest`. */
const STRICTEST = 100;

/** What the audit found at a host for one agent. */
export interface AgentFinding {
  readonly allowed: Allowed;
  readonly by: Decider;
}

/** Counts the hosts of an audit. Memory does not grow with their number. */
export class AuditTally {
  readonly agents: readonly AgentFigures[];
  readonly #access = { successful: 0, unavailable: 0, unreachable: 0, unknown: 0 };
  readonly #records: Record<RecordFigure, number> = Object.fromEntries(
    RECORD_FIGURES.map((kind) => [kind, 0]),
  ) as Record<RecordFigure, number>;
  /** Hosts by the number of agents that may fetch nothing: index is the number. */
  readonly #strict: HostFigures[][];
  #hosts = 0;

  constructor(agents: readonly string[]) {
    this.agents = agents.map((agent) => ({
      agent,
      all: 0,
      part: 0,
      none: 0,
      unknown: 0,
      by: { own: 0, any: 0, nobody: 0 },
    }));
    this.#strict = Array.from({ length: agents.length + 1 }, () => []);
  }

  /**
   * Counts a host.
   *
   * @param access `undefined` for a host that is not known
   * @param kinds the kinds of records that its robots.txt has
   */
  add(
    host: string,
    findings: readonly AgentFinding[],
    access: AccessResult | undefined,
    kinds: ReadonlySet<string>,
  ): void {
    this.#hosts++;
    this.#access[access ?? 'unknown']++;
    let none = 0;
    for (let index = 0; index < findings.length; index++) {
      const { allowed, by } = findings[index] as AgentFinding;
      const figures = this.agents[index] as AgentFigures;
      figures[allowed]++;
      if (access === 'successful') figures.by[by]++;
      if (allowed === 'none') none++;
    }
    for (const kind of kinds) {
      if (kind in this.#records) this.#records[kind as RecordFigure]++;
    }
    const alike = this.#strict[none];
    if (none > 0 && alike !== undefined && alike.length < STRICTEST) {
      alike.push({ host, allowed: findings.map(({ allowed }) => allowed) });
    }
  }

  /** The figures of the hosts that were counted. */
  figures(
    about: Pick<AuditFigures, 'source' | 'profile' | 'created'>,
    hasRecords: boolean,
  ): AuditFigures {
    return {
      schema: 'robots-filter/audit/1',
      ...about,
      hosts: this.#hosts,
      agents: this.agents,
      access: this.#access,
      records: hasRecords ? this.#records : null,
      strictest: this.#strict.toReversed().flat().slice(0, STRICTEST),
    };
  }
}
