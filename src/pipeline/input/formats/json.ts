import { streamOf } from '../chunks.js';
import type { Format } from '../format.js';
import { beginningOf } from './first-object.js';

/** A JSON array, or JSON values one after another. A record is an element or a value. */
export const json: Format = {
  name: 'json',
  recognise(head) {
    const beginning = beginningOf(head);
    if (beginning === undefined) return undefined;
    return beginning === 'array or string' || beginning === 'object among others';
  },
  async toLines(chunks, options) {
    // Loaded on demand, because stream-json takes long to load.
    const { JsonRecords } = await import('../json-records.js');
    return streamOf(new JsonRecords(chunks, options));
  },
};
