import { TableBuilder } from '../../../src/compile/table-builder.js';
import { checksum } from '../../../src/kernel/hashes.js';
import { parseAuthority } from '../../../src/protocol/authority.js';
import type { Profile } from '../../../src/protocol/verdict.js';

const CHECKSUM = 20;

/**
 * Prefix rules with and without texts, of all forms; wildcard rules of all forms, in blocks with
 * and without masks.
 */
const RULES = `user-agent: *
crawl-delay: 10
content-usage: /caf\u00e9 train-ai=n
sitemap: https://a.example/${'s'.repeat(130)}.xml
sitemap: https://a.example/b.xml
disallow: /
allow: *
allow: /a
disallow: /ab/cd
allow: /ab/ce$
disallow: /star*
disallow: /stars***
disallow: /"quoted"
disallow: /caf\u00e9
disallow: /%e2%80%a8/x
allow: /x*y
allow: /x*y*z$
disallow: /x*%3A?b%2F*c
disallow: /x*"*e

user-agent: bot
user-agent: other-bot
noindex: /n
disallow: /*.gif$
disallow: /*.png
disallow: /*?session=*&id
allow: /*open
disallow: /*\u00fc
disallow: /$
disallow: /p/*%2f%3a

user-agent: bot
allow: /p/q

user-agent: silent
`;

/**
 * More rules at one node than a block can hold; in the second block the rules are far from the
 * first.
 */
const MANY = `user-agent: many
disallow: /s/$
${Array.from({ length: 70 }, (_, n) => `disallow: /s/*${String.fromCharCode(97 + (n % 26))}${n}${n % 7 === 0 ? '$' : '*x'}\n`).join('')}
allow: /s/*${'w'.repeat(400)}
${Array.from({ length: 26 }, (_, n) => `allow: /e/${String.fromCharCode(97 + n)}${'n'.repeat(20 * n)}\n`).join('')}
`;

/** A table with every field of the format that needs no large file. */
export function richTable(profile: Profile = 'rfc9309'): Uint8Array {
  const builder = new TableBuilder({ profile, records: true });
  const add = (name: string, robots: string, source: string, status?: number): void => {
    const authority = parseAuthority(name);
    if (authority === undefined) throw new Error(name);
    const date = name.startsWith('h') ? undefined : 1_700_000_000_000;
    builder.add(authority, new TextEncoder().encode(robots), { source, status, date });
  };
  add('a.example', RULES, 'robots/a.example.txt');
  add('b.example', MANY, 'list.ndjson:17');
  add('c.example', RULES, 'robots/c.example/"robots".txt');
  add('http://c.example', MANY, 'list.ndjson:18');
  add('https://c.example:8443', 'user-agent: *\nallow: /8443\n', 'some file');
  add('c.example:8080', '', 'some file');
  add('ftp://c.example', RULES, 'list.ndjson:19');
  add('gone.example', '', 'some file', 404);
  add('down.example', '', 'list.ndjson:20', 503);
  add('xn--bcher-kva.example', RULES, 'b\u00fccher/\u001b[0m');
  for (let host = 0; host < 40; host++) add(`h${host}.example`, host % 2 ? RULES : '', `h${host}`);
  return builder.build();
}

/** A table with histories, some of which share robots records. */
export function datedTable(): Uint8Array {
  const builder = new TableBuilder({ history: true });
  const names = ['a.example', 'https://a.example', 'b.example:8080', 'c.example'];
  const bodies = [RULES, 'user-agent: *\ndisallow: /x\n', ''];
  for (const [host, name] of names.entries()) {
    for (let version = 0; version <= 2 * host; version++) {
      const robots = bodies[(host + version) % bodies.length] ?? '';
      const status = version === 5 ? 503 : 200;
      const date = 1_700_000_000_000 + 86_400_000 * version;
      builder.add(name, robots, { source: `list.ndjson:${version}`, status, date });
    }
  }
  return builder.build();
}

/** A table whose numbers have their greatest widths: in a record, in lines, sizes and offsets. */
export function wideTable(): Uint8Array {
  const builder = new TableBuilder();
  const add = (host: string, robots: string): void => {
    builder.add({ scheme: undefined, host, port: undefined }, new TextEncoder().encode(robots), {
      source: host,
    });
  };
  add(
    'tokens.example',
    Array.from(
      { length: 5600 },
      (_, n) => `user-agent: ${letters(n)}\ndisallow: /${n % 40}\n`,
    ).join(''),
  );
  add(
    'lines.example',
    `user-agent: *\ndisallow: /a\ndisallow: /b*c\n${'\n'.repeat(70_000)}allow: /ab\nallow: /b*cd\n`,
  );
  const long = 'l'.repeat(34_000);
  add(
    'sizes.example',
    `user-agent: *\ndisallow: /*${long}\nallow: /x*${long}*y\ndisallow: /${long}/q\ndisallow: /${'k'.repeat(400)}/"q"\ndisallow: /x*"\n`,
  );
  return builder.build();
}

/** A table of so many hosts that some are outside the bucket where the search for them begins. */
export function crowdedTable(): Uint8Array {
  const builder = new TableBuilder();
  const robots = new TextEncoder().encode('user-agent: *\ndisallow: /a\n');
  for (let host = 0; host < 1500; host++) {
    const authority = { scheme: undefined, host: `h${host}.example`, port: undefined };
    builder.add(authority, robots, { source: `list:${host}` });
  }
  return builder.build();
}

/** A number in letters, for product tokens. */
function letters(number: number): string {
  return [number, number / 26, number / 676]
    .map((rest) => String.fromCharCode(97 + (Math.floor(rest) % 26)))
    .join('');
}

/** A copy of a table with other numbers and a valid checksum. */
export function forged(
  table: Uint8Array,
  changes: readonly { readonly at: number; readonly bytes: number; readonly value: number }[],
): Uint8Array {
  const copy = Buffer.from(table);
  for (const { at, bytes, value } of changes) copy.writeUIntLE(value, at, bytes);
  return sealed(copy);
}

/** Recomputes the checksum of a table. */
export function sealed(table: Buffer): Buffer {
  table.writeUInt32LE(checksum(table), CHECKSUM);
  return table;
}
