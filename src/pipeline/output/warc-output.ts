/** Writes WARC: the records of WARC inputs that are chosen, byte for byte. */

import { Writable } from 'node:stream';
import { RobotsFilterError } from '../../base/errors.js';
import { UnsupportedZstdError } from '../../files/zstd/frames.js';
import { REASON_BITS } from '../../kernel/layout.js';
import { outcomesOf } from '../../kernel/query-settings.js';
import type { ByteSink } from '../../parquet/chunk-writer.js';
import { USE_WORDS } from '../../protocol/uses.js';
import { VERDICTS } from '../../protocol/verdict.js';
import type { ArchiveCompression } from '../../warc/archive.js';
import { readDictionary } from '../../warc/zstd.js';
import type { FilterSettings } from '../filter.js';
import type { OpenInput } from '../input/open.js';
import { type ArchivePlace, type ArchiveUrls, readAgain, unreadable } from '../input/warc-urls.js';
import { isChosen } from './rows.js';

/** Bytes that are copied at a time. */
const PIECE_BYTES = 1 << 20;

/** What follows the block of each record (WARC 1.1 section 4). */
const RECORD_END = '\r\n\r\n';

/** What is written before the records of the first input, and must suit those of all others. */
interface Beginning {
  readonly compression: ArchiveCompression;
  /** The frame with the dictionary of all zstd frames; empty if there is none. */
  readonly dictionary: Buffer;
}

/** How messages name a compression. */
const NAMES: Readonly<Record<ArchiveCompression, string>> = {
  none: 'not compressed',
  gzip: 'gzip',
  zstd: 'zstd',
};

/** An input whose records are copied. */
interface Source {
  readonly name: string;
  readonly archive: ArchiveUrls;
}

/**
 * Copies records of WARC files, each with its gzip member or zstd frame. Records without a URL,
 * such as `warcinfo`, are always copied.
 */
export class WarcOutput {
  readonly #target: ByteSink;
  readonly #settings: FilterSettings;
  /** The compression that the name of the output asks for; `undefined` for that of the input. */
  readonly #asked: ArchiveCompression | undefined;
  #beginning: Beginning | undefined;
  #source: Source | undefined;
  /** The places of records whose verdicts have not come, from an index on. */
  #places: ArchivePlace[] = [];
  #next = 0;
  /** What is copied next of the input. */
  readonly #stretches: { readonly start: number; end: number }[] = [];
  /** The beginning of a record's outcomes. */
  #held: Buffer = Buffer.alloc(0);
  #piece: Buffer | undefined;
  /** The last characters that were written, as many as end a record. */
  #ending = '';
  /** Whether nothing of the present input has been written, but of one before. */
  #followsInput = false;
  /** Judged records that were chosen. */
  rows = 0;

  constructor(target: ByteSink, settings: FilterSettings, asked?: ArchiveCompression) {
    this.#target = target;
    this.#settings = settings;
    this.#asked = asked;
  }

  /**
   * A stream for the outcomes of the records of an input.
   *
   * @throws RobotsFilterError `input` if its records cannot be written beside those before
   */
  async streamFor(input: OpenInput): Promise<Writable> {
    const { name } = input;
    const archive = input.kind === 'stream' ? input.archive : undefined;
    if (archive === undefined) {
      throw new RobotsFilterError(
        'input',
        `${name}: is not WARC, and the output is: only records of WARC files can be copied. Name another output`,
      );
    }
    if (!archive.isPositioned) {
      throw new RobotsFilterError(
        'input',
        `${name}: a pipe is read once, and the records are copied after their verdicts. Write it to a file, and name that file`,
      );
    }
    this.#source = { name, archive };
    this.#followsInput = this.#ending !== '';
    await this.#begin(this.#source);
    return new Writable({
      write: (chunk: Buffer, _encoding, callback) => {
        this.#take(chunk).then(() => callback(), callback);
      },
    });
  }

  /** Writes what follows the last judged record of an input. */
  async endInput(): Promise<void> {
    this.#passUnjudged();
    if (this.#next < this.#places.length) throw new Error('fewer verdicts than records');
    await this.#copy();
  }

  async finish(): Promise<void> {}

  /** @throws RobotsFilterError `input` if compression or dictionary differ */
  async #begin({ name, archive }: Source): Promise<void> {
    const { compression } = archive;
    if (this.#asked !== undefined && this.#asked !== compression) {
      const ending = { none: '.warc', gzip: '.warc.gz', zstd: '.warc.zst' }[compression];
      throw new RobotsFilterError(
        'input',
        `${name}: is ${NAMES[compression]}, and the output is to be ${NAMES[this.#asked]}, but records are copied byte for byte. Name an output that ends in ${ending}`,
      );
    }
    const end = compression === 'zstd' ? await dictionaryEnd(archive, name) : 0;
    const dictionary = Buffer.alloc(end);
    await readAgain(archive, name, 0, dictionary);
    const first = this.#beginning;
    if (first === undefined) {
      this.#beginning = { compression, dictionary };
      if (end > 0) await this.#target.write(dictionary);
      return;
    }
    const other =
      first.compression !== compression
        ? `is ${NAMES[compression]}, and the inputs before are ${NAMES[first.compression]}`
        : first.dictionary.equals(dictionary)
          ? undefined
          : 'has another zstd dictionary than the inputs before';
    if (other === undefined) return;
    throw new RobotsFilterError(
      'input',
      `${name}: ${other}, so their records cannot stand in one file. Write one file for each input: -o DIR/`,
    );
  }

  /** Takes outcomes, and copies the records that are chosen. */
  async #take(chunk: Buffer): Promise<void> {
    const { agents } = this.#settings;
    const count = outcomesOf(this.#settings);
    const bytes = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    let at = 0;
    for (; at + count <= bytes.length; at += count) {
      this.#passUnjudged();
      const place = this.#places[this.#next++];
      if (place === undefined) throw new Error('more verdicts than records');
      const words = Array.from({ length: count }, (_, index) => {
        const outcome = (bytes[at + index] as number) >> REASON_BITS;
        return index < agents.length ? VERDICTS[outcome] : USE_WORDS[outcome];
      });
      if (!isChosen(words, this.#settings)) continue;
      this.rows++;
      this.#keep(place);
    }
    this.#held = Buffer.from(bytes.subarray(at));
    await this.#copy();
  }

  /** Keeps the records before the next one that is judged. */
  #passUnjudged(): void {
    for (;;) {
      if (this.#next === this.#places.length) {
        this.#places = this.#source?.archive.takePlaces() ?? [];
        this.#next = 0;
      }
      const place = this.#places[this.#next];
      if (place === undefined || place.isJudged) return;
      this.#keep(place);
      this.#next++;
    }
  }

  /** @throws RobotsFilterError `input` if the record cannot be copied by itself */
  #keep({ start, end }: ArchivePlace): void {
    if (end === undefined) {
      const name = this.#source?.name ?? '';
      throw new RobotsFilterError(
        'input',
        `${name}: the record at byte ${start} shares its ${this.#beginning?.compression} data with other records, so it cannot be copied byte for byte. Write the file anew, each record by itself: warcio recompress ${name} NEW.warc.gz`,
      );
    }
    const last = this.#stretches.at(-1);
    if (last?.end === start) last.end = end;
    else this.#stretches.push({ start, end });
  }

  /** Copies what is kept. */
  async #copy(): Promise<void> {
    const source = this.#source;
    if (source === undefined) return;
    const { archive, name } = source;
    this.#piece ??= Buffer.allocUnsafeSlow(PIECE_BYTES);
    for (const { start, end } of this.#stretches.splice(0)) {
      if (this.#followsInput) await this.#endRecord();
      for (let at = start; at < end; at += PIECE_BYTES) {
        const piece = this.#piece.subarray(0, Math.min(PIECE_BYTES, end - at));
        await readAgain(archive, name, at, piece);
        await this.#target.write(piece);
        this.#ending = (
          this.#ending + piece.toString('latin1', Math.max(0, piece.length - RECORD_END.length))
        ).slice(-RECORD_END.length);
      }
    }
  }

  /**
   * Ends the last record of the input before, if its file was cut within the line ends after it.
   * Otherwise the next record would begin within its block, and readers would lose both.
   */
  async #endRecord(): Promise<void> {
    this.#followsInput = false;
    if (this.#beginning?.compression !== 'none' || this.#ending.endsWith('\n\n')) return;
    let present = RECORD_END.length;
    while (!this.#ending.endsWith(RECORD_END.slice(0, present))) present--;
    await this.#target.write(Buffer.from(RECORD_END.slice(present), 'latin1'));
  }
}

/** @throws RobotsFilterError `input` */
async function dictionaryEnd({ source }: ArchiveUrls, name: string): Promise<number> {
  try {
    return (await readDictionary(source))?.end ?? 0;
  } catch (cause) {
    // The reading of the records has the same error, with what to do.
    if (cause instanceof UnsupportedZstdError) return 0;
    throw unreadable(name, cause);
  }
}
