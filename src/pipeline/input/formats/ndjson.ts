import type { Format } from '../format.js';
import { beginningOf } from './first-object.js';

/** One JSON object per line. */
export const ndjson: Format = {
  name: 'ndjson',
  recognise(head) {
    const beginning = beginningOf(head);
    return beginning === undefined ? undefined : beginning === 'object on a line';
  },
};
