import { beforeAll, describe, expect, it } from 'vitest';
import { TableBuilder } from '../../src/compile/table-builder.js';
import type { Profile } from '../../src/protocol/verdict.js';
import { expectLinear, LOGARITHM, mostTableBytes, type StepsPerByte } from './growth.js';
import { countAllSteps, takeKernelSteps } from './metered-instances.js';

/**
 * Steps to parse, compile and lay out a file, for each byte of the file. Reading a byte takes one
 * step. The highest cost is to deal wildcard rules into buckets, some 1,500 steps for each rule.
 */
const STEPS = { least: 0.9, most: 50 };
const STEPS_OF_WILDCARDS = { least: 0.9, most: 320 };

/**
 * An automaton is written again, in wider fields, if the fields of the first attempt are too small.
 */
const WRITTEN_TWICE = 2 * LOGARITHM;

const SIZES = [6_000, 96_000];
/** Sizes of inputs that take long to count. */
const SHORT = [1_000, 16_000];
/** Up to the usual parsing limit. */
const LONG = [31_000, 496_000];
const MAX_BYTES = 2_000_000;

const GROUP = 'user-agent: *\n';

interface Family {
  readonly file: (bytes: number) => string;
  readonly sizes?: readonly number[];
  readonly steps?: StepsPerByte;
  readonly growth?: number;
  readonly profiles?: readonly Profile[];
}

/** Lines up to this many bytes. */
function lines(line: (index: number) => string): (bytes: number) => string {
  return (bytes) => {
    let text = '';
    for (let index = 0; text.length < bytes; index++) text += `${line(index)}\n`;
    return text;
  };
}

function rules(line: (index: number) => string): (bytes: number) => string {
  const all = lines(line);
  return (bytes) => GROUP + all(bytes);
}

/** A product token for each number. */
function token(index: number): string {
  return Array.from(index.toString(26), (digit) =>
    String.fromCharCode(97 + Number.parseInt(digit, 26)),
  ).join('');
}

const RFC: readonly Profile[] = ['rfc9309'];
const BOTH: readonly Profile[] = ['rfc9309', 'google'];

const FAMILIES: Readonly<Record<string, Family>> = {
  'one comment': { file: (bytes) => '#'.repeat(bytes) },
  'empty lines': { file: (bytes) => '\n'.repeat(bytes), profiles: BOTH },
  colons: { file: (bytes) => ':'.repeat(bytes) },
  'white space around everything': {
    file: rules(() => `allow${' '.repeat(500)}:${'\t'.repeat(500)}/`),
    profiles: BOTH,
  },
  'lines of unknown keys': { file: lines((index) => `x${index}:y`) },
  'lines with NUL': { file: lines(() => 'a\0:b'), profiles: BOTH },
  'crawl-delays in a group of many tokens': {
    file: lines((index) => (index % 2 === 0 ? `user-agent:${token(index)}` : 'crawl-delay:1')),
  },
  'nested wildcards': {
    file: (bytes) => `${GROUP}allow: /${'*a'.repeat(bytes / 2)}`,
    growth: WRITTEN_TWICE,
  },
  'nothing but asterisks': { file: (bytes) => `${GROUP}allow: /${'*'.repeat(bytes)}` },
  'one rule': { file: (bytes) => `${GROUP}allow: /${'a'.repeat(bytes)}`, sizes: LONG },
  'one rule of %': { file: (bytes) => `${GROUP}allow: /${'%'.repeat(bytes)}`, sizes: LONG },
  'one segment of control characters': {
    file: (bytes) => `${GROUP}allow: *${'\x01'.repeat(bytes)}`,
  },
  'rules that share prefixes': {
    file: rules((index) => `allow:/${'p'.repeat(100)}${index.toString(36)}`),
  },
  'thousands of rules that share prefixes and suffixes': {
    file: rules((index) => `allow:/${index.toString(36)}/s`),
    growth: WRITTEN_TWICE,
  },
  'rules that are prefixes of one another': {
    file: rules((index) => `allow:/${'a'.repeat(index)}${['', '$', '*b'][index % 3]}`),
  },
  'wildcard rules that share suffixes': {
    file: rules((index) => `allow:*${index.toString(36)}${'s'.repeat(100)}`),
    growth: WRITTEN_TWICE,
  },
  'short wildcard rules': {
    file: rules((index) => `allow:*${index.toString(36)}`),
    sizes: SHORT,
    steps: STEPS_OF_WILDCARDS,
    growth: WRITTEN_TWICE,
  },
  'wildcard rules of two forms': {
    file: rules((index) => `allow:*%2F${index.toString(36)}`),
    sizes: SHORT,
    steps: STEPS_OF_WILDCARDS,
    growth: WRITTEN_TWICE,
  },
  'the same rule': { file: rules(() => 'allow:/a*b') },
  'directories with an index': {
    file: rules((index) => `allow:/${index}/index.htm`),
    growth: WRITTEN_TWICE,
    profiles: ['google'],
  },
  'bytes that are no UTF-8': {
    file: rules((index) => `allow:/\xff${index}`),
    growth: WRITTEN_TWICE,
  },
  'a group of one token for every rule': {
    file: lines((index) => (index % 2 === 0 ? 'user-agent:a' : `allow:/${index}*a`)),
  },
  'thousands of agents': { file: lines((index) => `user-agent:${token(index)}`) },
  'one token': { file: (bytes) => `user-agent:${'a'.repeat(bytes)}` },
  'tokens that are prefixes of one another': {
    file: lines((index) => `user-agent:${'a'.repeat(index + 1)}`),
  },
  'tokens of two groups each': {
    file: lines((index) => {
      const group = Math.floor(index / 3);
      return index % 3 === 2 ? `allow:/${group}` : `user-agent:${token(group + (index % 3))}`;
    }),
  },
};

function compile(body: Uint8Array, profile: Profile): Uint8Array {
  const builder = new TableBuilder(
    profile === 'google' ? { profile } : { profile, maxBytes: MAX_BYTES },
  );
  builder.add({ scheme: undefined, host: 'h', port: undefined }, body, { source: 'h' });
  return builder.build();
}

/** What is made once, for all files. */
beforeAll(() => {
  takeKernelSteps();
  compile(new TextEncoder().encode('user-agent: *\ndisallow: /\n'), 'rfc9309');
  // Some functions for each rule: the kernel's steps are counted.
  expect(takeKernelSteps()).toBeGreaterThan(10);
});

describe('a robots.txt is parsed, compiled and laid out in linear time, times the logarithm of a sort', () => {
  for (const [name, family] of Object.entries(FAMILIES)) {
    const { file, sizes = SIZES, steps = STEPS, growth, profiles = RFC } = family;
    it.each(profiles)(`${name}, profile %s`, (profile) => {
      const measured = sizes.map((size) => {
        const body = Uint8Array.from(file(size), (character) => character.charCodeAt(0));
        let table: Uint8Array = new Uint8Array(0);
        const taken = countAllSteps(() => {
          table = compile(body, profile);
        });
        expect(table.length).toBeLessThanOrEqual(mostTableBytes(body.length));
        return { bytes: body.length, steps: taken };
      });
      expectLinear(measured, steps, growth);
    });
  }
});

describe('many files are laid out in linear time, times the logarithm of a sort', () => {
  const body = new TextEncoder().encode('user-agent: *\ndisallow: /\n');

  function stepsOf(count: number, add: (builder: TableBuilder, index: number) => number): number {
    let bytes = 0;
    const steps = countAllSteps(() => {
      const builder = new TableBuilder();
      for (let index = 0; index < count; index++) bytes += add(builder, index);
      builder.build();
    });
    return steps / bytes;
  }

  it.each([
    [
      'hosts that share all but their ends',
      (index: number) => `${'a'.repeat(200)}${index}.example`,
    ],
    ['hosts that share all but their beginnings', (index: number) => `${index}${'.a'.repeat(100)}`],
    ['short hosts', (index: number) => `h${index.toString(36)}`],
  ])('%s', (_what, hostOf) => {
    const add = (builder: TableBuilder, index: number): number => {
      const host = hostOf(index);
      builder.add({ scheme: 'https', host, port: undefined }, body, { source: host });
      return body.length + 2 * host.length;
    };
    const few = stepsOf(250, add);
    expect(few).toBeGreaterThan(1);
    expect(few).toBeLessThan(40);
    expect(stepsOf(4000, add)).toBeLessThan(LOGARITHM * few);
  });

  it('all ports of one host', () => {
    const add = (builder: TableBuilder, index: number): number => {
      builder.add({ scheme: 'https', host: 'h', port: 1 + index }, body, { source: 'h' });
      return body.length;
    };
    const few = stepsOf(250, add);
    expect(few).toBeGreaterThan(1);
    expect(stepsOf(4000, add)).toBeLessThan(LOGARITHM * few);
  });
});
