import { type Strings, sortStrings } from '../string-sort.js';
import { MAX_HOST_BYTES } from '../table/format.js';
import { SHARD_SPAN, type TableView } from './table-view.js';

/** Hosts for which there is room at first. */
const INITIAL = 1024;

/** The offsets of all host records of a table, sorted by host. */
export function sortedPlaces(view: TableView): Float64Array {
  const names = new PlacedNames(view);
  const { places } = names;
  return Float64Array.from(sortStrings(names, MAX_HOST_BYTES), (item) => places[item] as number);
}

/** The names of the hosts of a table where they lie there. */
class PlacedNames implements Strings {
  readonly count: number;
  readonly places: Float64Array;
  readonly #view: TableView;

  constructor(view: TableView) {
    this.#view = view;
    let places = new Float64Array(INITIAL);
    let count = 0;
    for (const at of view.hostPlaces()) {
      if (count === places.length) {
        const more = new Float64Array(2 * count);
        more.set(places);
        places = more;
      }
      places[count++] = at;
    }
    this.count = count;
    this.places = places;
  }

  word(item: number, offset: number): number {
    const place = this.places[item] as number;
    const shard = Math.floor(place / SHARD_SPAN);
    const at = place - shard * SHARD_SPAN;
    const view = this.#view.parts[shard] as TableView;
    const { reader } = view;
    const left = Math.min(4, reader.u8(at) - offset);
    if (left <= 0) return 0;
    const from = reader.within(view.nameStart(at) + offset, left);
    const { bytes } = reader;
    let word = (bytes[from] as number) << 24;
    if (left > 1) word |= (bytes[from + 1] as number) << 16;
    if (left > 2) word |= (bytes[from + 2] as number) << 8;
    if (left > 3) word |= bytes[from + 3] as number;
    return word;
  }
}
