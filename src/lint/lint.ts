import type { KnownAgent } from '../agents/known-agent.js';
import type { Authority } from '../protocol/authority.js';
import { type AgentNames, agentNames } from './checks/check.js';
import { checkDecisions } from './checks/decisions.js';
import { checkEncoding, checkFormat } from './checks/encoding.js';
import { checkGroups } from './checks/groups.js';
import { checkOpinions } from './checks/opinions.js';
import { checkPatterns } from './checks/patterns.js';
import { checkPreferences } from './checks/preferences.js';
import { checkInvisible, checkRecords } from './checks/records.js';
import { checkSitemaps } from './checks/sitemaps.js';
import { checkTemplates } from './checks/templates.js';
import { checkUserAgents } from './checks/user-agents.js';
import { type DocumentLine, RobotsDocument } from './document.js';
import { type Edit, type Finding, FindingList, type ListOptions } from './finding.js';
import type { LintRuleName } from './rules.js';

/** Checks, in the order in which they run. The findings come in the order of the file. */
const CHECKS = [
  checkInvisible,
  checkTemplates,
  checkRecords,
  checkUserAgents,
  checkGroups,
  checkPatterns,
  checkSitemaps,
  checkPreferences,
  checkDecisions,
  checkOpinions,
] as const;

export interface LinterOptions extends ListOptions {
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
