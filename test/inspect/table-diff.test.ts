import { describe, expect, it } from 'vitest';
import { TableBuilder } from '../../src/compile/table-builder.js';
import { type AgentChange, TableDiff } from '../../src/inspect/table-diff.js';
import { parseAgent } from '../../src/protocol/agent.js';
import { Table, tableMemory } from '../../src/table.js';
import { cases } from '../random/cases.js';
import { Random } from '../random/random.js';

const HOST = { scheme: undefined, host: 'a.example', port: undefined };
const FILES = cases(60);

function tableOf(robots: string): Table {
  const builder = new TableBuilder();
  builder.add(HOST, new TextEncoder().encode(robots), { source: '' });
  return Table.from(builder.build());
}

function changesOf(old: Table, next: Table): readonly AgentChange[] {
  const [one, other] = [tableMemory(old).view, tableMemory(next).view];
  const sides = [one, other].map((view) => view.find(HOST.host)?.authorities[0]);
  const diff = new TableDiff(one, other, [parseAgent('bot', 'rfc9309')], false);
  if (sides[0] === undefined || sides[1] === undefined) throw new Error('no host');
  return diff.changes(sides[0], sides[1]);
}

/** All paths of up to four characters. */
function shortPaths(alphabet: string): string[] {
  const paths = ['/'];
  for (let from = 0; from < paths.length; from++) {
    const path = paths[from] ?? '';
    if (path.length < 5) for (const character of alphabet) paths.push(path + character);
  }
  return paths;
}

const PATHS = shortPaths('ab/');

function differs(old: Table, next: Table): boolean {
  return PATHS.some((path) => {
    const url = `https://a.example${path}`;
    return old.verdict(url, 'bot').verdict !== next.verdict(url, 'bot').verdict;
  });
}

function drawRules(random: Random, wildcards: boolean): string {
  const rules = Array.from({ length: random.between(0, 3) }, () => {
    let pattern = '/';
    for (let left = random.between(0, 3); left > 0; left--) {
      pattern += 'ab/*'[random.between(0, wildcards ? 3 : 2)];
    }
    if (random.chance(0.2)) pattern += '$';
    return `${random.chance(0.4) ? 'Allow' : 'Disallow'}: ${pattern}\n`;
  });
  return `User-agent: *\n${rules.join('')}`;
}

describe('the changes between two files', () => {
  it('without wildcards are found exactly when the verdict on some path differs', () => {
    const random = new Random(28);
    let different = 0;
    for (let file = 0; file < FILES; file++) {
      const [old, next] = [drawRules(random, false), drawRules(random, false)];
      const [one, other] = [tableOf(old), tableOf(next)];
      const isDifferent = differs(one, other);
      if (isDifferent) different++;
      expect(changesOf(one, other).length > 0, `${old}\n${next}`).toBe(isDifferent);
    }
    expect(different).toBeGreaterThan(FILES / 4);
    expect(different).toBeLessThan(FILES - FILES / 20);
  });

  it('with wildcards are never found between files that agree on all paths', () => {
    const random = new Random(29);
    let [same, found] = [0, 0];
    for (let file = 0; file < FILES; file++) {
      const [old, next] = [drawRules(random, true), drawRules(random, true)];
      const [one, other] = [tableOf(old), tableOf(next)];
      const changes = changesOf(one, other);
      if (changes.length > 0) found++;
      if (differs(one, other)) continue;
      same++;
      // Paths of other characters may differ where the short ones do not.
      for (const { witnesses, old: from, new: to } of changes) {
        expect(witnesses.some((path) => path.includes(0xff)) || from !== to).toBe(true);
      }
    }
    expect(same).toBeGreaterThan(FILES / 20);
    expect(found).toBeGreaterThan(FILES / 4);
  });

  it('leave out what has no effect: comments, order, rules that never decide', () => {
    const old = tableOf('User-agent: *\nDisallow: /a\nAllow: /b\n');
    for (const text of [
      '# note\nuser-agent: *\n\nAllow: /b\nDisallow: /a\n',
      'User-agent: *\nDisallow: /a\nDisallow: /ab\nAllow: /b\n',
      'User-agent: bot\nDisallow: /a\nUser-agent: *\nDisallow: /\n',
      'User-agent: *\nDisallow: /a*\nDisallow: /a\n',
    ]) {
      expect(changesOf(old, tableOf(text))).toEqual([]);
    }
  });
});
