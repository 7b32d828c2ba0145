/**
 * Cuts parts into as few runs as fit into so many bytes each; a part alone may be longer. The runs
 * are about equally long, which leaves room in every bank for the counters of its hosts.
 *
 * @param roomOf the bytes that a part takes
 */
export function bankGroups<Part>(
  parts: readonly Part[],
  bankBytes: number,
  roomOf: (part: Part) => number,
): Part[][] {
  const rooms = parts.map(roomOf);
  const bytes = rooms.reduce((sum, room) => sum + room, 0);
  const fewest = filledGroups(parts, rooms, bankBytes).length;
  // With this limit, all runs but the last are longer than the mean: no more runs are needed.
  return filledGroups(parts, rooms, Math.min(bankBytes, bytes / fewest + Math.max(...rooms)));
}

/** Cuts parts into runs that are as long as the limit allows. */
function filledGroups<Part>(
  parts: readonly Part[],
  rooms: readonly number[],
  limit: number,
): Part[][] {
  const groups: Part[][] = [];
  let left = 0;
  for (const [index, part] of parts.entries()) {
    const needed = rooms[index] as number;
    if (groups.length === 0 || left < needed) {
      groups.push([]);
      left = limit;
    }
    groups.at(-1)?.push(part);
    left -= needed;
  }
  return groups;
}
