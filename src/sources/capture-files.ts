/**
 * Files of captures: lines of JSON, which `robots-filter captures` writes and a compilation reads,
 * perhaps on another machine. docs/sources.md describes the members.
 */

import { isUtf8 } from 'node:buffer';
import { COMPRESSION_ENDINGS } from '../files/compression.js';
import { isBlankLine, linesOf, splitBlocks } from '../files/lines.js';
import { parseAuthority } from '../protocol/authority.js';
import { accessResultOf, isReadByProfile, type Profile } from '../protocol/verdict.js';
import { type Capture, type CaptureOutcome, captureUrl } from '../warc/captures.js';
import type { CacheOptions, WarningEvent } from './entry.js';
import { hasEnding } from './item.js';
import { decodeBase64, parseObject, statusOf } from './record.js';
import { readText } from './record-files.js';

/** Maximum length of a line, in bytes: the longest body in base64, and its other members. */
const LONGEST_LINE = 128 * 1024 * 1024;

/** The name ending of files of captures that are not compressed. */
export const CAPTURE_FILE_ENDING = '.captures.ndjson';

/** The name endings of files of captures. */
const CAPTURE_FILE_ENDINGS = COMPRESSION_ENDINGS.map((ending) => `${CAPTURE_FILE_ENDING}${ending}`);

/** Whether a name is that of a file of captures, which `robots-filter captures` wrote. */
export function isCaptureFile(name: string): boolean {
  return CAPTURE_FILE_ENDINGS.some((ending) => hasEnding(name, ending));
}

/**
 * Passes on the captures of a file of captures.
 *
 * @param path the path for messages
 * @throws RobotsFilterError `input` if the file cannot be read to its end
 */
export async function readCaptureFile(
  descriptor: number,
  path: string,
  { asOf = Number.POSITIVE_INFINITY, maxBodyBytes, profile = 'rfc9309' }: CacheOptions,
  onEvent: (event: { kind: 'capture'; capture: Capture } | WarningEvent) => void,
): Promise<void> {
  const warn = (line: number, reason: string): void => {
    const message = `${reason}; skipped.`;
    onEvent({ kind: 'warning', warning: { code: 'bad-record', path, line, message } });
  };
  for await (const block of splitBlocks(readText(descriptor, path), LONGEST_LINE)) {
    for (const { number, bytes } of linesOf(block, LONGEST_LINE)) {
      if (bytes === undefined) {
        warn(number, 'The line is longer than 128 MiB');
        continue;
      }
      if (isBlankLine(bytes)) continue;
      const capture = parseCaptureLine(bytes, profile);
      if (typeof capture === 'string') warn(number, capture);
      else if (capture !== undefined && Math.floor(capture.date) <= asOf) {
        onEvent({ kind: 'capture', capture: shortened(capture, maxBodyBytes) });
      }
    }
  }
}

/** The capture with as much of its body as counts, and one byte more if the body is longer. */
function shortened(capture: Capture, maxBodyBytes: number): Capture {
  const { outcome } = capture;
  if (outcome.kind !== 'body' || outcome.body.length <= maxBodyBytes) return capture;
  const body = outcome.body.subarray(0, maxBodyBytes + 1);
  return { ...capture, outcome: { ...outcome, body } };
}

/** The members of a line. */
type Members = Readonly<Record<string, unknown>>;

/**
 * The line of a capture, without a line end.
 *
 * @param source the file that holds the capture
 * @param file the number of the file among those that were named
 */
export function captureLine(capture: Capture, source: string, file: number): string {
  const { url, offset, date, payloadDigest, outcome } = capture;
  const digest = payloadDigest === '' ? {} : { payload_digest: payloadDigest };
  return JSON.stringify({
    ...placeMembers(url, source, file),
    offset,
    date,
    ...digest,
    ...outcomeMembers(outcome),
  });
}

/** The line of a capture of which only the URL was read. */
export function leftOutLine(url: string, source: string, file: number): string {
  return JSON.stringify({ ...placeMembers(url, source, file), outcome: 'left-out' });
}

function placeMembers(url: string, source: string, file: number): Members {
  const host = parseAuthority(url)?.host;
  return { file, source, url, ...(host === undefined ? {} : { host }) };
}

function outcomeMembers(outcome: CaptureOutcome): Members {
  switch (outcome.kind) {
    case 'body': {
      const { body } = outcome;
      const robots = isUtf8(body)
        ? { robots: body.toString('utf8') }
        : { robots_base64: body.toString('base64') };
      return { outcome: 'body', ...robots };
    }
    case 'redirect':
      return { outcome: 'redirect', target: outcome.target };
    case 'revisit': {
      const { refersTo, refersToDate, isUnmodified } = outcome;
      return {
        outcome: 'revisit',
        unmodified: isUnmodified,
        ...(refersTo === '' ? {} : { refers_to: refersTo }),
        ...(Number.isNaN(refersToDate) ? {} : { refers_to_date: refersToDate }),
      };
    }
    default: {
      const { kind, status } = outcome;
      return { outcome: kind, ...(status === undefined ? {} : { status }) };
    }
  }
}

/**
 * Reads a line as a capture; `undefined` for a capture that was left out, and a string, the reason,
 * if the line is no capture.
 *
 * @param profile what a status means of which only another profile's reading is written down
 */
export function parseCaptureLine(
  line: Buffer,
  profile: Profile = 'rfc9309',
): Capture | string | undefined {
  const members = parseObject(line);
  if (typeof members === 'string') return members;
  const { url, source, offset, date, payload_digest: payloadDigest = '' } = members;
  if (members.outcome === 'left-out') return undefined;
  if (!isUrl(url)) return '"url" is not a canonical http, https or ftp URL';
  if (typeof source !== 'string' || source === '') return '"source" is not the name of a file';
  if (!isWhole(offset) || offset < 0) return '"offset" is not a number of bytes';
  if (!isDate(date)) return '"date" is not in milliseconds since 1970';
  if (typeof payloadDigest !== 'string') return '"payload_digest" is not a string';
  const outcome = outcomeOf(members, profile);
  return typeof outcome === 'string'
    ? outcome
    : { url, source, offset, date, payloadDigest, outcome };
}

function outcomeOf(members: Members, profile: Profile): CaptureOutcome | string {
  const kind = members.outcome;
  switch (kind) {
    case 'body': {
      const body = bodyOf(members);
      return typeof body === 'string' ? body : { kind, body, isCut: false };
    }
    case 'redirect': {
      const { target } = members;
      return isUrl(target) ? { kind, target } : '"target" is not a canonical URL';
    }
    case 'revisit': {
      const { refers_to: refersTo = '', refers_to_date: date = Number.NaN, unmodified } = members;
      if (refersTo !== '' && !isUrl(refersTo)) return '"refers_to" is not a canonical URL';
      if (!Number.isNaN(date) && !isDate(date)) return '"refers_to_date" is not a date';
      if (typeof unmodified !== 'boolean') return '"unmodified" is neither true nor false';
      return { kind, refersTo, refersToDate: date as number, isUnmodified: unmodified };
    }
    case 'unavailable':
    case 'unreachable': {
      const { status } = members;
      if (status === undefined) return { kind };
      const code = statusOf(status);
      if (code === undefined) return '"status" is not a status code from 100 to 999';
      // Any other status adds nothing to the outcome, in which its response may have been broken.
      if (!isReadByProfile(code)) return { kind };
      const isUnavailable = accessResultOf(code, profile) === 'unavailable';
      return { kind: isUnavailable ? 'unavailable' : 'unreachable', status: code };
    }
    default:
      return '"outcome" is unknown';
  }
}

function bodyOf({ robots, robots_base64: base64 }: Members): Buffer | string {
  if (typeof robots === 'string') return Buffer.from(robots, 'utf8');
  const decoded = typeof base64 === 'string' ? decodeBase64(base64) : undefined;
  return decoded ?? 'There is no "robots" or "robots_base64"';
}

function isUrl(value: unknown): value is string {
  return typeof value === 'string' && captureUrl(value)?.href === value;
}

/** The greatest distance of a date from 1970, in milliseconds (ECMA-262, Time Values). */
const MOST_MILLISECONDS = 8.64e15;

function isDate(value: unknown): value is number {
  return typeof value === 'number' && Math.abs(value) <= MOST_MILLISECONDS;
}

function isWhole(value: unknown): value is number {
  return Number.isSafeInteger(value);
}
