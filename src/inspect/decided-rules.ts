import type { MergedGroup, TableAuthority, TableHost, TableRule } from './table-content.js';
import type { TableView } from './table-view.js';

/** A rule of a table, and the robots.txt that has it. */
export interface PlacedRule {
  readonly host: TableHost;
  readonly authority: TableAuthority;
  readonly rule: TableRule;
  /** The merged group that has the rule, and all its rules by line, ascending. */
  readonly group: MergedGroup;
  readonly rules: ReadonlyMap<number, TableRule>;
}

/** A group, and its rules by line. */
interface ReadGroup {
  readonly group: MergedGroup;
  readonly rules: ReadonlyMap<number, TableRule>;
}

/** Finds rules by the place that the kernel reports: an authority, and a line. */
export class DecidedRules {
  readonly #view: TableView;
  /** The groups of the robots record that was read last: neighbours often share a record. */
  #robots = 0;
  #groups: readonly ReadGroup[] = [];

  constructor(view: TableView) {
    this.#view = view;
  }

  /**
   * Finds a rule.
   *
   * @param authority offset of the authority
   * @throws RobotsFilterError `table` if the table has no such rule
   */
  find(authority: number, line: number): PlacedRule {
    const host = this.#view.hostAt(this.#view.placeOfAuthority(authority));
    const own = host.authorities.find(({ at }) => at === authority);
    if (own !== undefined) {
      for (const { group, rules } of this.#groupsOf(own.robots)) {
        const rule = rules.get(line);
        if (rule !== undefined) return { host, authority: own, rule, group, rules };
      }
    }
    throw this.#view.reader.damaged(`the authority at ${authority} has no rule on line ${line}`);
  }

  #groupsOf(robots: number): readonly ReadGroup[] {
    if (robots !== this.#robots) {
      this.#groups = this.#view.groups(robots).map((group) => {
        const rules = new Map(this.#view.rules(group).map((rule) => [rule.line, rule]));
        return { group, rules };
      });
      this.#robots = robots;
    }
    return this.#groups;
  }
}
