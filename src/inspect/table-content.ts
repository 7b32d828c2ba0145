import type { AccessResult } from '../protocol/access.js';
import type { Scheme } from '../protocol/authority.js';
import type { TableRecord } from '../table/record-list.js';

/** A host of a table. */
export interface TableHost {
  /** The host in canonical form: see `canonicalHost`. */
  readonly host: string;
  readonly authorities: readonly TableAuthority[];
}

/** Some schemes of a host at one port, and their robots.txt. */
export interface TableAuthority {
  /** Schemes in the order http, https, ftp. */
  readonly schemes: readonly Scheme[];
  /** The port; `undefined` for the default port of each scheme. */
  readonly port: number | undefined;
  readonly accessResult: AccessResult;
  /** The source of the robots.txt, escaped as in a JSON string: safe to print. */
  readonly source: string;
  /** Offset of the robots record, for `TableView.groups`; equal files share a record. */
  readonly robots: number;
  /** Offset of the authority, for `TableView.recordsOf`. */
  readonly at: number;
}

/** What a table keeps of a robots.txt beside its groups. */
export interface AuthorityRecords {
  /** Offset of the list of the records, 0 for none; equal files share a list. */
  readonly list: number;
  /** The other records (RFC 9309 section 2.2.4), in the order of the file. */
  readonly records: readonly TableRecord[];
  /** When the file was fetched, in seconds since 1970; `undefined` if it is not known. */
  readonly date: number | undefined;
}

/** A rule of a table. */
export interface TableRule {
  readonly allow: boolean;
  /** The pattern as written, truncated to TEXT_LIMIT bytes, escaped as in a JSON string. */
  readonly text: string;
  /** Specificity: canonical length of the pattern, in bytes. */
  readonly bytes: number;
  /** Number of its line in the file, from 1. */
  readonly line: number;
}

/** The canonical pattern of a rule: a prefix, then `*` before each segment. */
export interface TablePattern {
  /** Specificity, and 1 for an allow rule: see table/format.ts. */
  readonly rank: number;
  readonly line: number;
  readonly prefix: Uint8Array;
  /** The segments in their first form, and in their second form if they have two. */
  readonly first: readonly Uint8Array[];
  readonly second: readonly Uint8Array[] | undefined;
  /** Whether the last literal must end the path. */
  readonly isEnd: boolean;
}

/** The groups of a robots.txt that some product tokens share (RFC 9309 section 2.2.1). */
export interface MergedGroup {
  /** Product tokens in lower case, sorted, `*` first. */
  readonly productTokens: readonly string[];
  /** The groups that name the tokens, in the order of the file. */
  readonly groups: readonly TableGroup[];
}

export interface TableGroup {
  /** Offset of the automaton; 0 if no rule of the group can match. */
  readonly automaton: number;
  /** The line to which the lines of the rules are relative. */
  readonly firstLine: number;
}
