import type { Archive, ArchivePart, PartReader } from '../../cache/cache.js';
import { drawKey } from '../../compile/intern/hash-bytes.js';
import {
  BODY_UNAVAILABLE,
  BODY_UNREACHABLE,
  FIRST_BODY,
} from '../../compile/parallel/table-part.js';
import {
  ArchiveCompilation,
  type ArchiveTarget,
} from '../../pipeline/compile/archive-compilation.js';
import type { Authority } from '../../protocol/authority.js';
import { withoutTruncatedLine } from '../../protocol/truncated-line.js';
import { type Capture, CaptureList } from '../../warc/captures.js';
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

/** A reading of a file, in which bodies were numbered. */
interface Reading {
  readonly part: ArchivePart;
  readonly firstBody: number;
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
  const chosen = new ChosenBodies();
  const compilation = new ArchiveCompilation(archive, chosen, (warning) => warnings.add(warning));
  const readings: Reading[] = [];
  for (;;) {
    const parts = compilation.nextParts();
    if (parts.length === 0) break;
    for (const part of parts) {
      readings.push({ part, firstBody: chosen.bodies });
      await chosen.read(part, reader, warnings, compilation);
    }
  }
  await compilation.bind(undefined);
  for (const { part, firstBody } of readings) {
    let body = firstBody;
    await reader.read(part, (event) => {
      if (event.kind !== 'capture' || event.capture.outcome.kind !== 'body') return;
      const { offset, outcome, source = part.displayPath } = event.capture;
      for (const authority of chosen.authoritiesOf(body++)) {
        const whole = outcome.isCut ? withoutTruncatedLine(outcome.body) : outcome.body;
        onRobots({ authority, body: whole, path: source, offset });
      }
    });
  }
}

/** Numbers the bodies of captures as they are read, and learns which authorities have them. */
class ChosenBodies implements ArchiveTarget {
  readonly key = drawKey();
  /** Bodies so far, numbered from 0; in the compilation FIRST_BODY is added. */
  bodies = 0;
  readonly #authorities = new Map<number, Authority[]>();

  addEntry(authority: Authority, { body }: { readonly body: number }): void {
    if (body < FIRST_BODY) return;
    const number = body - FIRST_BODY;
    const others = this.#authorities.get(number);
    if (others === undefined) this.#authorities.set(number, [authority]);
    else others.push(authority);
  }

  /** Reads a file, and adds its captures to the compilation. */
  async read(
    part: ArchivePart,
    reader: PartReader,
    warnings: CacheWarnings,
    compilation: ArchiveCompilation,
  ): Promise<void> {
    const captures = new CaptureList();
    await reader.read(part, (event) => {
      if (event.kind === 'warning') warnings.add(event.warning);
      else if (event.kind === 'left-out') captures.pushLeftOut(event.url, event.offset);
      else if (event.kind === 'capture') {
        captures.push(event.capture, this.#numberOf(event.capture));
      }
    });
    compilation.add(captures.take(), part, { body: (number) => number });
  }

  /** The authorities whose robots.txt is a body. */
  authoritiesOf(body: number): readonly Authority[] {
    return this.#authorities.get(body) ?? [];
  }

  #numberOf({ outcome }: Capture): number {
    switch (outcome.kind) {
      case 'body':
        return FIRST_BODY + this.bodies++;
      case 'unavailable':
        return BODY_UNAVAILABLE;
      case 'unreachable':
        return BODY_UNREACHABLE;
      default:
        return Number.NaN;
    }
  }
}
