import { createHash } from 'node:crypto';
import { closeSync, openSync, writeSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import type { CapturePlan, PlannedCapture, Reply } from './capture-plan.js';
import { Random } from './random.js';
import { STREAM } from './streams.js';

/** What one file holds. */
export interface WarcFileSummary {
  /** Bytes of the file. */
  readonly bytes: number;
  /** Bytes of its records. */
  readonly plainBytes: number;
  /** SHA-256 of its records. zlib's compressed bytes depend on the processor. */
  readonly sha256: string;
}

/** Bytes written in one call. */
const CHUNK = 1 << 20;

/** The name of a file of an archive. */
export function warcFileName(file: number): string {
  return `CC-MAIN-20261009012345-20261009042345-${String(file).padStart(5, '0')}.warc.gz`;
}

/**
 * Writes one file as the robotstxt subset of Common Crawl has them: a warcinfo record, then
 * request, response and metadata for each capture, each a gzip member of its own.
 */
export function writeWarcFile(path: string, plan: CapturePlan, file: number): WarcFileSummary {
  const { seed, files, captures } = plan.options;
  const random = new Random(seed, STREAM.archives + 16 * file + 2);
  const descriptor = openSync(path, 'w');
  const hash = createHash('sha256');
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  let bytes = 0;
  let plainBytes = 0;
  const flush = () => {
    const all = Buffer.concat(pending);
    for (let from = 0; from < all.length; ) from += writeSync(descriptor, all, from);
    pending = [];
    pendingBytes = 0;
  };
  const write = (record: Buffer) => {
    hash.update(record);
    plainBytes += record.length;
    // Smaller than zlib's usual chunk: a million chunks are collected.
    const member = gzipSync(record, { chunkSize: Math.max(1024, record.length >> 1) });
    bytes += member.length;
    pendingBytes += member.length;
    pending.push(member);
    if (pendingBytes >= CHUNK) flush();
  };
  const info = uuid(random);
  write(infoRecord(info, warcFileName(file)));
  for (let place = 0; place < captures / files; place++) {
    for (const record of recordsOf(plan.capture(file, place), info, random)) write(record);
  }
  flush();
  closeSync(descriptor);
  return { bytes, plainBytes, sha256: hash.digest('hex') };
}

function infoRecord(id: string, name: string): Buffer {
  const fields = [
    'isPartOf: CC-MAIN-2026-43',
    'publisher: a generator',
    'description: Wide crawl of the web for October 2026',
    'operator: a benchmark (info@crawler.example)',
    'hostname: ip-192-0-2-66.example',
    'software: Apache Nutch 1.20 (modified)',
    'robots: checked via crawler-commons 1.5',
    'format: WARC File Format 1.1',
    'conformsTo: https://iipc.github.io/warc-specifications/specifications/warc-format/warc-1.1/',
    '',
  ].join('\r\n');
  const head = [
    'WARC-Type: warcinfo',
    'WARC-Date: 2026-10-09T01:23:45Z',
    `WARC-Record-ID: ${id}`,
    `Content-Length: ${fields.length}`,
    'Content-Type: application/warc-fields',
    `WARC-Filename: ${name}`,
  ];
  return recordOf(head, Buffer.from(fields));
}

/** The request, the response and the metadata of a capture. */
function recordsOf({ url, date, reply }: PlannedCapture, info: string, random: Random): Buffer[] {
  const { host, pathname, protocol } = new URL(url);
  const [request, response, metadata] = [uuid(random), uuid(random), uuid(random)];
  const day = `WARC-Date: ${new Date(date).toISOString().slice(0, 19)}Z`;
  const address = `WARC-IP-Address: 203.0.113.${random.below(256)}`;
  const secure = ['WARC-Protocol: h2', 'WARC-Protocol: tls/1.3'];
  const cipher = 'WARC-Cipher-Suite: TLS_AES_128_GCM_SHA256';
  const protocols = protocol === 'https:' ? [...secure, cipher] : ['WARC-Protocol: http/1.1'];
  const asked = Buffer.from(
    [
      `GET ${pathname} HTTP/1.1`,
      'User-Agent: CCBot/2.0 (https://commoncrawl.org/faq/)',
      'Accept: text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8',
      'Accept-Language: en-US,en;q=0.5',
      'Accept-Encoding: br,gzip',
      `Host: ${host}`,
      'Connection: Keep-Alive',
      '',
      '',
    ].join('\r\n'),
  );
  const answer = Buffer.concat([Buffer.from(httpHead(date, reply, random)), reply.body]);
  const notes = Buffer.from(
    `fetchTimeMs: ${random.between(20, 4000)}\r\ncharset-detected: UTF-8\r\nlanguages-cld2: {"reliable":false,"text-bytes":${reply.body.length}}\r\n`,
  );
  return [
    recordOf(
      [
        'WARC-Type: request',
        day,
        `WARC-Record-ID: ${request}`,
        `Content-Length: ${asked.length}`,
        'Content-Type: application/http; msgtype=request',
        `WARC-Warcinfo-ID: ${info}`,
        address,
        `WARC-Target-URI: ${url}`,
        ...protocols,
      ],
      asked,
    ),
    recordOf(
      [
        'WARC-Type: response',
        day,
        `WARC-Record-ID: ${response}`,
        `Content-Length: ${answer.length}`,
        'Content-Type: application/http; msgtype=response',
        `WARC-Warcinfo-ID: ${info}`,
        `WARC-Concurrent-To: ${request}`,
        address,
        `WARC-Target-URI: ${url}`,
        ...protocols,
        `WARC-Payload-Digest: ${digestOf(reply.body)}`,
        `WARC-Block-Digest: ${digestOf(answer)}`,
        `WARC-Identified-Payload-Type: ${reply.type.split(';', 1)[0]}`,
      ],
      answer,
    ),
    recordOf(
      [
        'WARC-Type: metadata',
        day,
        `WARC-Record-ID: ${metadata}`,
        `Content-Length: ${notes.length}`,
        'Content-Type: application/warc-fields',
        `WARC-Warcinfo-ID: ${info}`,
        `WARC-Concurrent-To: ${response}`,
        `WARC-Target-URI: ${url}`,
      ],
      notes,
    ),
  ];
}

const REASONS: Readonly<Record<number, string>> = {
  200: 'OK',
  301: 'Moved Permanently',
  302: 'Found',
  403: 'Forbidden',
  404: 'Not Found',
  503: 'Service Unavailable',
};

const SERVERS = ['nginx', 'cloudflare', 'Apache', 'LiteSpeed', 'Microsoft-IIS/10.0', 'openresty'];

/** Status line and header, with as many fields as servers send. */
function httpHead(date: number, { status, location, body, type }: Reply, random: Random): string {
  const lines = [
    `HTTP/1.1 ${status} ${REASONS[status] ?? ''}`,
    `Date: ${new Date(date).toUTCString()}`,
    `Content-Type: ${type}`,
    `X-Crawl-Content-Length: ${body.length}`,
    `Content-Length: ${body.length}`,
    'Connection: keep-alive',
    `Server: ${random.pick(SERVERS)}`,
  ];
  if (location !== undefined) lines.push(`Location: ${location}`);
  if (random.chance(0.5)) {
    const modified = date - random.below(300) * 24 * 60 * 60 * 1000;
    lines.push(`Last-Modified: ${new Date(modified).toUTCString()}`);
    lines.push(`ETag: "${random.uint32().toString(16)}-${body.length.toString(16)}"`);
  }
  if (random.chance(0.4))
    lines.push('Strict-Transport-Security: max-age=31536000; includeSubDomains');
  if (random.chance(0.4)) lines.push('Cache-Control: max-age=600, public', 'Vary: Accept-Encoding');
  if (random.chance(0.3))
    lines.push('X-Content-Type-Options: nosniff', 'X-Frame-Options: SAMEORIGIN');
  if (random.chance(0.25)) {
    const ray = `${random.uint32().toString(16)}${random.uint32().toString(16)}`;
    lines.push(`CF-RAY: ${ray}-IAD`, 'CF-Cache-Status: DYNAMIC', 'alt-svc: h3=":443"; ma=86400');
  }
  if (random.chance(0.15)) {
    lines.push(`Set-Cookie: session=${random.uint32().toString(36)}; Path=/; HttpOnly; Secure`);
  }
  return `${lines.join('\r\n')}\r\n\r\n`;
}

function recordOf(head: readonly string[], block: Buffer): Buffer {
  const text = `WARC/1.0\r\n${head.join('\r\n')}\r\n\r\n`;
  return Buffer.concat([Buffer.from(text), block, Buffer.from('\r\n\r\n')]);
}

function digestOf(bytes: Buffer): string {
  return `sha1:${base32(createHash('sha1').update(bytes).digest())}`;
}

/** Base32 (RFC 4648) of a multiple of five bytes. */
function base32(bytes: Buffer): string {
  let text = '';
  for (let at = 0; at < bytes.length; at += 5) {
    const value = bytes.readUIntBE(at, 5);
    for (let digit = 7; digit >= 0; digit--) {
      text += 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.charAt(Math.floor(value / 32 ** digit) % 32);
    }
  }
  return text;
}

function uuid(random: Random): string {
  const [a, b, c, d] = Array.from({ length: 4 }, () =>
    random.uint32().toString(16).padStart(8, '0'),
  ) as [string, string, string, string];
  return `<urn:uuid:${a}-${b.slice(0, 4)}-4${b.slice(5)}-9${c.slice(1, 4)}-${c.slice(4)}${d}>`;
}
