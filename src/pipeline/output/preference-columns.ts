import type { Buffer } from 'node:buffer';
import { CR, LF } from '../../ascii.js';
import type { Agent } from '../../protocol/agent.js';
import type { OutputFormat } from './conversion.js';
import type { SaidPreferences } from './record-preferences.js';

/** The preferences for each agent; `undefined` where its verdict is not allow. */
type Said = readonly (SaidPreferences | undefined)[];

/** An addition to a record: its place and its text. */
export interface Addition {
  readonly at: number;
  readonly text: string;
}

/** The member of JSON records that has the preferences. */
export const PREFERENCES_MEMBER = 'preferences';

/** What preferences add to records of a format, which end with a line end. */
export function preferenceAdder(
  format: Exclude<OutputFormat, 'parquet'>,
  agents: readonly Agent[],
): (record: Buffer, said: Said) => Addition {
  if (format === 'ndjson') {
    // After the object, there is only white space.
    return (record, said) => ({ at: record.lastIndexOf('}'), text: memberOf(said, agents) });
  }
  const field = { text: tabbed, tsv: tabbedField, csv: commaField }[format];
  return (record, said) => ({ at: lineEndOf(record), text: said.map(field).join('') });
}

function memberOf(said: Said, agents: readonly Agent[]): string {
  const values = said.map((each) => each?.json ?? 'null');
  if (agents.length === 1) return `,"${PREFERENCES_MEMBER}":${values[0]}`;
  const members = agents.map(({ name }, index) => `${JSON.stringify(name)}:${values[index]}`);
  return `,"${PREFERENCES_MEMBER}":{${members.join(',')}}`;
}

/** The value of a column: empty where nothing is said. */
export function columnValue(said: SaidPreferences | undefined): string | undefined {
  return said === undefined || said.isEmpty ? undefined : said.json;
}

function tabbed(said: SaidPreferences | undefined): string {
  return `\t${columnValue(said) ?? ''}`;
}

function tabbedField(said: SaidPreferences | undefined): string {
  return `\t${quoted(said)}`;
}

function commaField(said: SaidPreferences | undefined): string {
  return `,${quoted(said)}`;
}

function quoted(said: SaidPreferences | undefined): string {
  const value = columnValue(said);
  return value === undefined ? '' : `"${value.replaceAll('"', '""')}"`;
}

/** Offset of the line end of a record. */
function lineEndOf(record: Buffer): number {
  if (record.at(-1) !== LF) return record.length;
  return record.at(-2) === CR ? record.length - 2 : record.length - 1;
}
