import { mostCounted } from '../../inspect/host-order.js';
import type { TableView } from '../../inspect/table-view.js';
import type { HostCounts } from '../../pipeline/host-counts.js';

/** A host of the table with URLs. */
export interface BusyHost {
  readonly slot: number;
  readonly host: string;
  readonly urls: number;
}

/** The hosts with most URLs, then by name; all if `top` is undefined. They can be read again. */
export function busiestHosts(
  { slots, urls }: HostCounts,
  view: TableView,
  top: number | undefined,
): Iterable<BusyHost> {
  const placeOf = (index: number): number => view.placeOfSlot(slots[index] as number);
  const most = mostCounted(view, { counts: urls, placeOf }, top);
  return {
    *[Symbol.iterator]() {
      for (const index of most) {
        const host = view.nameAt(placeOf(index));
        yield { slot: slots[index] as number, host, urls: urls[index] as number };
      }
    },
  };
}
