import { createHash } from 'node:crypto';
import { closeSync, createReadStream, openSync, readFileSync, writeFileSync } from 'node:fs';
import { Writable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { TableBuilder } from '../../src/compile/table-builder.js';
import { RobotsFilterError } from '../../src/errors.js';
import { Filter } from '../../src/pipeline/filter.js';
import { parseAgent } from '../../src/protocol/agent.js';
import { parseAuthority } from '../../src/protocol/authority.js';
import { Table } from '../../src/table.js';
import { Pool } from '../../src/workers/pool.js';
import { TemporaryFiles } from '../pipeline/flow-harness.js';
import { Random } from '../random.js';

const files = new TemporaryFiles();
/** The threads that there are: Node tells of each as it is made. */
const threads = new Set<Worker>();

function onWorker(worker: Worker): void {
  threads.add(worker);
  worker.once('exit', () => threads.delete(worker));
}

const COUNT = 200_000;
let path: string;
let table: Table;
let pool: Pool;

beforeAll(() => {
  process.on('worker', onWorker);
  const builder = new TableBuilder({ profile: 'rfc9309' });
  const authority = parseAuthority('example.com');
  if (authority === undefined) throw new Error('it is an authority');
  const body = 'User-agent: *\nDisallow: /a*b*c\nDisallow: /private/\nDisallow: /*.gif$\n';
  builder.add(authority, Buffer.from(body), { source: 'example.com', status: undefined });
  table = Table.from(builder.build());
  const random = new Random(31);
  const paths = ['a', 'b', 'private/', '.gif', 'x'.repeat(30), '?q', '%41'];
  let lines = '';
  for (let i = 0; i < COUNT; i++) {
    // Bad records need their line's number, and so wait for their turn.
    lines += random.chance(0.001)
      ? `no object ${i}\n`
      : `{"n":${i},"url":"https://example.com/${random.run(paths, 1, 6)}"}\n`;
  }
  path = files.path();
  writeFileSync(path, lines);
  pool = new Pool({ threads: 2 });
});

afterAll(async () => {
  process.off('worker', onWorker);
  await pool.close();
  files.remove();
});

const WAYS = {
  'file to file': async (filter: Filter) => {
    const to = files.path();
    const input = openSync(path, 'r');
    const output = openSync(to, 'w');
    const error = await failure(
      filter.run(
        { kind: 'file', name: 'in', format: 'ndjson', descriptor: input, offset: 0 },
        output,
      ),
    );
    closeSync(input);
    closeSync(output);
    return { octets: readFileSync(to), error };
  },
  'file to stream': async (filter: Filter) => {
    const input = openSync(path, 'r');
    const { output, octets } = gather();
    const error = await failure(
      filter.run(
        { kind: 'file', name: 'in', format: 'ndjson', descriptor: input, offset: 0 },
        output,
      ),
    );
    closeSync(input);
    return { octets: octets(), error };
  },
  'stream to stream': async (filter: Filter) => {
    const { output, octets } = gather();
    const stream = createReadStream(path);
    const error = await failure(
      filter.run({ kind: 'stream', name: 'in', format: 'ndjson', stream }, output),
    );
    return { octets: octets(), error };
  },
};

function gather(): { output: Writable; octets: () => Buffer } {
  const chunks: Buffer[] = [];
  const output = new Writable({
    write: (chunk, _encoding, callback) => {
      chunks.push(chunk);
      callback();
    },
  });
  return { output, octets: () => Buffer.concat(chunks) };
}

async function failure(run: Promise<unknown>): Promise<unknown> {
  return run.then(
    () => undefined,
    (error) => error,
  );
}

function newFilter(): Filter {
  return new Filter({
    table,
    pool,
    settings: {
      agents: [parseAgent('*', 'rfc9309')],
      output: 'annotate',
      unknown: 'unknown',
      explain: false,
      strict: false,
      urlField: ['url'],
      verdictField: undefined,
      maxLineOctets: 1 << 20,
      countHosts: true,
    },
  });
}

const digest = (octets: Uint8Array): string => createHash('sha256').update(octets).digest('hex');

describe('threads that are ended from without, at any moment', () => {
  for (const [way, run] of Object.entries(WAYS)) {
    it(`leave nothing out, twice or miscounted, ${way}`, async () => {
      const random = new Random(41);
      const whole = newFilter();
      const begin = performance.now();
      const expected = await run(whole);
      const duration = performance.now() - begin;
      expect(expected.error).toBe(undefined);
      const tally = whole.tally();
      expect(tally.records).toBe(COUNT);
      expect(tally.bad).toBeGreaterThan(100);
      await whole.close();
      let recovered = 0;
      let ended = 0;
      for (let round = 0; round < 10; round++) {
        const filter = newFilter();
        const result = run(filter);
        for (let deaths = random.between(1, 2); deaths > 0; deaths--) {
          await pause(random.number() * duration * 0.7);
          const victim = random.pick([...threads]);
          await victim.terminate();
          ended++;
        }
        const { octets, error } = await result;
        if (error === undefined) {
          expect(digest(octets)).toBe(digest(expected.octets));
          expect(filter.tally()).toEqual(tally);
          expect(filter.hostsSeen()).toBe(1);
          recovered++;
        } else {
          expect(error).toBeInstanceOf(RobotsFilterError);
          expect((error as RobotsFilterError).code).toBe('worker'); // as just asserted
          expect(octets.equals(expected.octets.subarray(0, octets.length))).toBe(true);
        }
        await filter.close();
      }
      expect(ended).toBeGreaterThan(9);
      expect(recovered).toBeGreaterThan(4);
    });
  }
});
