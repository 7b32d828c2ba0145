import { describe, expect, it } from 'vitest';
import {
  BUCKET_OCTETS,
  BUCKET_PASSED,
  BUCKET_SLOTS,
  HEADER_HOST_KEY,
  HOST_KEY_OCTETS,
} from '../../src/compile/format.js';
import { home, tagOf } from '../../src/compile/home.js';
import { TableBuilder } from '../../src/compile/table-builder.js';
import { checkTable } from '../../src/compile/table-check.js';
import { TableView } from '../../src/compile/table-view.js';
import { HostHash } from '../../src/kernel/host-hash.js';
import { Random } from '../random.js';
import { kernelOver } from './harness.js';

const run = kernelOver({ 'example.com': 'User-agent: *\nDisallow: /no\n' });

/** The verdict on a URL, on a line of text. */
function verdict(url: string): string {
  return run(`${url}\n`, { format: 'text' }).output.split('\t')[0] ?? '';
}

describe('hosts of more than 255 octets are refused, however they are written', () => {
  const label = 'a'.repeat(50);
  const host = (octets: number): string =>
    `${label}.`
      .repeat(6)
      .slice(0, octets - 1)
      .concat('b');

  it.each([
    [255, 'unknown'],
    [256, 'invalid'],
    [300, 'invalid'],
  ] as const)('%i octets', (octets, expected) => {
    expect(host(octets)).toHaveLength(octets);
    for (const url of [
      `http://${host(octets)}/`,
      `https://${host(octets)}`,
      `http://${host(octets).toUpperCase()}/`,
      `http://user@${host(octets)}:8080/`,
      `http://${host(octets)}./`,
    ]) {
      expect([url, verdict(url)]).toEqual([url, expected]);
    }
  });
});

describe('hosts that a bucket does not tell apart, or has no room for', () => {
  const LETTERS = [...'abcdefghijklmnopqrstuvwxyz'];
  const random = new Random(9);
  const hostAt = (index: number): string => `${random.run(LETTERS, 3, 12)}-${index}.example`;
  /**
   * Of 50,000 hosts some have bucket and tag in common, and some must do with another bucket than
   * their home.
   */
  const names = Array.from({ length: 50_000 }, (_, index) => hostAt(index));
  const files = Object.fromEntries(
    names.map((host, index) => [host, `User-agent: *\nDisallow: /${index % 7}\n`]),
  );
  const builder = new TableBuilder();
  for (const [host, body] of Object.entries(files)) {
    builder.add({ scheme: undefined, host, port: undefined }, Buffer.from(body), { source: host });
  }
  const table = builder.build();
  const { buckets, sections } = checkTable(table, 'table');
  const view = new TableView(table);
  const hash = new HostHash(table.subarray(HEADER_HOST_KEY, HEADER_HOST_KEY + HOST_KEY_OCTETS));
  const placeOf = (host: string): string => {
    const hashed = hash.of(Buffer.from(host));
    return `${home(hashed, buckets)} ${tagOf(hashed)}`;
  };
  const isPassed = (host: string): boolean => {
    const bucket = home(hash.of(Buffer.from(host)), buckets);
    return table[sections.buckets.start + bucket * BUCKET_OCTETS + BUCKET_PASSED] === 1;
  };
  const judged = kernelOver(files);

  it('are judged by what each of them says', () => {
    const places = names.map(placeOf);
    expect(new Set(places).size).toBeLessThan(names.length);
    expect(names.filter(isPassed).length).toBeGreaterThan(BUCKET_SLOTS * 10);
    for (const rule of [1, 5]) {
      const lines = names.map((host) => `https://${host}/${rule}\n`);
      const expected = lines.map(
        (line, index) => `${index % 7 === rule ? 'deny' : 'allow'}\t${line}`,
      );
      const { output } = judged(lines.join(''), { format: 'text' });
      expect(output === expected.join('')).toBe(true);
    }
    for (let index = 0; index < names.length; index += 97) {
      expect(view.find(names[index] as string)?.host).toBe(names[index]);
    }
  });

  it('and others are unknown whose bucket and tag are those of one, or whose bucket is passed', () => {
    const places = new Set(names.map(placeOf));
    const alike: string[] = [];
    const passed: string[] = [];
    for (let index = names.length; alike.length < 20; index++) {
      const host = hostAt(index);
      if (places.has(placeOf(host))) alike.push(host);
      else if (isPassed(host)) passed.push(host);
    }
    expect(passed.length).toBeGreaterThan(100);
    for (const host of [...alike, ...passed]) {
      expect(judged(`https://${host}/1\n`, { format: 'text' }).output).toBe(
        `unknown\thttps://${host}/1\n`,
      );
      expect(view.find(host)).toBeUndefined();
    }
  });
});
