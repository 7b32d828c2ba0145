import { describe, expect, test } from 'vitest';
import { PartMerger } from '../../src/compile/part-merger.js';
import { TableBuilder } from '../../src/compile/table-builder.js';
import { TableContents } from '../../src/compile/table-contents.js';
import { PartBuilder, type TablePart } from '../../src/compile/table-part.js';
import { Table } from '../../src/judge/table.js';
import { type Authority, DEFAULT_PORTS, type Scheme } from '../../src/protocol/authority.js';
import { Random } from '../random/random.js';

const SEEDS = 200;
const PORTS = [80, 443, 8080, 21];
const SCHEMES: readonly Scheme[] = ['http', 'https', 'ftp'];

interface Entry {
  readonly authority: Authority;
  readonly source: string;
  /** Its only rule, which few other entries have. */
  readonly body: string;
}

/** Entries of one host, with and without a scheme and a port; many name the same authority. */
function drawEntries(random: Random): Entry[] {
  return Array.from({ length: random.between(1, 9) }, (_, index) => ({
    authority: {
      scheme: random.pick([undefined, undefined, undefined, undefined, ...SCHEMES]),
      host: 'h.example',
      port: random.pick([undefined, undefined, undefined, 80, 443, 443, 8080, 21]),
    },
    source: `s${index}`,
    body: `user-agent: *\ndisallow: /\n# ${random.between(0, 3)}\n`,
  }));
}

/** The schemes and ports for which an entry counts, such as `https 443`. */
function placesOf({ scheme, port }: Authority): string[] {
  const schemes: readonly Scheme[] = scheme === undefined ? ['http', 'https'] : [scheme];
  return schemes.map((each) => `${each} ${port ?? DEFAULT_PORTS[each]}`);
}

/** The source for each place by docs/sources.md, and the number of files that override others. */
function naive(entries: readonly Entry[]): { sources: Map<string, string>; replaced: number } {
  const sources = new Map<string, string>();
  // Places without a scheme first: those with one win, and otherwise the last one.
  for (const isNamed of [false, true]) {
    for (const { authority, source } of entries) {
      if ((authority.scheme !== undefined) !== isNamed) continue;
      for (const place of placesOf(authority)) sources.set(place, source);
    }
  }
  const replaced = entries.filter(({ authority }, index) => {
    const places = placesOf(authority);
    return entries.slice(0, index).some(({ authority: earlier }) => {
      const isSameKind = (earlier.scheme === undefined) === (authority.scheme === undefined);
      return isSameKind && placesOf(earlier).some((place) => places.includes(place));
    });
  }).length;
  return { sources, replaced };
}

/** The source that a table has for each place. */
function sourcesOf(bytes: Uint8Array): Map<string, string> {
  const table = Table.from(bytes);
  const sources = new Map<string, string>();
  for (const scheme of SCHEMES) {
    for (const port of PORTS) {
      const { verdict, rule } = table.verdict(`${scheme}://h.example:${port}/x`, 'a');
      expect(verdict).toBe(rule === undefined ? 'unknown' : 'deny');
      if (rule !== undefined) sources.set(`${scheme} ${port}`, rule.source ?? '');
    }
  }
  return sources;
}

/** Adds entries to contents as several threads and an archive do: in order, from several parts. */
function contentsOf(entries: readonly Entry[], random: Random): TableContents {
  const contents = new TableContents({});
  const workers = [0, 1, 2].map(() => ({
    builder: new PartBuilder({}, { key: contents.key }),
    merger: new PartMerger(contents),
  }));
  const steps: (() => void)[] = [];
  for (let at = 0; at < entries.length; ) {
    const { builder, merger } = random.pick(workers);
    const chosen = entries.slice(at, at + random.between(1, 4));
    at += chosen.length;
    const isArchive = chosen.every(({ authority }) => authority.scheme !== undefined);
    const bodies = chosen.map(({ authority, source, body }) => {
      const bytes = new TextEncoder().encode(body);
      if (isArchive) return builder.addBody(bytes, source);
      builder.add(authority, bytes, { source });
      return 0;
    });
    const part: TablePart = builder.take();
    // Parts are received as threads finish them, and their entries are added in order.
    merger.receive(part);
    steps.push(() => {
      if (!isArchive) merger.add(part);
      else {
        chosen.forEach(({ authority, source, body: { length } }, index) => {
          const body = merger.body(bodies[index] as number);
          contents.addEntry(authority, { body, bodyBytes: length, source });
        });
      }
    });
  }
  for (const step of steps) step();
  return contents;
}

function builderOf(entries: readonly Entry[]): TableBuilder {
  const builder = new TableBuilder();
  for (const { authority, source, body } of entries) builder.add(authority, body, { source });
  return builder;
}

describe('of several robots.txt files for one scheme, host and port', () => {
  test('the last one counts, unless an earlier one alone names the scheme', () => {
    const random = new Random(443);
    let shared = 0;
    let overriding = 0;
    for (let seed = 0; seed < SEEDS; seed++) {
      const entries = drawEntries(random);
      const text = JSON.stringify(entries);
      const { sources, replaced } = naive(entries);
      const builder = builderOf(entries);
      const table = builder.build();
      expect(new Map([...sources].sort()), text).toEqual(new Map([...sourcesOf(table)].sort()));
      expect(builder.stats, text).toMatchObject({ files: entries.length, replaced });
      const contents = contentsOf(entries, random);
      expect(Buffer.compare(contents.layOut().table(), table), text).toBe(0);
      expect(contents.stats, text).toEqual(builder.stats);
      overriding += replaced;
      const bare = entries.filter(({ authority }) => authority.scheme === undefined);
      if (new Set(bare.map(({ authority }) => authority.port)).size > 1) shared++;
    }
    expect(shared).toBeGreaterThan(SEEDS / 3);
    expect(overriding).toBeGreaterThan(SEEDS);
  });

  test('their order counts from the first of a host on, among other hosts', () => {
    const builder = new TableBuilder();
    const add = (authority: string): void => {
      builder.add(authority, 'user-agent: *\ndisallow: /\n', { source: authority });
    };
    for (const host of ['a', 'b', 'c']) add(`${host}.example`);
    add('b.example:443');
    add('c.example:80');
    for (const host of ['a', 'c', 'd']) add(`${host}.example`);
    expect(builder.stats.replaced).toBe(4);
    const table = Table.from(builder.build());
    const sourceOf = (url: string) => table.verdict(url, 'a').rule?.source;
    expect(sourceOf('https://b.example/')).toBe('b.example:443');
    expect(sourceOf('http://b.example/')).toBe('b.example');
    expect(sourceOf('http://b.example:443/')).toBe('b.example:443');
    expect(sourceOf('http://c.example/')).toBe('c.example');
    expect(sourceOf('https://c.example:80/')).toBe('c.example:80');
  });
});
