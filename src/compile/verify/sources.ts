import { SOURCE_FIXED_OCTETS, SOURCE_LIMIT, SOURCE_WITH_NUMBER } from '../format.js';
import { OctetSet } from './octet-set.js';
import type { TableOctets } from './table-octets.js';
import { isEscaped } from './texts.js';

/** Checks the sources, which fill their section one after another; knows then where they start. */
export class SourceCheck {
  readonly #starts = new OctetSet();
  readonly #start: number;
  readonly #end: number;

  constructor(table: TableOctets, start: number, end: number) {
    this.#start = start;
    this.#end = end;
    this.#starts.clear(end - start);
    let at = start;
    // The zeros behind the last read as sources of nothing.
    for (; at + SOURCE_FIXED_OCTETS <= end; ) {
      const kind = table.u8(at);
      const before = table.u16(at + 1);
      const behind = table.u16(at + 3);
      const text = at + SOURCE_FIXED_OCTETS;
      const fault = (what: string): Error => table.fault('sources', at, what);
      if (kind > SOURCE_WITH_NUMBER) throw fault(`a source of kind ${kind}`);
      if (before + behind > SOURCE_LIMIT) throw fault('the source is too long');
      const next = text + before + behind;
      if (next > end) throw fault('the source ends beyond its section');
      if (
        !isEscaped(table.octets, text, text + before) ||
        !isEscaped(table.octets, text + before, next)
      ) {
        throw fault('the source is not escaped as in a JSON string');
      }
      this.#starts.add(at - start);
      at = next;
    }
    table.zeros('sources', at, end);
  }

  /** Whether a source starts at an offset of the table. */
  has(at: number): boolean {
    return at >= this.#start && at < this.#end && this.#starts.has(at - this.#start);
  }
}
