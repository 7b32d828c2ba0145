import { describe, expect, it } from 'vitest';
import { readRequest } from '../../fuzz/request.js';
import { TARGETS } from '../../fuzz/targets/index.js';

const KNOWN = Object.keys(TARGETS).join(', ');

describe('the words after npm run fuzz --', () => {
  it.each([['--help'], ['-h'], ['nosuch', '--help']])('ask for help: %s %s', (...words) => {
    expect(readRequest(words)).toEqual({ kind: 'help' });
  });

  it.each([
    ['nosuch', `nosuch is not a target. The targets: ${KNOWN}`],
    ['url toString', `toString is not a target. The targets: ${KNOWN}`],
    ['', `name a target: ${KNOWN}`],
    ['url --nosuch', "Unknown option '--nosuch'"],
    ['url --time 5', '--time 5: expected a number and s, m or h'],
    ['url --time s', '--time : expected a whole number'],
    ['url --runs 1.5', '--runs 1.5: expected a whole number'],
  ])('are wrong: %j', (words, message) => {
    const request = readRequest(words === '' ? [] : words.split(' '));
    expect(request).toEqual({ kind: 'mistake', message: expect.stringContaining(message) });
  });

  it('name targets and limits', () => {
    expect(readRequest(['url', 'csv', '--time', '10m', '--seed', '7', '--keep'])).toEqual({
      kind: 'fuzz',
      names: ['url', 'csv'],
      milliseconds: 600_000,
      runs: Number.POSITIVE_INFINITY,
      seed: 7,
      patience: 10_000,
      keep: true,
      input: undefined,
    });
    expect(readRequest(['url', '--input', 'x'])).toMatchObject({ kind: 'replay', input: 'x' });
    expect(readRequest(['--replay'])).toMatchObject({ names: Object.keys(TARGETS) });
  });
});
