import { Buffer } from 'node:buffer';
import { expect, it } from 'vitest';
import { TableBuilder } from '../../src/compile/table-builder.js';
import { Table, tableMemory } from '../../src/judge/table.js';
import { canonicalHost, formatAuthority, parseAuthority } from '../../src/protocol/authority.js';
import { authorityOfName, nameOfAuthority } from '../../src/sources/item.js';
import { parseRecord } from '../../src/sources/record.js';
import { verifyShard } from '../../src/verify/verify-table.js';
import { captureUrl } from '../../src/warc/captures.js';
import { cases } from '../random/cases.js';
import { Random } from '../random/random.js';

const BODY = 'User-agent: *\nDisallow: /private\n';
const PIECES = [
  ...['a', 'B', '-', '_', '.', '.', '..', '\u3002', '0', '1', '255', '0x7f', '08', '127.1', 'xn--'],
  ...[
    'xn--bcher-kva',
    '\u00fc',
    '\u00df',
    '\u00ad',
    '\u05d0',
    '\ud83d\udca9',
    '\ufffd',
    '%41',
    '%2e',
  ],
  ...[
    '%C3%BC',
    '%26',
    '%',
    '!',
    '$',
    '&',
    "'",
    '(',
    ')',
    '*',
    '+',
    ',',
    ';',
    '=',
    '~',
    '`',
    '{',
    '"',
  ],
  ...['<', '^', '|', ' '],
];
const WHOLE = ['[::1]', '[::FFFF:1.2.3.4]', '[0:0:0:0:0:0:0:1]', '.', '..', '0x7f.1', 'a.b.c..'];
const PORTS = ['', '', '', ':', ':443', ':0443', ':80', ':8080', ':65535', ':65536', ':0'];

/** Characters that only the host of a URL may have. */
const isBare = (host: string): boolean => !/[*(),"{}`]/.test(host);

it('every host of a URL that is judged can be added, named and found again', () => {
  const random = new Random(43);
  const empty = Table.from(new TableBuilder().build());
  const builder = new TableBuilder();
  const urls: string[] = [];
  const seen = { judged: 0, invalid: 0, named: 0, unnamed: 0, dotted: 0 };
  for (let round = 0; round < cases(1500); round++) {
    const host = random.chance(0.1) ? random.pick(WHOLE) : random.run(PIECES, 1, 4);
    const scheme = random.pick(['https', 'http', 'ftp']);
    const root = `${scheme}://${host}${random.pick(PORTS)}`;
    const url = `${root}/private`;
    const authority = parseAuthority(url);
    if (empty.verdict(url, 'bot').verdict === 'invalid') {
      expect([root, authority]).toEqual([root, undefined]);
      seen.invalid++;
      continue;
    }
    seen.judged++;
    if (authority === undefined) throw new Error(`${root} is judged, and has no authority`);
    expect([root, canonicalHost(authority.host)]).toEqual([root, authority.host]);
    if (authority.host.endsWith('.')) seen.dotted++;
    if (authority.port === 0) continue;
    urls.push(url);
    for (const added of [authority, formatAuthority(authority), url]) builder.add(added, BODY);
    const record = { url: `${root}/robots.txt`, robots: BODY };
    const read = parseRecord(Buffer.from(JSON.stringify(record)), 1000);
    expect([root, 'authority' in read && read.authority]).toEqual([root, authority]);
    const captured = captureUrl(`${root}/robots.txt`)?.href;
    expect([root, captured && parseAuthority(captured)]).toEqual([root, authority]);
    const name = nameOfAuthority({ ...authority, scheme: authority.scheme ?? 'https' });
    if (name === undefined) {
      expect([root, isBare(authority.host) && !authority.host.startsWith('.')]).toEqual([
        root,
        false,
      ]);
      seen.unnamed++;
      continue;
    }
    seen.named++;
    expect([root, authorityOfName(name, authority.scheme)]).toEqual([root, authority]);
    const bare = parseRecord(
      Buffer.from(JSON.stringify({ ...record, url: undefined, host: authority.host })),
      1000,
    );
    expect([root, 'authority' in bare && bare.authority.host]).toEqual([root, authority.host]);
  }
  const table = Table.from(builder.build());
  verifyShard(table.bytes, tableMemory(table).header, 'the table');
  for (const url of urls) {
    expect([url, table.verdict(url, 'bot').verdict]).toEqual([url, 'deny']);
  }
  expect(Math.min(seen.judged, seen.invalid, seen.named)).toBeGreaterThan(cases(300));
  expect(Math.min(seen.unnamed, seen.dotted)).toBeGreaterThan(cases(20));
});
