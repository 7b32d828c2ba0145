import { describe, expect, it } from 'vitest';
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
