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

/** A group, and its rules by line once they are read. */
interface ReadGroup {
  readonly group: MergedGroup;
  rules: ReadonlyMap<number, TableRule> | undefined;
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
      for (const read of nearestFirst(this.#groupsOf(own.robots), line)) {
        const { group } = read;
        read.rules ??= new Map(this.#view.rules(group).map((each) => [each.line, each]));
        const rule = read.rules.get(line);
        if (rule !== undefined) return { host, authority: own, rule, group, rules: read.rules };
      }
    }
    throw this.#view.reader.damaged(`the authority at ${authority} has no rule on line ${line}`);
  }

  #groupsOf(robots: number): readonly ReadGroup[] {
    if (robots !== this.#robots) {
      this.#groups = this.#view.groups(robots).map((group) => ({ group, rules: undefined }));
      this.#robots = robots;
    }
    return this.#groups;
  }
}

/**
 * All groups, those first whose rules begin last before the line: the rule is theirs, so that few
 * groups of many are read.
 */
function* nearestFirst(groups: readonly ReadGroup[], line: number): Iterable<ReadGroup> {
  let nearest = 0;
  for (const { group } of groups) {
    for (const { firstLine } of group.groups) {
      if (firstLine <= line) nearest = Math.max(nearest, firstLine);
    }
  }
  const isNear = ({ group }: ReadGroup): boolean =>
    group.groups.some(({ firstLine }) => firstLine === nearest);
  for (const group of groups) if (isNear(group)) yield group;
  for (const group of groups) if (!isNear(group)) yield group;
}
