import type { PlacedFile, PlacedGroup } from '../protocol/file-parser.js';
import { groupsByProductToken } from '../protocol/groups.js';
import type { Profile } from '../protocol/profile.js';
import type { RulePlaces } from '../protocol/rule-places.js';
import { ACCESS_UNREACHABLE } from '../table/format.js';
import { AutomatonCompiler } from './automaton/automaton-compiler.js';
import type { CompiledRobots } from './compiled-robots.js';
import type { TokenList } from './robots-record.js';

const ANY_TOKEN = '*';

/** Compiles the groups of parsed robots.txt files into automata and records. */
export class RobotsCompiler {
  readonly #into: CompiledRobots;
  readonly #profile: Profile;
  readonly #kept: ReadonlySet<string> | undefined;
  readonly #automata = new AutomatonCompiler();

  /** @param kept the product tokens, besides `*`, whose groups count; `undefined` for all */
  constructor(into: CompiledRobots, profile: Profile, kept: ReadonlySet<string> | undefined) {
    this.#into = into;
    this.#profile = profile;
    this.#kept = kept;
  }

  /**
   * Compiles a file; returns the number of its record. A file over its budget denies everything.
   */
  compile(file: PlacedFile): number {
    if (file.overBudget) return this.#into.addAccessResult(ACCESS_UNREACHABLE);
    const compiled = new Map<PlacedGroup, readonly [number, number]>();
    const lists: TokenList[] = [];
    for (const [token, groups] of groupsByProductToken(file.groups, this.#profile)) {
      if (this.#kept !== undefined && token !== ANY_TOKEN && !this.#kept.has(token)) {
        this.#into.noteToken(token);
        continue;
      }
      const list: number[] = [];
      for (const group of groups) {
        let pair = compiled.get(group);
        if (pair === undefined) {
          pair = this.#compileGroup(file.rules, group);
          compiled.set(group, pair);
        }
        list.push(pair[0], pair[1]);
      }
      lists.push([this.#into.numberOf(token), list]);
    }
    return this.#into.addSuccessful(lists);
  }

  /**
   * Compiles a group; returns its automaton plus one, and the line that the lines of its rules are
   * relative to. Both are 0 if no rule can match.
   */
  #compileGroup(
    rules: RulePlaces,
    { firstRule, rulesEnd }: PlacedGroup,
  ): readonly [number, number] {
    const automaton = this.#automata.compile(rules, firstRule, rulesEnd, this.#profile);
    if (automaton === undefined) return [0, 0];
    return [this.#into.automata.add(automaton) + 1, this.#automata.firstLine];
  }
}
