import { describe, expect, it } from 'vitest';
import { GuardedKernel, guardedMemory } from '../../../fuzz/kernel/guarded-kernel.js';
import { RobotsFilterError } from '../../../src/base/errors.js';
import { TableBuilder } from '../../../src/compile/table-builder.js';
import { checkTable } from '../../../src/judge/table-memory.js';
import { kernelModule } from '../../../src/kernel/kernel.js';
import { HEADER_AUTOMATA, HEADER_RULES } from '../../../src/table/format.js';
import { type VerifiedTable, verifyShard } from '../../../src/verify/verify-table.js';
import { ShardView } from '../../../src/view/shard-view.js';
import { type MeteredKernel, meteredKernel } from '../../linear/metered-kernel.js';
import { cases } from '../../random/cases.js';
import { Random } from '../../random/random.js';
import { contentsOf, urlsOf } from './contents.js';
import { fieldsOf } from './fields.js';
import { Forger } from './forgery.js';
import { crowdedTable, datedTable, richTable, sealed, wideTable } from './tables.js';

const AGENTS = [
  { name: 'bot', chain: ['bot'] },
  { name: 'other', chain: ['many', 'other-bot'] },
];

/**
 * Paths that try to leave the table: long paths, of bytes from canonical forms and of texts that
 * wildcards match.
 */
const HOSTILE = [
  `/${'a'.repeat(2000)}`,
  `/s/${'a0x'.repeat(400)}$`,
  `/x${'%41%2f%3a'.repeat(200)}?b/c${'z'.repeat(40)}`,
  `/e/z${'n'.repeat(700)}`,
  '/robots.txt',
  '/?',
  '',
];

/** A time within the histories of `datedTable`, in seconds since 1970. */
const TIME = 1_700_000_000 + 3 * 86_400;

/** The counts of a verified table; `undefined` if the table was refused. */
function verified(table: Uint8Array): VerifiedTable | undefined {
  try {
    return verifyShard(table, checkTable(table, 'it'), 'it');
  } catch (error) {
    if (error instanceof RobotsFilterError && error.code === 'table') return undefined;
    throw error;
  }
}

let meter: MeteredKernel | undefined;
const build = { module: kernelModule(), memory: guardedMemory() };
const kernel = new GuardedKernel(build, {
  instantiate: (_module, memory) => {
    meter = meteredKernel(memory);
    return meter.kernel;
  },
});

/**
 * Asks for verdicts and explanations; asserts that they take no more steps than a table with this
 * many rules may cost.
 */
function judge(table: Uint8Array, { rules, groups }: VerifiedTable, google: boolean): number {
  const view = new ShardView(table, 'it');
  expect([...contentsOf(view.at(TIME))].length).toBeGreaterThan(0);
  // Everything that people read of the table: reading finds no damage in a verified table.
  expect([...contentsOf(view)].length).toBeGreaterThan(0);
  kernel.load(table);
  const [host] = view.hosts();
  const urls = urlsOf(view, 60);
  for (const path of HOSTILE) {
    urls.push(`https://${host?.host}${path}`, `http://b.example${path}`, `http://c.example${path}`);
  }
  const asked = { google, agents: AGENTS, explain: true, seenSlots: 10 * 1000 };
  const query = kernel.ask(asked);
  const then = kernel.ask({ ...asked, at: TIME });
  const input = urls.map((url) => `${JSON.stringify({ url })}\n`);
  let ran = 0;
  for (let from = 0; from < input.length; from += 24) {
    const lines = input.slice(from, from + 24).join('');
    meter?.takeSteps();
    const { output } = kernel.run(from % 48 === 0 ? then : query, Buffer.from(lines));
    // The kernel ran in two surroundings.
    const steps = (meter?.takeSteps() ?? 0) / 2;
    const ofByte = 40 + 3 * AGENTS.length * (rules + groups);
    expect(steps).toBeLessThan(ofByte * (lines.length + 24 * 500));
    // Every record is there and is JSON, whatever texts the table has.
    const records = output.split('\n').slice(0, -1);
    expect(records.length).toBe(Math.min(24, input.length - from));
    for (const record of records) JSON.parse(record);
    ran += records.length;
  }
  return ran;
}

describe('a forged table that still verifies', () => {
  it.each([
    ['rich', richTable(), false, cases(60)],
    ['google', richTable('google'), true, cases(60)],
    ['wide', wideTable(), false, cases(40)],
    ['crowded', crowdedTable(), false, cases(80)],
    ['dated', datedTable(), false, cases(60)],
  ] as const)(
    'is read without a trap, within bounds and in time: %s',
    (_what, table, google, rounds) => {
      const random = new Random(23);
      const forger = new Forger(table, fieldsOf(table));
      let refused = 0;
      let passed = 0;
      let records = 0;
      for (let round = 0; round < rounds; round++) {
        const forgery = forger.forge(random);
        const found = verified(forgery);
        if (found === undefined) {
          refused++;
          continue;
        }
        passed++;
        records += judge(forgery, found, google);
      }
      expect(refused).toBeGreaterThan(rounds / 3);
      expect(passed).toBeGreaterThan(rounds / 40);
      expect(records).toBeGreaterThan(20 * passed);
    },
  );

  it('exceeds the budget of a URL if thousands of groups name one deep automaton', () => {
    const path = `/${'a'.repeat(16_000)}`;
    const builder = new TableBuilder();
    const robots = `${'user-agent: *\nallow: /\nuser-agent: b\nallow: /b\n'.repeat(5000)}user-agent: deep\nallow: ${path}\n`;
    const authority = { scheme: undefined, host: 'a.example', port: undefined };
    builder.add(authority, Buffer.from(robots), { source: '' });
    const table = builder.build();
    // All groups of * now name the automaton of the last group: their own automaton is gone.
    const groups = fieldsOf(table).filter(({ name }) => name === 'automaton');
    const words = new DataView(table.buffer, table.byteOffset);
    const shallow = words.getUint32(groups[0]?.at ?? 0, true);
    const deep = words.getUint32(groups.at(-1)?.at ?? 0, true);
    const copy = Buffer.from(table);
    for (const { at } of groups)
      if (words.getUint32(at, true) === shallow) copy.writeUInt32LE(deep, at);
    copy.fill(0, shallow, shallow + words.getUint16(shallow + 1, true));
    for (const count of [HEADER_AUTOMATA, HEADER_RULES]) {
      copy.writeUInt32LE(words.getUint32(count, true) - 1, count);
    }
    const forgery = sealed(copy);
    expect(verified(forgery)).toMatchObject({ groups: 10_001, automata: 2, rules: 2 });
    expect([...contentsOf(new ShardView(forgery, 'it'))].length).toBeGreaterThan(0);
    kernel.load(forgery);
    const query = kernel.ask({ explain: true });
    const input = Buffer.from(`${JSON.stringify({ url: `http://a.example${path}` })}\n`);
    expect(kernel.run(query, input).output).toContain('"reason":"over-budget"');
  });
});
