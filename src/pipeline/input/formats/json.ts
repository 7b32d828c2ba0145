import { pipeline } from 'node:stream';
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
    const { JsonRecords } = await import('../json/json-records.js');
    const stream = new JsonRecords(options);
    // An error in `chunks` destroys `stream` with that error, so the reader of `stream` gets it.
    pipeline(chunks.stream(), stream, () => {});
    return stream;
  },
};
