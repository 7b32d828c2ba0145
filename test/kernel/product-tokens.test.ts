import { describe, expect, it } from 'vitest';
import { parseAuthority, Table, TableBuilder } from '../../src/library/index.js';
import { ShardView } from '../../src/view/shard-view.js';
import { Random } from '../random/random.js';

/**
 * The number in letters, as in a product token (RFC 9309 section 2.2.1), in the order of the
 * numbers.
 */
function tokenOf(number: number): string {
  return Array.from(String(number).padStart(6, '0'), (digit) => 'abcdefghij'[Number(digit)]).join(
    '',
  );
}

/**
 * Files by host, each with a group for each of its tokens, or for each that is asked for and one
 * for all others. The group of a token disallows the path of the token's number.
 */
function tableOf(
  files: ReadonlyMap<string, readonly number[]>,
  asked?: readonly number[],
): { table: Table; view: ShardView } {
  const builder = new TableBuilder();
  for (const [host, numbers] of files) {
    const authority = parseAuthority(host);
    if (authority === undefined) throw new Error(`${host} is not an authority`);
    const groups = numbers.map((number) => {
      const rule = asked === undefined || asked.includes(number) ? `Disallow: /${number}-\n` : '';
      return `User-agent: ${tokenOf(number)}\n${rule}`;
    });
    const others = 'User-agent: *\nDisallow: /others-\n';
    builder.add(authority, Buffer.from([others, ...groups].join('\n')), { source: host });
  }
  const bytes = builder.build();
  return { table: Table.from(bytes), view: new ShardView(bytes) };
}

describe('RFC 9309 section 2.2.1: the group of a product token is found among any number of others', () => {
  it('files that name up to 70 of 100 tokens, and every agent', () => {
    const random = new Random(7);
    const files = new Map<string, readonly number[]>();
    const counts = Array.from({ length: 71 }, (_, count) => count).filter(
      (count) => count % 3 === 0 || (count > 60 && count < 68),
    );
    for (const count of counts) {
      const all = Array.from({ length: 100 }, (_, number) => number);
      const chosen = Array.from(
        { length: count },
        () => all.splice(random.between(0, all.length - 1), 1)[0] as number,
      );
      files.set(`host-${count}.example`, chosen);
    }
    const { table } = tableOf(files);
    let named = 0;
    for (const [host, numbers] of files) {
      for (let number = 0; number < 100; number++) {
        const isNamed = numbers.includes(number);
        if (isNamed) named++;
        const path = isNamed ? number : 'others';
        const other = isNamed ? 'others' : number;
        const agent = tokenOf(number);
        expect(table.verdict(`https://${host}/${path}-`, agent)).toMatchObject({
          verdict: 'deny',
          rule: { agent: isNamed ? agent : '*' },
        });
        expect(table.verdict(`https://${host}/${other}-`, agent).verdict).toBe('allow');
      }
    }
    expect(named).toBe(counts.reduce((sum, count) => sum + count));
  });

  it('the first named token of a fallback chain', () => {
    const { table } = tableOf(new Map([['example.com', [1, 2, 3]]]));
    const ruleOf = (chain: readonly number[], path: number | string) =>
      table.verdict(`https://example.com/${path}-`, chain.map(tokenOf).join('>')).rule?.agent;
    expect(ruleOf([9, 2, 1], 2)).toBe(tokenOf(2));
    expect(ruleOf([3, 2, 9], 3)).toBe(tokenOf(3));
    expect(ruleOf([3, 2, 9], 2)).toBeUndefined();
    expect(ruleOf([8, 9], 'others')).toBe('*');
  });

  it.each([
    ['numbers of two bytes', 65_533],
    ['numbers of four bytes', 65_534],
  ])('%s', (_form, count) => {
    // No file can name this many tokens, because of the parsing limit.
    const files = new Map<string, readonly number[]>();
    for (let first = 0; first < count; first += 10_000) {
      const numbers = Array.from(
        { length: Math.min(10_000, count - first) },
        (_, index) => first + index,
      );
      files.set(`from-${first}.example`, numbers);
    }
    files.set('few.example', [5, count - 1]);
    const asked = [0, 1, 15, 16, 17, 9_999, 60_000, count - 2, count - 1];
    const { table, view } = tableOf(files, [5, ...asked]);
    expect(view.tokenNumber(tokenOf(count - 1))).toBe(count + 1); // 0 is `*`, 1 the empty token
    const decides = (host: string, number: number, path: number | string) =>
      table.verdict(`https://${host}/${path}-`, tokenOf(number)).rule?.agent;
    expect(decides('few.example', 5, 5)).toBe(tokenOf(5));
    expect(decides('few.example', count - 1, count - 1)).toBe(tokenOf(count - 1));
    for (const other of [4, 6, count - 2, 999_999]) {
      expect(decides('few.example', other, 'others')).toBe('*');
      expect(decides('few.example', other, 5)).toBeUndefined();
      expect(decides('few.example', other, count - 1)).toBeUndefined();
    }
    for (const number of asked) {
      const first = number - (number % 10_000);
      expect(decides(`from-${first}.example`, number, number)).toBe(tokenOf(number));
      expect(decides(`from-${first}.example`, 999_999, 'others')).toBe('*');
    }
  });
});
