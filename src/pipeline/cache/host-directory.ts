import type { Authority } from '../../protocol/authority.js';
import { bodyLimit } from './entry.js';
import {
  FETCH_RECORD,
  type FetchFinding,
  type FetchReading,
  type FetchRecord,
  findingOf as fetchFindingOf,
  isLongUnreachable,
  type LastSuccess,
  LONGEST_FETCH_RECORD,
  parseFetchRecord,
} from './fetch-record.js';
import {
  exists,
  type FileAccess,
  type FilePath,
  type Refusal,
  readBody,
  refusalOf,
} from './file.js';
import {
  type CacheReading,
  type Finding,
  findingOf,
  type Heading,
  NO_FILE,
  refused,
  SHORT_BODY,
} from './finding.js';
import { isPassedOver, ROBOTS_TXT } from './layout.js';
import { join, listNames } from './listing.js';
import { describeName } from './name.js';

const NO_COPY =
  'Its robots.json speaks of a robots.txt that is gone; left out. Fetch it again, or delete the directory.';

/** Says why a host's directory has no robots.txt, if that needs saying. */
async function examineEmpty(path: FilePath, shown: string): Promise<Finding> {
  let names: string[];
  try {
    names = await listNames(path);
  } catch (error) {
    return { kind: 'refused', shown, refusal: refusalOf(error) };
  }
  // A fetch that found no robots.txt leaves its record alone.
  if (names.length > 0 && names.every(isPassedOver)) return { kind: 'passed-over' };
  const directory = names.find((name) => name.endsWith('/') && !isPassedOver(name));
  if (directory !== undefined) {
    const message = `Directories such as ${describeName(directory)} are nested deeper than HOST/robots.txt or SCHEME/HOST/robots.txt; left out.`;
    return refused(shown, 'too-deep', message);
  }
  return refused(shown, 'no-robots-txt', 'A directory without a robots.txt; left out.');
}

/** A directory that is named for a host. */
export interface HostDirectory {
  readonly path: FilePath;
  /** The path for messages. */
  readonly shown: string;
  readonly authority: Authority;
  /** What the sources of its entries begin with: `https/example.com/`. */
  readonly prefix: string;
}

/** Reads what there is of a host's robots.txt: it, what a fetch says of it, or both. */
export async function readHostDirectory(
  { path, shown, authority, prefix }: HostDirectory,
  { access, options }: CacheReading,
): Promise<Finding> {
  // The record first: a fetch puts robots.txt in its place before it, so a new record never meets
  // an old robots.txt.
  const told = await readFetchRecord(path, access, authority);
  // What it says is not known, and it may say that the robots.txt beside it is out of force.
  if (told?.kind === 'refusal') {
    return { kind: 'refused', shown: `${shown}/${FETCH_RECORD}`, refusal: told };
  }
  const record = told?.record;
  const reading = options.fetchReading ?? {};
  const withoutCopy = record && fetchFindingOf(record, false, reading);
  if (withoutCopy !== undefined && !isCopyWanted(record, reading)) {
    return recordFinding(authority, prefix, withoutCopy);
  }

  const robotsPath = join(path, ROBOTS_TXT);
  const limit = bodyLimit(options.maxBodyBytes);
  const outcome = await readBody(robotsPath, access, limit, SHORT_BODY);
  if (outcome.kind === 'missing') {
    if (withoutCopy === undefined) return examineEmpty(path, shown);
    return withoutCopy.access === 'successful'
      ? refused(shown, 'no-robots-txt', NO_COPY)
      : recordFinding(authority, prefix, withoutCopy);
  }
  const robotsShown = `${shown}/${ROBOTS_TXT}`;
  if (outcome.kind === 'directory') {
    return refused(robotsShown, 'not-a-file', NO_FILE);
  }
  const source = `${prefix}${ROBOTS_TXT}`;
  const entry = { authority, source, status: undefined };
  const lastSuccess = record?.lastSuccess;
  const heading: Heading =
    record === undefined
      ? { entry }
      : {
          entry: { ...entry, fetched: fetchFindingOf(record, true, reading) },
          sha256: lastSuccess?.sha256,
          cutAt: cutOf(lastSuccess, options.maxBodyBytes),
        };
  return findingOf(outcome, robotsPath, robotsShown, heading);
}

/**
 * Where a fetch has cut a robots.txt; `undefined` for a whole one, and where the parsing limit
 * leaves out the torn line anyway.
 */
function cutOf(lastSuccess: LastSuccess | undefined, maxBodyBytes: number): number | undefined {
  if (lastSuccess?.cut !== true || lastSuccess.octets > maxBodyBytes) return undefined;
  return lastSuccess.octets;
}

/** Whether the robots.txt beside a record may count. */
function isCopyWanted(
  record: FetchRecord | undefined,
  { unreachableAfter }: FetchReading,
): boolean {
  return (
    record === undefined ||
    record.accessResult === 'successful' ||
    isLongUnreachable(record, unreachableAfter)
  );
}

/** The entry of an authority that has no robots.txt that counts. */
function recordFinding(authority: Authority, prefix: string, fetched: FetchFinding): Finding {
  const entry = {
    authority,
    body: new Uint8Array(0),
    source: `${prefix}${FETCH_RECORD}`,
    status: undefined,
    fetched,
  };
  return { kind: 'entry', entry };
}

/** Reads the robots.json in a host's directory; `undefined` where there is none. */
async function readFetchRecord(
  path: FilePath,
  access: FileAccess,
  authority: Authority,
): Promise<{ kind: 'record'; record: FetchRecord } | Refusal | undefined> {
  const recordPath = join(path, FETCH_RECORD);
  if (!access.concurrent && !exists(recordPath)) return undefined;
  const outcome = await readBody(
    recordPath,
    access,
    LONGEST_FETCH_RECORD + 1,
    LONGEST_FETCH_RECORD,
  );
  switch (outcome.kind) {
    case 'missing':
      return undefined;
    case 'refusal':
      return outcome;
    case 'directory':
      return { kind: 'refusal', code: 'not-a-file', message: NO_FILE };
    case 'long':
      return badRecord('It is longer than 512 KiB');
    case 'body': {
      const record = parseFetchRecord(outcome.octets, authority);
      return typeof record === 'string' ? badRecord(record) : { kind: 'record', record };
    }
  }
}

function badRecord(reason: string): Refusal {
  const message = `${reason}; the host is left out. Mend it, or delete it and fetch again.`;
  return { kind: 'refusal', code: 'bad-record', message };
}
