import type { Archive, ArchivePart, PartReader } from '../../cache/cache.js';
import { drawKey } from '../../compile/intern/hash-bytes.js';
import { FIRST_BODY } from '../../compile/parallel/table-part.js';
import {
  ArchiveCompilation,
  type ArchiveTarget,
} from '../../pipeline/compile/archive-compilation.js';
import type { Authority } from '../../protocol/authority.js';
import { withoutTruncatedLine } from '../../protocol/truncated-line.js';
import type { CacheWarnings } from '../report/cache-warnings.js';

/** The robots.txt of an authority in an archive. */
export interface CapturedRobots {
  readonly authority: Authority;
  /** The body, until the next one. */
  readonly body: Uint8Array;
  /** The path of the file, for messages. */
  readonly path: string;
  /** Offset of the record in the file, in bytes. */
  readonly offset: number;
}

/**
 * Passes on the robots.txt of each authority in an archive, as `--robots-dir` chooses it: the last
 * capture, redirects followed. The captures are read twice, first to choose, so no body is held.
 */
export async function eachCaptured(
  archive: Archive,
  reader: PartReader,
  warnings: CacheWarnings,
  onRobots: (robots: CapturedRobots) => void,
): Promise<void> {
  /** The authorities whose robots.txt is a body, by its number in the order of reading. */
  const authorities = new Map<number, Authority[]>();
  const target: ArchiveTarget = {
    key: drawKey(),
    addEntry(authority, { body }) {
      if (body < FIRST_BODY) return;
      const others = authorities.get(body);
      if (others === undefined) authorities.set(body, [authority]);
      else others.push(authority);
    },
  };
  const compilation = new ArchiveCompilation(archive, target, (warning) => warnings.add(warning));
  const parts: ArchivePart[] = [];
  let bodies = FIRST_BODY;
  await compilation.compile(
    reader,
    () => bodies++,
    (part) => {
      parts.push(part);
    },
  );
  let body = FIRST_BODY;
  for (const part of parts) {
    await reader.read(part, (event) => {
      if (event.kind !== 'capture' || event.capture.outcome.kind !== 'body') return;
      const { offset, outcome, source = part.displayPath } = event.capture;
      for (const authority of authorities.get(body++) ?? []) {
        const whole = outcome.isCut ? withoutTruncatedLine(outcome.body) : outcome.body;
        onRobots({ authority, body: whole, path: source, offset });
      }
    });
  }
}
