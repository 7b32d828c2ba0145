import { gzipSync } from 'node:zlib';
import { rawFrame } from '../files/zstd-frames.js';

/** A record to be written. Fields with the value `undefined` are left out. */
export interface RecordSpec {
  readonly type?: string;
  readonly uri?: string;
  readonly date?: string;
  readonly contentType?: string;
  /** Further fields, or others for those above. */
  readonly fields?: Readonly<Record<string, string | undefined>>;
  readonly block?: Uint8Array | string;
  readonly version?: string;
  readonly lineEnd?: string;
}

const DATE = '2025-03-10T00:00:00Z';

/** The bytes of a record. */
export function recordOf(spec: RecordSpec): Buffer {
  const { type = 'response', uri, date = DATE, block = '', lineEnd = '\r\n' } = spec;
  const bytes = Buffer.from(block as string);
  const fields = {
    'WARC-Type': type,
    'WARC-Record-ID': '<urn:uuid:00000000-0000-0000-0000-000000000000>',
    'WARC-Date': date,
    'WARC-Target-URI': uri,
    'Content-Type': spec.contentType ?? 'application/http; msgtype=response',
    'Content-Length': String(bytes.length),
    ...spec.fields,
  };
  const lines = Object.entries(fields).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}: ${value}`],
  );
  const header = [spec.version ?? 'WARC/1.0', ...lines, '', ''].join(lineEnd);
  return Buffer.concat([Buffer.from(header, 'latin1'), bytes, Buffer.from('\r\n\r\n')]);
}

/** A response: a status line, header fields and a body. */
export function responseOf(
  status: number,
  body: Uint8Array | string = '',
  fields: Readonly<Record<string, string>> = {},
  lineEnd = '\r\n',
): Buffer {
  const lines = Object.entries(fields).map(([name, value]) => `${name}: ${value}`);
  const head = [`HTTP/1.1 ${status} Reason`, ...lines, '', ''].join(lineEnd);
  return Buffer.concat([Buffer.from(head, 'latin1'), Buffer.from(body as string)]);
}

/** A capture: a record of a response. */
export function captureOf(
  uri: string,
  block: Uint8Array,
  spec: Omit<RecordSpec, 'uri' | 'block'> = {},
): Buffer {
  return recordOf({ ...spec, uri, block });
}

/** Each record as a gzip member of its own. */
export function membersOf(records: readonly Buffer[]): Buffer {
  return Buffer.concat(records.map((record) => gzipSync(record)));
}

/** Each record as a zstd frame of its own. */
export function framesOf(records: readonly Buffer[]): Buffer {
  return Buffer.concat(records.map((record) => rawFrame(record)));
}

/** A robots.txt that is told by its rule. */
export function robotsOf(path: string): string {
  return `user-agent: *\ndisallow: ${path}\n`;
}

/** A body in chunks of a length (RFC 9112 section 7.1). */
export function chunkedOf(body: Uint8Array, length: number): Buffer {
  const pieces: Buffer[] = [];
  for (let at = 0; at < body.length; at += length) {
    const piece = body.subarray(at, at + length);
    pieces.push(Buffer.from(`${piece.length.toString(16)}\r\n`), Buffer.from(piece));
    pieces.push(Buffer.from('\r\n'));
  }
  return Buffer.concat([...pieces, Buffer.from('0\r\n\r\n')]);
}
