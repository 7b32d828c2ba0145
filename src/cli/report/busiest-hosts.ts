import type { TableView } from '../../inspect/table-view.js';
import type { HostCounts } from '../../pipeline/host-counts.js';

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
  const total = (place: number): number => totals[place] as number;
  const order = Uint32Array.from(slots, (_, place) => place).sort((a, b) => total(b) - total(a));
  const hosts: BusyHost[] = [];
  for (let at = 0; at < order.length && (top === undefined || hosts.length < top); ) {
    const urls = total(order[at] as number);
    // A space is before any character of a host, so the slot after it does not change the order.
    const alike: string[] = [];
    for (; at < order.length && total(order[at] as number) === urls; at++) {
      const slot = slots[order[at] as number] as number;
      alike.push(`${view.nameAt(view.placeOfSlot(slot))} ${slot}`);
    }
    for (const name of alike.sort()) {
      const space = name.lastIndexOf(' ');
      hosts.push({ slot: Number(name.slice(space + 1)), host: name.slice(0, space), urls });
    }
  }
  return hosts.slice(0, top);
}
