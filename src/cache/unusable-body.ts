import { createHash } from 'node:crypto';
import { brotliDecompressSync, constants, inflateRawSync, inflateSync } from 'node:zlib';
import { CR, LF, SPACE, TAB } from '../ascii.js';
import { findMagic } from '../files/magic.js';
import { MISDECODED, unsupportedBody } from '../files/unsupported-formats.js';
import { isZlib } from '../http/body.js';
import { type Authority, formatAuthority } from '../protocol/authority.js';
import { isBinary } from '../protocol/binary-body.js';
import type { CacheWarningCode } from './entry.js';
import type { Skip } from './file.js';

/** Something about a body that counts all the same. */
export interface Notice {
  readonly kind: 'notice';
  readonly code: CacheWarningCode;
  readonly message: string;
}

/** Bytes of a binary body in which rules are looked for. */
const EXAMINED_BYTES = 16 * 1024;

/** White space before magic bytes, at most. Templates print some before what they send. */
const MOST_WHITE_SPACE = 16;

/** Bytes to which those are decoded, at most. */
const MOST_DECODED = 1024 * 1024;

/** The key that begins every group: a body without it has no rules. */
const KEY = 'user-agent';
/** The same in two and four bytes a letter, whatever their order. */
const WIDE_KEYS = [1, 3].map((zeros) => [...KEY].join('\0'.repeat(zeros)));

/**
 * Examines the body of a robots.txt. Whatever was served counts, even an icon, which has no rules
 * and so allows everything (RFC 9309 sections 2.3.1.1 and 2.3.1.5). Then binary data gets a notice.
 * But a body is skipped if it is recognisably compressed or of another format: read as text, it
 * would allow what its rules deny.
 *
 * @param authority the authority of the robots.txt, for the message
 * @param sha256 digest of the body that a fetch stored. If such a body is still compressed after
 *   its declared content codings were undone, its bytes count as they are (RFC 9309 section 2.2)
 */
export function examineBody(
  body: Uint8Array,
  authority: Authority,
  sha256?: string,
): Skip | Notice | undefined {
  const format = unsupportedBody(body);
  if (format === undefined && !isBinary(body)) return undefined;
  if (sha256 !== undefined && createHash('sha256').update(body).digest('hex') === sha256)
    return undefined;
  const host = formatAuthority(authority);
  const found: HiddenFormat | undefined = format ?? hiddenFormat(body);
  if (found === undefined) {
    const message = `The body is binary data. Crawlers read it as text: unless a line of it is a rule, every URL of ${host} is allowed. If the site has other rules, download it again.`;
    return { kind: 'notice', code: 'binary', message };
  }
  const unknown = `Until then URLs of ${host} are unknown, unless another file has its robots.txt.`;
  const { name, command, advice, isText } = found;
  if (advice !== undefined) {
    const message = `The file is ${name}, not a robots.txt; skipped. Take it out of the directory. URLs of ${host} are unknown, unless another file has its robots.txt.`;
    return { kind: 'skip', code: 'not-text', message };
  }
  const remedy = command === undefined ? 'Download it again.' : `Decompress it (${command}).`;
  const message = isText
    ? `The body is ${name}; skipped. Save it as UTF-8. ${unknown}`
    : `The body is ${name}, not text; skipped. ${remedy} ${unknown}`;
  return { kind: 'skip', code: 'compressed', message };
}

/** A format that hides rules. */
interface HiddenFormat {
  readonly name: string;
  readonly command?: string;
  readonly advice?: string;
  /** Whether it is text in another encoding. */
  readonly isText?: boolean;
}

/** The format of binary data that hides rules, however it was stored; `undefined` if none does. */
function hiddenFormat(body: Uint8Array): HiddenFormat | undefined {
  let start = 0;
  while (start < MOST_WHITE_SPACE && isWhiteSpace(body[start])) start++;
  const rest = body.subarray(start);
  const format = unsupportedBody(rest) ?? findMagic(MISDECODED, rest);
  if (format !== undefined) return format;
  const head = Buffer.from(body.subarray(0, EXAMINED_BYTES));
  const text = head.toString('latin1').toLowerCase();
  if (WIDE_KEYS.some((key) => text.includes(key))) {
    return { name: 'UTF-16 or UTF-32 text without its byte order mark', isText: true };
  }
  // Neither of the two has magic bytes.
  if (
    holdsRules(() => (isZlib(head[0]) ? inflateSync(head, DEFLATE) : inflateRawSync(head, DEFLATE)))
  ) {
    return { name: 'deflate data' };
  }
  return holdsRules(() => brotliDecompressSync(head, BROTLI))
    ? { name: 'brotli data', command: 'brotli -dc' }
    : undefined;
}

/** Options with which data may end early. */
const DEFLATE = { finishFlush: constants.Z_SYNC_FLUSH, maxOutputLength: MOST_DECODED };
const BROTLI = { finishFlush: constants.BROTLI_OPERATION_FLUSH, maxOutputLength: MOST_DECODED };

/** Whether data can be decoded, and holds rules then. */
function holdsRules(decode: () => Buffer): boolean {
  try {
    return decode().toString('latin1').toLowerCase().includes(KEY);
  } catch {
    return false;
  }
}

function isWhiteSpace(byte: number | undefined): boolean {
  return byte === SPACE || byte === TAB || byte === CR || byte === LF;
}
