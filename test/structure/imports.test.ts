import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { cyclesOf, type Imports, readImports } from '../../build/imports.js';
import { drawingOf, ROOMS_PAGE, readRooms, withRooms } from '../../build/rooms.js';

/** The block of CONTRIBUTING.md after this line names each room of src, lowest first. */
const MAP = '<!-- rooms, lowest first -->';

const imports = readImports(['src', 'oracle', 'bench', 'fuzz', 'build', 'test']);
const rooms = readRooms(imports);

describe('imports', () => {
  it('are found by this test', () => {
    const arrows = [...imports.values()].reduce((sum, { length }) => sum + length, 0);
    expect(imports.size).toBeGreaterThan(400);
    expect(arrows).toBeGreaterThan(1000);
    expect(imports.get('src/cli/main.ts')).toContain('src/cli/program.ts');
    expect(imports.get('src/kernel/assembly/hosts.ts')).toContain('src/table/format.ts');
  });

  it('form no cycle', () => {
    expect(cyclesOf(imports)).toEqual([]);
    // A planted cycle is found.
    const circle = new Map([
      ['a', ['b']],
      ['b', ['c']],
      ['c', ['b']],
    ]);
    expect(cyclesOf(circle)).toEqual([['b', 'c']]);
  });

  it('of src never leave src', () => {
    const outside = [...imports].flatMap(([path, targets]) =>
      path.startsWith('src/') ? targets.filter((target) => !target.startsWith('src/')) : [],
    );
    expect(outside).toEqual([]);
  });
});

describe('rooms', () => {
  it('form no cycle', () => {
    expect(rooms.size).toBeGreaterThan(10);
    expect(rooms.get('cli')).toContain('kernel');
    expect(cyclesOf(rooms)).toEqual([]);
  });

  it('are drawn as the imports have them', () => {
    const page = readFileSync(ROOMS_PAGE, 'utf8');
    expect(page, 'The rooms have other arrows: npm run rooms').toBe(withRooms(page, rooms));
  });

  it('are drawn without arrows that follow from others', () => {
    const planted: Imports = new Map([
      ['low.ts', []],
      ['top', ['low.ts', 'middle']],
      ['middle', ['low.ts']],
    ]);
    expect(drawingOf(planted).split('\n')).toEqual([
      '```mermaid',
      'flowchart TD',
      '  top',
      '  top --> middle',
      '  middle',
      '  middle --> low_ts',
      '  low_ts["low.ts"]',
      '```',
    ]);
  });

  // The map has the rooms of the joined tree, of which base/ is the first.
  it('are on the map in an order that the imports follow', () => {
    const map = roomsOfMap(readFileSync('CONTRIBUTING.md', 'utf8'));
    const entries = readdirSync('src').filter((name) => rooms.has(name));
    expect([...map].sort()).toEqual(entries.sort());
    const against = [...rooms].flatMap(([room, targets]) =>
      targets
        .filter((target) => map.indexOf(target) > map.indexOf(room))
        .map((target) => `${room} -> ${target}`),
    );
    expect(against).toEqual([]);
  });
});

/** The first words of the lines of the map, without their slashes. */
function roomsOfMap(contributing: string): string[] {
  const [, block = ''] = contributing.split(MAP);
  const [, lines = ''] = block.split('```');
  return [...lines.matchAll(/^(\S+?)\/? /gm)].map(([, room = '']) => room);
}
