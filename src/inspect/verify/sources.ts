import { SOURCE_FIXED_BYTES, SOURCE_LIMIT, SOURCE_WITH_NUMBER } from '../../table/format.js';
import { ByteSet } from './byte-set.js';
import type { TableBytes } from './table-bytes.js';
import { isEscaped } from './texts.js';

/** Checks the sources section, and keeps where each source starts. */
export class SourceCheck {
  readonly #starts = new ByteSet();
  readonly #start: number;
  readonly #end: number;

  constructor(table: TableBytes, start: number, end: number) {
    this.#start = start;
    this.#end = end;
    this.#starts.clear(end - start);
    let at = start;
    // The zeros after the last source are read as empty sources.
    for (; at + SOURCE_FIXED_BYTES <= end; ) {
      const kind = table.u8(at);
      const before = table.u16(at + 1);
      const after = table.u16(at + 3);
      const text = at + SOURCE_FIXED_BYTES;
      const fault = (what: string): Error => table.fault('sources', at, what);
      if (kind > SOURCE_WITH_NUMBER) throw fault(`a source of kind ${kind}`);
      if (before + after > SOURCE_LIMIT) throw fault('the source is too long');
      const next = text + before + after;
      if (next > end) throw fault('the source ends beyond its section');
      if (
        !isEscaped(table.bytes, text, text + before) ||
        !isEscaped(table.bytes, text + before, next)
      ) {
        throw fault('the source is not escaped as in a JSON string');
      }
      this.#starts.add(at - start);
      at = next;
    }
    table.zeros('sources', at, end);
  }

  /** Whether a source starts at `at`. */
  has(at: number): boolean {
    return at >= this.#start && at < this.#end && this.#starts.has(at - this.#start);
  }
}
