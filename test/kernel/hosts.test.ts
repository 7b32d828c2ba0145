import { describe, expect, it } from 'vitest';
import { TableBuilder } from '../../src/compile/table-builder.js';
import { checkTable } from '../../src/judge/table-memory.js';
import { HostHash } from '../../src/kernel/hashes.js';
import {
  BUCKET_BYTES,
  BUCKET_PASSED,
  BUCKET_SLOTS,
  HEADER_HOST_KEY,
  HOST_KEY_BYTES,
} from '../../src/table/format.js';
import { bucketOf, tagOf } from '../../src/table/places.js';
import { ShardView } from '../../src/view/shard-view.js';
import { Random } from '../random/random.js';
import { kernelOver } from './harness.js';

const run = kernelOver({ 'example.com': 'User-agent: *\nDisallow: /no\n' });

/** The verdict on a URL in a line of text. */
function verdict(url: string): string {
  return run(`${url}\n`, { format: 'text' }).output.split('\t')[0] ?? '';
}

describe('hosts of more than 255 bytes are refused, however they are spelled', () => {
  const label = 'a'.repeat(50);
  const host = (bytes: number): string =>
    `${label}.`
      .repeat(6)
      .slice(0, bytes - 1)
      .concat('b');

  it.each([
    [255, 'unknown'],
    [256, 'invalid'],
    [300, 'invalid'],
  ] as const)('%i bytes', (bytes, expected) => {
    expect(host(bytes)).toHaveLength(bytes);
    for (const url of [
      `http://${host(bytes)}/`,
      `https://${host(bytes)}`,
      `http://${host(bytes).toUpperCase()}/`,
      `http://user@${host(bytes)}:8080/`,
      `http://${host(bytes)}./`,
    ]) {
      expect([url, verdict(url)]).toEqual([url, expected]);
    }
  });
});

describe('hosts with the same bucket and tag, and hosts of full buckets', () => {
  const LETTERS = [...'abcdefghijklmnopqrstuvwxyz'];
  const random = new Random(9);
  const hostAt = (index: number): string => `${random.run(LETTERS, 3, 12)}-${index}.example`;
  /**
   * Among 50,000 hosts some have the same bucket and tag, and some are in another bucket than their
   * home bucket.
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
  const view = new ShardView(table);
  const hash = new HostHash(table.subarray(HEADER_HOST_KEY, HEADER_HOST_KEY + HOST_KEY_BYTES));
  const placeOf = (host: string): string => {
    const hashed = hash.of(Buffer.from(host));
    return `${bucketOf(hashed, buckets)} ${tagOf(hashed)}`;
  };
  const isPassed = (host: string): boolean => {
    const bucket = bucketOf(hash.of(Buffer.from(host)), buckets);
    return table[sections.buckets.start + bucket * BUCKET_BYTES + BUCKET_PASSED] === 1;
  };
  const judged = kernelOver(files);

  it('are judged by their own files', () => {
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

  it('do not match unknown hosts with the same bucket and tag, or with an overflowed bucket', () => {
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
