import type { TableView } from '../../inspect/table-view.js';
import type { HostCounts } from '../../pipeline/host-counts.js';
import { mostFrequent } from './most-frequent.js';

/** A host of the table with URLs. */
export interface BusyHost {
  readonly slot: number;
  readonly host: string;
  readonly urls: number;
}

/** The hosts with most URLs, then by name; all if `top` is undefined. */
export function busiestHosts(
  counts: HostCounts,
  view: TableView,
  top: number | undefined,
): BusyHost[] {
  const { slots } = counts;
  const totals = Float64Array.from(
    slots,
    (slot) => counts.allowed(slot, 0) + counts.denied(slot, 0),
  );
  const slotAt = (place: number): number => slots[place] as number;
  const urlsAt = (place: number): number => totals[place] as number;
  const frequent = mostFrequent(
    {
      length: slots.length,
      countOf: urlsAt,
      nameOf: (place) => view.nameAt(view.placeOfSlot(slotAt(place))),
    },
    top,
  );
  return frequent.map(({ name, index }) => ({
    slot: slotAt(index),
    host: name,
    urls: urlsAt(index),
  }));
}
