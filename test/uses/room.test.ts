import { describe, expect, it } from 'vitest';
import { GuardedKernel, guardedMemory } from '../../fuzz/kernel/guarded-kernel.js';
import { TableBuilder } from '../../src/compile/table-builder.js';
import { kernelModule } from '../../src/kernel/kernel.js';
import { MARGIN } from '../../src/kernel/layout.js';
import type { QuerySettings } from '../../src/kernel/query-settings.js';
import { parseAuthority } from '../../src/protocol/authority.js';
import { parseUses } from '../../src/protocol/uses.js';

/*
 * The guarded kernel gives a run no byte of output more than it may need, between guard bytes.
 */

/** A path of which each byte is escaped as six, of the length that a table keeps and one more. */
const PATHS = [1, 999, 1000, 1001].map((bytes) => `/${'\x01'.repeat(bytes - 1)}`);
const LONG_KEY = 'k'.repeat(64);
const SOURCE = '\x7f"'.repeat(900);

function kernelOver(path: string): GuardedKernel {
  const builder = new TableBuilder({ signals: true });
  const authority = parseAuthority('h');
  if (authority === undefined) throw new Error('no authority');
  const body = `User-agent: bot\nContent-Usage: ${path} ${LONG_KEY}=n, search=y\nContent-Signal: ai-train=no\nAllow: ${path}\n`;
  builder.add(authority, Buffer.from(body), { source: SOURCE });
  const kernel = new GuardedKernel({ module: kernelModule(), memory: guardedMemory() });
  kernel.load(builder.build());
  return kernel;
}

const FORMATS: readonly (readonly [Partial<QuerySettings>, (url: string) => string])[] = [
  [{ format: 'text' }, (url) => url],
  [{ format: 'ndjson' }, (url) => JSON.stringify({ url })],
  [{ format: 'csv', column: 0 }, (url) => url],
  [{ format: 'ndjson', conversion: 'text' }, (url) => JSON.stringify({ url })],
  [{ format: 'ndjson', conversion: 'csv' }, (url) => JSON.stringify({ url })],
  [{ format: 'ndjson', conversion: 'parquet' }, (url) => JSON.stringify({ url })],
  [{ format: 'text', conversion: 'ndjson' }, (url) => url],
];

describe('answers about uses, without a byte of output to spare', () => {
  it.each(FORMATS)('%o', (settings, record) => {
    let compared = 0;
    for (const path of PATHS) {
      const kernel = kernelOver(path);
      const url = `http://h${path.replaceAll('\x01', '%01')}`;
      for (const names of [['train'], [LONG_KEY, 'search']]) {
        for (const verdictField of [undefined, '\u20ac'.repeat(300)]) {
          const uses = parseUses(names, { [names[0] as string]: 'x'.repeat(300) });
          const agents = ['bot', `bot:${'a'.repeat(300)}`].map((name) => ({
            name,
            chain: name.split(':'),
          }));
          // The memory of the guarded kernel has room for four answers.
          for (const asked of names.length > 1 ? [agents.slice(1)] : [agents.slice(0, 1), agents]) {
            const query = { ...settings, agents: asked, uses, verdictField, explain: true };
            const { output } = kernel.run(kernel.ask(query), Buffer.from(record(url)));
            expect(output.length).toBeGreaterThan(url.length / 3);
            compared++;
          }
        }
      }
    }
    expect(compared).toBe(24);
  });

  it('has room for a long name of the added member', () => {
    const kernel = kernelOver('/a');
    const verdictField = '\u20ac'.repeat(3000);
    for (const names of [['train'], ['train', 'search']]) {
      const query = {
        format: 'ndjson',
        uses: parseUses(names),
        verdictField,
        explain: true,
      } as const;
      const { output } = kernel.run(kernel.ask(query), Buffer.from('{"url":"http://h/a"}'));
      expect(output.length).toBeGreaterThan(3 * 3 * verdictField.length);
    }
  });

  it('one byte less than a line may need is not used', () => {
    const kernel = kernelOver('/a');
    const uses = parseUses(['train', LONG_KEY]);
    const agents = [{ name: 'bot', chain: ['bot'] }];
    const asked = kernel.ask({ format: 'ndjson', agents, uses, explain: true });
    const input = Buffer.from('{"url":"http://h/a"}');
    const less = (bytes: number) => ({
      ...asked,
      query: { ...asked.query, lineOverhead: asked.query.lineOverhead - bytes },
    });
    const whole = kernel.run(asked, input).output;
    expect(whole).toContain('"signals":{"train":');
    expect(kernel.run(less(MARGIN), input).output).toBe(whole);
    expect(() => kernel.run(less(MARGIN + 1), input)).toThrow('no progress');
  });
});
