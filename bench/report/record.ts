import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Comparison } from '../competitors/comparison.js';
import type { CorpusSummary } from '../corpus/options.js';
import type { Machine } from '../measure/machine.js';
import type { Result } from '../measure/runs.js';
import { type Figure, figureOf } from '../measure/statistics.js';
import type { InstalledPackage } from '../program/installed-package.js';
import type { RatioRow } from './ratios.js';

const DIRECTORY = join(import.meta.dirname, '..', 'record');

/** A kind of benchmark; each keeps the record of its newest run. */
export type RecordKind =
  | 'throughput'
  | 'growth'
  | 'real'
  | 'load'
  | 'warc'
  | 'formats'
  | 'jobs'
  | 'library';

/** The common fields of all records. */
export interface RecordHead {
  readonly machine: Machine;
  readonly package: Pick<InstalledPackage, 'version' | 'origin'>;
}

/** A record of bench:throughput. */
export interface ThroughputRecord extends RecordHead {
  readonly date: string;
  readonly runs: number;
  readonly corpus: CorpusSummary;
  readonly results: readonly ResultRecord[];
  readonly ratios: readonly RatioRow[];
  readonly differences: readonly Comparison[];
}

/** A record of bench:growth. */
export interface GrowthRecord extends RecordHead {
  /** Missing where `--only` left the curve of hosts out. */
  readonly growth?: { readonly steps: readonly GrowthStep[]; readonly end: string };
  readonly results?: readonly ResultRecord[];
}

/** A number of hosts, and its cost. */
export interface GrowthStep {
  readonly hosts: number;
  readonly robotsBytes: number;
  readonly tableBytes: number;
  readonly compileSeconds: number;
  /** One URL, including the start and opening the table. */
  readonly openSeconds: number;
  /** For each URL, without the start and opening the table. */
  readonly nanoseconds: number;
  /** Peak of resident memory beyond the table. */
  readonly peakBytes: number;
}

/** A record of bench:real. */
export interface RealRecord extends RecordHead {
  readonly results: readonly ResultRecord[];
}

/** A record of bench:load. */
export interface LoadRecord extends RecordHead {
  readonly records: number;
  readonly seconds: number;
  readonly peakBytes: number | undefined;
}

/** A record of bench:warc, bench:formats and bench:jobs. */
export interface CaseRecord extends RecordHead {
  readonly date: string;
  readonly runs: number;
  readonly results: readonly ResultRecord[];
  readonly ratios: readonly RatioRow[];
  /** What the machine could not measure. */
  readonly notMeasured: readonly string[];
}

/** What the case of bench:library is called that README shows. */
export const IN_ANY_ORDER = 'isAllowed, hosts in any order';

/** A record of bench:library. */
export interface LibraryRecord extends RecordHead {
  readonly library: readonly (Figure & {
    readonly what: string;
    readonly library: string;
    readonly questions: number;
  })[];
  /** Bytes of an object beside its body. */
  readonly memory: readonly { readonly library: string; readonly bytes: number }[];
}

/** A case's figures in a record. */
export interface ResultRecord extends Figure {
  readonly id: string;
  readonly name: string;
  readonly kind: string;
  readonly records: number;
  readonly bytes: number;
  /** Seconds of each run; `median`, `least` and `greatest` are those of this list. */
  readonly seconds: readonly number[];
  readonly peakBytes: number | undefined;
}

/**
 * Writes the record of the newest run of a kind, and replaces the previous record.
 *
 * @returns the file
 */
export function writeRecord<Content extends object>(
  kind: RecordKind,
  { machine, package: { version, origin } }: RecordHead,
  content: Content,
): string {
  mkdirSync(DIRECTORY, { recursive: true });
  const file = recordFile(kind);
  const head = { date: new Date().toISOString(), machine, package: { version, origin } };
  writeFileSync(file, `${JSON.stringify({ ...head, ...content }, null, 2)}\n`);
  return file;
}

function recordFile(kind: RecordKind): string {
  return join(DIRECTORY, `${kind}.json`);
}

/** The newest record of a kind, whose type the caller knows; `undefined` if there is none. */
export function readRecord<Kind extends RecordHead>(kind: RecordKind): Kind | undefined {
  const file = recordFile(kind);
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined;
}

export function resultRecord({ case: measured, seconds, peakBytes }: Result): ResultRecord {
  const { id, name, kind, records, bytes } = measured;
  return { id, name, kind, records, bytes, ...figureOf(seconds), seconds, peakBytes };
}
