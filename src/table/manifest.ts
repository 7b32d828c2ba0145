/** Writes and parses the manifest of a table in shards. */

import { RobotsFilterError } from '../base/errors.js';
import { PROFILES, type Profile } from '../protocol/verdict.js';
import { OLDEST_VERSION, VERSION, VERSION_UNREAD } from './format.js';
import { MAX_SHARDS } from './places.js';

/** The name of the manifest in a directory of shards. */
export const MANIFEST_NAME = 'manifest.json';

/** Greatest length of a manifest in bytes: some 200 for each shard, and the sources. */
export const MAX_MANIFEST_BYTES = 1 << 24;

/** The word by which a manifest is recognised. */
const FORMAT = 'robots-filter shards';
const MANIFEST_VERSION = 1;
const HASH = 'crc32';

/** A part of a table that is divided into shards. */
export interface ManifestPart {
  /** Name of the file, beside the manifest. */
  readonly file: string;
  readonly hosts: number;
  readonly bytes: number;
  /** The checksum in the header of the table, in eight hexadecimal digits. */
  readonly checksum: string;
}

/** The description of a table that is divided into shards by host, as `manifest.json` holds it. */
export interface Manifest {
  readonly format: typeof FORMAT;
  /** Version of the manifest. */
  readonly version: typeof MANIFEST_VERSION;
  /** Number of shards. */
  readonly shards: number;
  /** How a host is assigned: CRC-32 of the canonical host, modulo the number of shards. */
  readonly hash: typeof HASH;
  readonly profile: Profile;
  /** Version of the format of the parts. */
  readonly tableVersion: number;
  /** The product tokens that the table is reduced to; `null` for all. */
  readonly agents: readonly string[] | null;
  readonly hosts: number;
  /** Bytes of all parts. */
  readonly bytes: number;
  /** The caches that were compiled. */
  readonly sources: readonly string[];
  /** When, in ISO 8601. */
  readonly created: string;
  /** The parts, by shard. */
  readonly parts: readonly ManifestPart[];
}

/** The name of the part for a shard. */
export function partName(shard: number): string {
  return `part-${String(shard).padStart(5, '0')}.table`;
}

/** A checksum as a manifest holds it. */
export function checksumText(checksum: number): string {
  return (checksum >>> 0).toString(16).padStart(8, '0');
}

/** The members of a manifest that follow from its parts, and the text of the whole manifest. */
export function manifestText(
  about: Pick<Manifest, 'profile' | 'tableVersion' | 'agents' | 'sources' | 'created' | 'parts'>,
): string {
  const { parts } = about;
  const manifest: Manifest = {
    format: FORMAT,
    version: MANIFEST_VERSION,
    shards: parts.length,
    hash: HASH,
    profile: about.profile,
    tableVersion: about.tableVersion,
    agents: about.agents,
    hosts: parts.reduce((sum, { hosts }) => sum + hosts, 0),
    bytes: parts.reduce((sum, { bytes }) => sum + bytes, 0),
    sources: about.sources,
    created: about.created,
    parts,
  };
  return `${JSON.stringify(manifest, null, 1)}\n`;
}

/**
 * Whether bytes are the beginning of a manifest, as `manifestText` writes it or as another tool has
 * indented or sorted it.
 */
export function beginsAsManifest(head: Uint8Array): boolean {
  const text = withoutSpace(Buffer.from(head).toString('latin1'));
  return text.startsWith('{') && text.includes(withoutSpace(`"format":${JSON.stringify(FORMAT)}`));
}

/** A text without the white space of JSON. A quote within a string has a backslash before it. */
function withoutSpace(text: string): string {
  return [' ', '\t', '\r', '\n'].reduce((rest, space) => rest.replaceAll(space, ''), text);
}

/**
 * Reads a manifest.
 *
 * @param name the path of the manifest, for messages
 * @throws RobotsFilterError `table` if it is damaged or of another version
 */
export function parseManifest(text: string, name: string): Manifest {
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch (cause) {
    throw damaged(name, 'not JSON', cause);
  }
  if (typeof read !== 'object' || read === null || !('format' in read) || read.format !== FORMAT) {
    throw refused(
      name,
      'not a manifest of shards',
      'give the directory that `robots-filter compile --shards` wrote, or a table',
    );
  }
  const manifest = read as Readonly<Record<keyof Manifest, unknown>>;
  const { version, tableVersion, hash } = manifest;
  if (!isCount(version) || !isCount(tableVersion)) throw damaged(name, 'without its versions');
  if (version > MANIFEST_VERSION || tableVersion > VERSION || hash !== HASH) {
    throw refused(
      name,
      `written by a newer version (manifest ${version}, tables ${tableVersion}, hash ${JSON.stringify(hash)})`,
      'upgrade robots-filter, or compile again with this build',
    );
  }
  if (
    version !== MANIFEST_VERSION ||
    tableVersion < OLDEST_VERSION ||
    tableVersion === VERSION_UNREAD
  ) {
    throw refused(
      name,
      `written by an older version (manifest ${version}, tables ${tableVersion})`,
      'compile again with this build',
    );
  }
  const fault = faultOf(manifest);
  if (fault !== undefined) throw damaged(name, fault);
  return manifest as Manifest;
}

/** What is wrong with the members; `undefined` if nothing is. */
function faultOf(manifest: Readonly<Record<keyof Manifest, unknown>>): string | undefined {
  const { shards, parts, profile, agents, sources, hosts, bytes } = manifest;
  if (!PROFILES.includes(profile as Profile)) return 'its profile is unknown';
  if (agents !== null && !isTexts(agents)) return 'its agents are no list of texts';
  if (!isTexts(sources)) return 'its sources are no list of texts';
  if (!isCount(shards) || shards < 1 || shards > MAX_SHARDS) return 'its number of shards is none';
  if (!Array.isArray(parts) || parts.length !== shards) return `it has not ${shards} parts`;
  let [hostSum, byteSum] = [0, 0];
  for (const [shard, part] of parts.entries()) {
    const { file, hosts: partHosts, bytes: partBytes, checksum } = Object(part);
    // The name is not free, so that a manifest cannot name files elsewhere.
    if (file !== partName(shard)) return `its part ${shard} is not ${partName(shard)}`;
    if (!isCount(partHosts) || !isCount(partBytes)) return `the counts of part ${shard} are none`;
    if (typeof checksum !== 'string') return `part ${shard} has no checksum`;
    hostSum += partHosts;
    byteSum += partBytes;
  }
  return hosts === hostSum && bytes === byteSum ? undefined : 'its sums are wrong';
}

function isCount(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

function damaged(name: string, what: string, cause?: unknown): RobotsFilterError {
  const error = refused(name, `damaged: ${what}`, 'copy it again, or compile it again');
  return cause === undefined ? error : new RobotsFilterError('table', error.message, { cause });
}

function refused(name: string, what: string, remedy: string): RobotsFilterError {
  return new RobotsFilterError('table', `${name}: ${what}: ${remedy}`);
}
