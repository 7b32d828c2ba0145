import { expect, it } from 'vitest';
import { PartMerger } from '../../src/compile/part-merger.js';
import { TableContents } from '../../src/compile/table-contents.js';
import { PartBuilder } from '../../src/compile/table-part.js';
import { LOGARITHM } from './growth.js';
import { countSteps } from './metered-script.js';

/** Steps for each entry to merge a part whose every entry comes with a warning, or after one. */
function stepsOf(count: number): number {
  const contents = new TableContents({});
  const builder = new PartBuilder({}, { key: contents.key });
  for (let index = 0; index < count; index++) {
    const body = new TextEncoder().encode(`user-agent: *\ndisallow: /${index}\n`);
    const host = `h${index}.example`;
    builder.add({ scheme: undefined, host, port: undefined }, body, { source: host });
  }
  const part = builder.take();
  const merger = new PartMerger(contents);
  return (
    countSteps(() => {
      merger.receive(part);
      for (let entry = 0; entry < count; entry++) {
        merger.add(part, entry, entry);
        merger.add(part, entry, entry + 1);
      }
    }) / count
  );
}

it('a part of a cache is merged in linear time, however its warnings divide it', () => {
  const few = stepsOf(250);
  expect(few).toBeGreaterThan(1);
  expect(few).toBeLessThan(1000);
  expect(stepsOf(4000)).toBeLessThan(LOGARITHM * few);
});
