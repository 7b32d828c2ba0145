import { type AutomatonView, automatonAt, rulesOf } from '../../../src/view/automaton-view.js';
import type { ShardView } from '../../../src/view/shard-view.js';

/** Everything that can be read of a table. */
export function* contentsOf(view: ShardView): Iterable<unknown> {
  for (const token of view.tokens()) yield [token, view.tokenNumber(token)];
  const read = new Set<number>();
  for (const host of view.hosts()) {
    yield [host, view.find(host.host)];
    for (const authority of host.authorities) {
      yield view.recordsOf(authority);
      yield authority.source;
      const versions = view.versionsOf(authority);
      for (const { since, confirmed, version } of versions) {
        yield [since, confirmed, version, version.source];
      }
      for (const { robots } of [authority, ...versions.map(({ version }) => version)]) {
        if (read.has(robots)) continue;
        read.add(robots);
        for (const group of view.groups(robots)) yield [group, rulesOf(view, group)];
      }
    }
  }
  for (const automaton of automataOf(view)) yield automaton.counts();
}

/** Paths that lead to this many of a table's rules, on hosts that have these rules. */
export function urlsOf(view: ShardView, most: number): string[] {
  const urls: string[] = [];
  const read = new Set<number>();
  for (const { host, authorities } of view.hosts()) {
    for (const { robots, schemes, port } of authorities) {
      const origin = `${schemes[0]}://${host}${port === undefined ? '' : `:${port}`}`;
      if (read.has(robots)) {
        if (urls.length < most) urls.push(`${origin}/`);
        continue;
      }
      read.add(robots);
      for (const group of view.groups(robots)) {
        for (const { text } of rulesOf(view, group)) {
          if (urls.length >= most) return urls;
          // Texts are escaped as in a JSON string.
          const pattern = JSON.parse(`"${text}"`) as string;
          const path = pattern.replace(/\$$/, '').replaceAll('*', '/q');
          urls.push(`${origin}${path}`, `${origin}${path}?x=%2F%c3%bc#z`);
        }
      }
    }
  }
  return urls;
}

/** Yields all automata, in the order in which the hosts refer to them. */
export function* automataOf(view: ShardView): Iterable<AutomatonView> {
  const seen = new Set([0]);
  for (const { authorities } of view.hosts()) {
    for (const { robots } of authorities) {
      if (seen.has(robots)) continue;
      seen.add(robots);
      for (const { groups } of view.groupsAndSignals(robots)) {
        for (const { automaton: at } of groups) {
          if (seen.has(at)) continue;
          seen.add(at);
          yield automatonAt(view, at);
        }
      }
    }
  }
}
