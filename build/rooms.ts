import { type Imports, readImports } from './imports.js';

/** The page that has the drawing, between the two markers. */
export const ROOMS_PAGE = 'docs/design.md';
const BEGINNING = '<!-- rooms -->';
const END = '<!-- /rooms -->';

/**
 * The rooms of src, each with the rooms that it imports from. A room is a folder of src, or a file
 * that lies beside these folders.
 */
export function readRooms(imports: Imports = readImports(['src'])): Imports {
  const rooms = new Map<string, Set<string>>();
  for (const [path, targets] of imports) {
    if (!path.startsWith('src/')) continue;
    const room = roomOf(path);
    const arrows = rooms.get(room) ?? new Set();
    rooms.set(room, arrows);
    for (const target of targets) if (roomOf(target) !== room) arrows.add(roomOf(target));
  }
  return new Map([...rooms].map(([room, arrows]) => [room, [...arrows].sort()]));
}

/** A page with the drawing of these rooms in place of the one that it has. */
export function withRooms(page: string, rooms: Imports): string {
  const [before, rest, ...further] = page.split(BEGINNING);
  const after = rest?.split(END)[1];
  if (after === undefined || further.length > 0) {
    throw new RangeError(`${ROOMS_PAGE} does not have one ${BEGINNING} with an ${END} after it`);
  }
  return `${before}${BEGINNING}\n\n${drawingOf(rooms)}\n\n${END}${after}`;
}

/**
 * The rooms as a Mermaid flowchart, which has no cycle. An arrow is left out where a way over other
 * rooms leads to the same room: all arrows of this project would be too many to read.
 */
export function drawingOf(rooms: Imports): string {
  const heights = new Map<string, number>();
  for (const room of rooms.keys()) heightOf(room, rooms, heights);
  const order = [...rooms.keys()].sort(
    (a, b) => (heights.get(b) ?? 0) - (heights.get(a) ?? 0) || (a < b ? -1 : 1),
  );
  const lines = order.flatMap((room) => {
    const targets = rooms.get(room) ?? [];
    const needed = targets.filter(
      (target) => !targets.some((other) => other !== target && reaches(other, target, rooms)),
    );
    return [`  ${nodeOf(room)}`, ...needed.map((target) => `  ${idOf(room)} --> ${idOf(target)}`)];
  });
  return ['```mermaid', 'flowchart TD', ...lines, '```'].join('\n');
}

function roomOf(path: string): string {
  return path.split('/')[1] ?? '';
}

/** The number of arrows on the longest way down from a room. */
function heightOf(room: string, rooms: Imports, heights: Map<string, number>): number {
  const known = heights.get(room);
  if (known !== undefined) return known;
  // Ends the recursion in a cycle, which test/structure reports.
  heights.set(room, 0);
  const below = (rooms.get(room) ?? []).map((target) => heightOf(target, rooms, heights));
  const height = 1 + Math.max(-1, ...below);
  heights.set(room, height);
  return height;
}

function reaches(from: string, to: string, rooms: Imports): boolean {
  const seen = new Set([from]);
  for (const room of seen) for (const target of rooms.get(room) ?? []) seen.add(target);
  return seen.has(to);
}

/** Mermaid takes dots and hyphens in labels only. */
function idOf(room: string): string {
  return room.replaceAll(/\W/g, '_');
}

function nodeOf(room: string): string {
  return idOf(room) === room ? room : `${idOf(room)}["${room}"]`;
}
