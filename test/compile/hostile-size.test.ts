import { afterEach, describe, expect, it, vi } from 'vitest';
import { TableBuilder } from '../../src/compile/table-builder.js';
import { checkTable } from '../../src/judge/table-memory.js';
import type { Profile } from '../../src/protocol/verdict.js';
import { rulesOf } from '../../src/view/automaton-view.js';
import { ShardView } from '../../src/view/shard-view.js';
import { automataOf } from '../inspect/verify/contents.js';
import { mostTableBytes } from '../linear/growth.js';

const LIMIT = 50_000;

/** The lines that `line` makes, as many as fit into the parsing limit. */
function lines(line: (index: number) => string): string {
  const all: string[] = [];
  let bytes = 0;
  for (let index = 0; bytes < LIMIT; index++) {
    const next = line(index);
    bytes += next.length + 1;
    if (bytes < LIMIT) all.push(next);
  }
  return `${all.join('\n')}\n`;
}

const ONE_GROUP = 'user-agent: *\n';

const BODIES: readonly (readonly [string, string])[] = [
  [
    '5,000 tokens of a group of 5,000 rules',
    `${Array.from({ length: 5_000 }, (_, index) => `user-agent: ${letters(index)}`).join('\n')}\n` +
      Array.from({ length: 5_000 }, (_, index) => `allow: /${index}`).join('\n'),
  ],
  [
    'a group for every second line',
    lines((index) => (index % 2 === 0 ? 'user-agent:a' : 'allow:/')),
  ],
  [
    'as many tokens as groups, each in two of them',
    lines((index) => {
      const group = Math.floor(index / 3);
      return index % 3 === 2 ? `allow:/${group}` : `user-agent:${letters(group + (index % 3))}`;
    }),
  ],
  ['one pattern of two forms', `${ONE_GROUP}allow: /${'*%2F'.repeat(LIMIT / 4)}\n`],
  ['short patterns of two forms', ONE_GROUP + lines((index) => `allow:*%2F${index}`)],
  ['one pattern of wildcards', `${ONE_GROUP}allow: /${'*a'.repeat(LIMIT / 2)}\n`],
  ['one pattern of stars', `${ONE_GROUP}allow: /${'*'.repeat(LIMIT)}a\n`],
  ['one long literal', `${ONE_GROUP}allow: /${'a'.repeat(LIMIT)}\n`],
  ['one long literal of control characters', `${ONE_GROUP}allow: /${'\x01'.repeat(LIMIT)}\n`],
  ['prefixes of one another', ONE_GROUP + lines((index) => `allow: /${'a'.repeat(index)}`)],
  [
    'prefixes of one another, with `$` and `*b`',
    ONE_GROUP + lines((index) => `allow: /${'a'.repeat(index / 3)}${['', '$', '*b'][index % 3]}`),
  ],
  [
    'thousands of prefixes that share',
    ONE_GROUP + lines((index) => `allow:/${index.toString(36)}`),
  ],
  ['short rules of `*`', ONE_GROUP + lines((index) => `allow:*${index.toString(36)}`)],
  ['rules at their own node', ONE_GROUP + lines((index) => `allow:/${index.toString(36)}*a`)],
  [
    'rules of control characters',
    ONE_GROUP + lines((index) => `allow:/*${'\x01'.repeat(980)}${index}`),
  ],
  ['rules of no UTF-8', ONE_GROUP + lines((index) => `allow:/${'\xff'.repeat(500)}${index}`)],
  ['names of crawlers alone', lines((index) => `user-agent:${letters(index)}`)],
];

/** A product token for each number. */
function letters(index: number): string {
  let token = '';
  for (let rest = index; ; rest = Math.floor(rest / 26) - 1) {
    token += String.fromCharCode(97 + (rest % 26));
    if (rest < 26) return token;
  }
}

describe('no body makes a table out of proportion to its size', () => {
  it.each(BODIES)('%s', (_what, text) => {
    const body = Uint8Array.from(text, (character) => character.charCodeAt(0));
    expect(body.length).toBeGreaterThan(35_000);
    for (const profile of ['rfc9309', 'google'] as const satisfies Profile[]) {
      const builder = new TableBuilder({ profile });
      builder.add({ scheme: undefined, host: 'h', port: undefined }, body, { source: 'h' });
      const table = builder.build();
      expect(table.length).toBeLessThan(mostTableBytes(body.length));
      const header = checkTable(table, 'table');
      // All of the table can be read back.
      const view = new ShardView(table);
      let rules = 0;
      for (const automaton of automataOf(view)) rules += automaton.counts().rules;
      expect(rules).toBe(header.rules);
      for (const { robots } of view.find('h')?.authorities ?? []) {
        for (const group of view.groups(robots).slice(0, 3)) rulesOf(view, group);
      }
    }
  });

  it('labels are shared: a trie of prefixes has the size of the longest prefix, plus the texts of the rules', () => {
    const text = ONE_GROUP + lines((index) => `allow: /${'a'.repeat(index)}`);
    const builder = new TableBuilder();
    builder.add({ scheme: undefined, host: 'h', port: undefined }, new TextEncoder().encode(text), {
      source: 'h',
    });
    expect(builder.build().length).toBeLessThan(1.1 * text.length);
  });
});

describe('no site owners can make a compilation impossible for everybody', () => {
  afterEach(() => {
    vi.restoreAllMocks();
  });

  it('no Map or Set holds the product tokens of all hosts: V8 lets both have 2^24 entries', () => {
    const LEAST_OF_ALL = 10_000;
    const { set } = Map.prototype;
    const { add } = Set.prototype;
    vi.spyOn(Map.prototype, 'set').mockImplementation(function (
      this: Map<unknown, unknown>,
      ...to
    ) {
      if (this.size === LEAST_OF_ALL) throw new RangeError('Map maximum size exceeded');
      return set.apply(this, to);
    });
    vi.spyOn(Set.prototype, 'add').mockImplementation(function (this: Set<unknown>, ...to) {
      if (this.size === LEAST_OF_ALL) throw new RangeError('Set maximum size exceeded');
      return add.apply(this, to);
    });
    const builder = new TableBuilder();
    const ofHost = (host: number): string[] =>
      Array.from({ length: 2_000 }, (_, index) => letters(2_000 * host + index));
    for (let host = 0; host < 10; host++) {
      const names = ofHost(host).map((token) => `user-agent: ${token}\n`);
      builder.add(`h${host}.example`, `${names.join('')}disallow: /${host}\n`);
    }
    const table = builder.build();
    vi.restoreAllMocks();
    const view = new ShardView(table);
    const sorted = Array.from({ length: 10 }, (_, host) => ofHost(host))
      .flat()
      .sort();
    expect([...view.tokens()]).toEqual(['*', '', ...sorted]);
  });
});
