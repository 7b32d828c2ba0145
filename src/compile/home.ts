/**
 * The slot where the search for a host with this hash begins: `hash * slots >>> 32`. In a file of its own since whoever opens a
 * table needs it, and what places hosts into slots loads node:crypto: 3 ms.
 */
export function home(hash: number, slots: number): number {
  return Math.floor((hash * slots) / 0x1_0000_0000);
}
