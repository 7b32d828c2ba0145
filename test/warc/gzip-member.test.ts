import { crc32, gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { readMember } from '../../src/warc/archive.js';

describe('the header of a gzip member (RFC 1952 section 2.3)', () => {
  const content = Buffer.from('WARC/1.0\r\n');
  const plain = gzipSync(content);

  /** The member with a CRC16 of its header, which differs in some bits. */
  function withHeaderChecksum(difference: number): Buffer {
    const header = Buffer.from(plain.subarray(0, 10));
    header[3] = 2;
    const checksum = Buffer.alloc(2);
    checksum.writeUInt16LE((crc32(header) & 0xffff) ^ difference);
    return Buffer.concat([header, checksum, plain.subarray(10)]);
  }

  it('may have a checksum', () => {
    const member = withHeaderChecksum(0);
    expect(readMember(member)).toEqual({ kind: 'whole', content, length: member.length });
    expect(readMember(member.subarray(0, 11))).toEqual({ kind: 'short' });
  });

  it.each([1, 0x8000])('is damaged if its checksum differs by %i', (difference) => {
    expect(readMember(withHeaderChecksum(difference))).toEqual({
      kind: 'damaged',
      length: 0,
      inflated: 0,
    });
  });
});
