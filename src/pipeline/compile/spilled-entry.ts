import type { RobotsDetails } from '../../compile/robots-details.js';
import type { Authority } from '../../protocol/authority.js';

/** A robots.txt of a shard on its way through the spill file. */
export interface SpilledEntry {
  readonly authority: Authority;
  readonly details: RobotsDetails;
  readonly body: SpilledBody;
}

/** A body: its bytes, or where it begins among the bodies of captures, and its length. */
export type SpilledBody = Uint8Array | { readonly start: number; readonly bytes: number };

/*
 * The bytes of an entry: the length of a JSON array, 32 bits, the length of the body that follows
 * the array, 32 bits, the array, the body.
 */
const HEAD_BYTES = 8;

/** The JSON array of an entry. Absent values are null. */
type Fields = [
  scheme: Authority['scheme'] | null,
  host: string,
  port: number | null,
  source: string,
  status: number | null,
  access: RobotsDetails['access'] | null,
  date: number | null,
  bodyStart: number | null,
  bodyBytes: number | null,
];

/** The bytes of an entry, for `decodeEntries`. */
export function encodeEntry({ authority, details, body }: SpilledEntry): Uint8Array {
  const isInline = body instanceof Uint8Array;
  const fields = [
    authority.scheme,
    authority.host,
    authority.port,
    details.source,
    details.status,
    details.access,
    details.date,
    isInline ? null : body.start,
    isInline ? null : body.bytes,
  ];
  const text = Buffer.from(JSON.stringify(fields));
  const inline = isInline ? body.length : 0;
  const bytes = Buffer.allocUnsafe(HEAD_BYTES + text.length + inline);
  bytes.writeUInt32LE(text.length, 0);
  bytes.writeUInt32LE(inline, 4);
  bytes.set(text, HEAD_BYTES);
  if (isInline) bytes.set(body, HEAD_BYTES + text.length);
  return bytes;
}

/** The entries of a stretch. Their inline bodies are views of it. */
export function* decodeEntries(stretch: Buffer): Iterable<SpilledEntry> {
  for (let at = 0; at < stretch.length; ) {
    const bodyAt = at + HEAD_BYTES + stretch.readUInt32LE(at);
    const end = bodyAt + stretch.readUInt32LE(at + 4);
    const fields = JSON.parse(stretch.toString('utf8', at + HEAD_BYTES, bodyAt)) as Fields;
    const [scheme, host, port, source, status, access, date, bodyStart, bodyBytes] = fields;
    yield {
      authority: { scheme: scheme ?? undefined, host, port: port ?? undefined },
      details: {
        source,
        status: status ?? undefined,
        access: access ?? undefined,
        date: date ?? undefined,
      },
      body:
        bodyStart === null
          ? stretch.subarray(bodyAt, end)
          : { start: bodyStart, bytes: bodyBytes ?? 0 },
    };
    at = end;
  }
}
