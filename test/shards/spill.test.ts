import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import {
  decodeEntries,
  encodeEntry,
  type SpilledEntry,
  SpillFile,
} from '../../src/pipeline/compile/shard-compiler.js';
import { Random } from '../random/random.js';

test('entries come back in the order of their shard, however little is held', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'robots-filter-spill-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  for (const held of [1, 200, 1 << 20]) {
    const random = new Random(held);
    const spill = await SpillFile.create(join(directory, String(held)), 4, held);
    const added: SpilledEntry[][] = [[], [], [], []];
    for (let number = 0; number < 300; number++) {
      const shard = random.between(0, 2);
      const entry: SpilledEntry = {
        authority: {
          scheme: random.pick([undefined, 'http', 'https'] as const),
          host: `h${number}.example`,
          port: random.pick([undefined, 8080]),
        },
        details: {
          source: random.pick(['a', 'b\u{1f600}"\n', '']),
          status: random.pick([undefined, 404]),
          access: random.pick([undefined, 'unreachable'] as const),
          date: random.pick([undefined, 1.5]),
        },
        body: random.chance(0.3)
          ? { start: 2 ** 40, bytes: number }
          : Buffer.from(random.run(['a', '\0', '\n'], 0, 50)),
      };
      added[shard]?.push(entry);
      spill.add(shard, encodeEntry(entry));
      await spill.relieve();
    }
    await spill.flush();
    const bytes = readFileSync(spill.path);
    let stretches = 0;
    for (const [shard, expected] of added.entries()) {
      const found = spill.stretchesOf(shard).flatMap(({ start, bytes: length }) => {
        stretches++;
        return [...decodeEntries(bytes.subarray(start, start + length))];
      });
      expect(found).toEqual(expected);
    }
    expect(stretches).toBe(held === 1 ? 300 : held > 200 ? 3 : stretches);
    await spill.close();
  }
});
