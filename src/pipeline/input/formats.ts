import { LF, OPEN_BRACE } from '../../ascii.js';
import { compressionOf } from '../../files/compressions.js';
import type { Format, InputFormat, Recognition, RefusedFormat } from './format.js';
import { columns, rowsFormat } from './formats/columns.js';
import { json } from './formats/json.js';
import { type NamedRows, namedRows } from './formats/named-rows.js';
import { ndjson } from './formats/ndjson.js';
import { parquet } from './formats/parquet.js';
import { csv, tsv } from './formats/rows.js';
import { text } from './formats/text.js';
import { unsupported } from './formats/unsupported.js';
import { needsMoreBytes } from './head.js';

/*
 * How an input is opened by its first bytes: open.ts undoes the compression that they tell
 * (files/compressions.ts), refuses what REFUSED_FORMATS describe, and lets the first of FORMATS
 * that recognises them turn the rest into lines.
 */

/**
 * The formats that are read, in the order in which they are tried. To add one, write a file of
 * formats/ and add it here, before those that would recognise its first bytes as their own.
 */
export const FORMATS: readonly Format[] = [parquet, json, ndjson, csv, tsv, text];

/** The formats that are recognised in order to refuse them with advice. */
export const REFUSED_FORMATS: readonly RefusedFormat[] = [unsupported, columns];

/** The format of a name. */
export function formatNamed(name: InputFormat): Format {
  const format = FORMATS.find((candidate) => candidate.name === name);
  if (format === undefined) throw new Error(`no input format ${name}`);
  return format;
}

/** The format of an input; `undefined` while bytes that are still to come can change the answer. */
export function recogniseFormat(head: Uint8Array): InputFormat | undefined {
  return needsMoreBytes(head) ? undefined : firstFormat(head);
}

function firstFormat(head: Uint8Array): InputFormat | undefined {
  for (const { name, recognise } of FORMATS) {
    const isOfFormat = recognise(head);
    if (isOfFormat === undefined) return undefined;
    if (isOfFormat) return name;
  }
  return undefined;
}

/**
 * The format that `--input auto` takes an input for if no more than `head` is known of it. Where
 * `head` leaves it open, an object on a line longer than the head counts as NDJSON.
 */
export function sniffFormat(head: Uint8Array): InputFormat {
  return firstFormat(head) ?? (head.includes(OPEN_BRACE) ? 'ndjson' : 'text');
}

/**
 * The format of the input if `--input auto` finds rows in it.
 *
 * @param named the format that the name of the input tells
 * @param isTold whether the user has said where the URL is in rows, or whether there is a header
 */
export function sniffRows(
  recognition: Recognition,
  named: 'csv' | 'tsv' | undefined,
  isTold: boolean,
): NamedRows {
  if (named !== undefined) return namedRows(named, recognition, isTold);
  const { head, isWhole, format } = recognition;
  return { format: rowsFormat(head, isWhole, format) };
}

/**
 * Whether `head` is enough to open the input: more bytes would change nothing.
 *
 * @param isNamed whether the name of the input tells a format of rows
 */
export function isEnough(head: Uint8Array, asked: InputFormat | 'auto', isNamed: boolean): boolean {
  if (needsMoreBytes(head)) return false;
  if (asked !== 'auto' || compressionOf(head) !== undefined) return true;
  if (isNamed) return head.includes(LF);
  const recognised = recogniseFormat(head);
  // Whether text is columns shows in its first lines: those of one read, and at least one.
  return recognised === 'text' ? head.includes(LF) : recognised !== undefined;
}

/** Says why an input is refused, and what to type instead; `undefined` if it is not. */
export function describeRefusal(
  recognition: Recognition,
  asked: InputFormat | 'auto',
): string | undefined {
  for (const refused of REFUSED_FORMATS) {
    if (!refused.always && asked !== 'auto') continue;
    const description = refused.describe(recognition, asked);
    if (description !== undefined) return description;
  }
  return undefined;
}
