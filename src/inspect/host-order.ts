import { firstStrings, type Strings, sortStrings } from '../string-sort.js';
import { MAX_HOST_BYTES } from '../table/format.js';
import { SHARD_SPAN, type TableView } from './table-view.js';

/** Hosts for which there is room at first. */
const INITIAL = 1024;

/** Bytes of a count before a name. */
const COUNT_BYTES = 8;

/** The offsets of all host records of a table, sorted by host. */
export function sortedPlaces(view: TableView): Float64Array {
  const names = new PlacedNames(view);
  const { places } = names;
  return Float64Array.from(sortStrings(names, MAX_HOST_BYTES), (item) => places[item] as number);
}

/** Things that have a count and a host. */
export interface CountedOfHosts {
  /** Positive numbers. */
  readonly counts: Float64Array;
  /** The offset of the record of a host in the table. */
  placeOf(index: number): number;
}

/**
 * The indices of the greatest counts, greatest first. Equal counts are sorted by host, then by
 * index.
 *
 * @param top number of them; all if undefined
 */
export function mostCounted(
  view: TableView,
  counted: CountedOfHosts,
  top = counted.counts.length,
): Int32Array {
  return firstStrings(new CountedNames(view, counted), CountedNames.longest, top);
}

/**
 * Strings that begin with a count, of which greater ones come first, and go on with a host, a zero
 * and the index, so that no two are equal.
 */
class CountedNames implements Strings {
  static readonly longest = COUNT_BYTES + MAX_HOST_BYTES + 8;
  readonly count: number;
  readonly #view: TableView;
  readonly #words: Uint32Array;
  readonly #counted: CountedOfHosts;

  constructor(view: TableView, counted: CountedOfHosts) {
    const { buffer, byteOffset, length } = counted.counts;
    this.#view = view;
    // The bits of positive numbers have the order of the numbers (IEEE 754).
    this.#words = new Uint32Array(buffer, byteOffset, 2 * length);
    this.#counted = counted;
    this.count = length;
  }

  word(item: number, offset: number): number {
    if (offset < COUNT_BYTES) return ~(this.#words[2 * item + (offset === 0 ? 1 : 0)] as number);
    return nameWord(this.#view, this.#counted.placeOf(item), offset - COUNT_BYTES, item);
  }
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
    return nameWord(this.#view, this.places[item] as number, offset, 0);
  }
}

/**
 * Four bytes of the name of the host at a place, as `Strings` has them; `next` after its end and a
 * zero.
 */
function nameWord(table: TableView, place: number, offset: number, next: number): number {
  const shard = Math.floor(place / SHARD_SPAN);
  const at = place - shard * SHARD_SPAN;
  const view = table.parts[shard] as TableView;
  const { reader } = view;
  const left = Math.min(4, reader.u8(at) - offset);
  if (left <= 0) return left === 0 ? 0 : next;
  const from = reader.within(view.nameStart(at) + offset, left);
  const { bytes } = reader;
  let word = (bytes[from] as number) << 24;
  if (left > 1) word |= (bytes[from + 1] as number) << 16;
  if (left > 2) word |= (bytes[from + 2] as number) << 8;
  if (left > 3) word |= bytes[from + 3] as number;
  return word;
}
