/**
 * Compiled bodies: what a table knows of a robots.txt, on its way into another table. A compiled
 * body takes the place of the bytes that a server sent, which no table keeps.
 */

import { Buffer } from 'node:buffer';
import { EVERYONE, isSignalToken, productTokenOf } from '../protocol/uses.js';
import { encodeRecordList, readRecordList } from '../table/record-list.js';
import type { CompiledRobots, TokenList } from './compiled-robots.js';

/*
 * The bytes: the length of a JSON object (Head), 32 bits; the object; the automata; a record list,
 * or nothing. Only this program writes and reads them, within one run.
 */
const LENGTH_BYTES = 4;

/** A group: its automaton, counted from 1, or 0 if no rule can match; the line it counts from. */
type HeadGroup = readonly [automaton: number, firstLine: number];

interface Head {
  /** The product tokens in lower case, each with the index of its list of groups. */
  readonly tokens: readonly (readonly [token: string, list: number])[];
  readonly lists: readonly (readonly HeadGroup[])[];
  /** The length of each automaton, in bytes. */
  readonly automata: readonly number[];
}

/** What a table knows of a successful robots.txt. */
export interface KnownRobots extends Omit<Head, 'automata'> {
  /** The automata, in the table's format. */
  readonly automata: readonly Uint8Array[];
  /** The record list, in the table's format; empty for none. */
  readonly recordList: Uint8Array;
}

/** Makes a compiled body. */
export function encodeCompiledBody({ automata, recordList, ...rest }: KnownRobots): Uint8Array {
  const head: Head = { ...rest, automata: automata.map(({ length }) => length) };
  const text = Buffer.from(JSON.stringify(head));
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt32LE(text.length);
  return Buffer.concat([length, text, ...automata, recordList]);
}

/** What a table keeps of the robots.txt files that it is made of. */
interface KeptParts {
  /** The product tokens, besides `*`, whose groups count; `undefined` for all. */
  readonly kept: ReadonlySet<string> | undefined;
  readonly keepsRecords: boolean;
  readonly keepsSignals: boolean;
}

/**
 * Adds a compiled body to other robots.txt files.
 *
 * @returns the number of its robots record, and the number of its record list plus one, or 0
 */
export function addCompiledBody(
  bytes: Uint8Array,
  into: CompiledRobots,
  { kept, keepsRecords, keepsSignals }: KeptParts,
): { readonly record: number; readonly recordList: number } {
  const body = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = LENGTH_BYTES + body.readUInt32LE(0);
  const head = JSON.parse(body.toString('utf8', LENGTH_BYTES, at)) as Head;
  const automata = head.automata.map((length) => {
    at += length;
    return body.subarray(at - length, at);
  });
  const isKept = (token: string): boolean => token === '*' || (kept?.has(token) ?? true);
  const isKeptSignal = (name: string): boolean => {
    const token = productTokenOf(name);
    return keepsSignals && (token === EVERYONE || isKept(token));
  };
  const lists: TokenList[] = [];
  for (const [token, index] of head.tokens) {
    if (isSignalToken(token)) {
      if (!isKeptSignal(token)) continue;
    } else if (!isKept(token)) {
      into.noteToken(token);
      continue;
    }
    const groups = head.lists[index] as readonly HeadGroup[];
    const list = groups.flatMap(([automaton, firstLine]) => {
      if (automaton === 0) return [0, 0];
      return [into.automata.add(automata[automaton - 1] as Buffer) + 1, firstLine];
    });
    lists.push([into.numberOf(token), list]);
  }
  const record = into.addSuccessful(lists);
  const list = keepsRecords ? keptList(body.subarray(at), kept === undefined, isKept) : undefined;
  return { record, recordList: list === undefined ? 0 : into.recordLists.add(list) + 1 };
}

/** The part of a record list that counts for the product tokens that are kept. */
function keptList(
  list: Buffer,
  keepsAll: boolean,
  isKept: (token: string) => boolean,
): Uint8Array | undefined {
  if (list.length === 0) return undefined;
  if (keepsAll) return list;
  const { records } = readRecordList(list, 0, list.length, (_at, what) => new Error(what));
  const kept = records.flatMap((record) => {
    const productTokens = record.productTokens?.filter(isKept);
    return productTokens?.length === 0 ? [] : [{ ...record, productTokens }];
  });
  return kept.length === 0 ? undefined : encodeRecordList(kept);
}
