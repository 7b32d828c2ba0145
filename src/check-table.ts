import { checksum } from './kernel/checksum.js';
import { TAIL_BYTES } from './table/format.js';
import { checkHeader, damagedTable, type TableHeader } from './table/table-check.js';

/**
 * Checks that bytes are a whole, undamaged table of this version, and reads its header.
 *
 * @param name the name of the table in messages, such as its path
 * @param computed the checksum of the bytes, if the caller knows it
 * @throws RobotsFilterError `table` if the table is foreign, of another version, truncated or
 *   damaged
 */
export function checkTable(bytes: Uint8Array, name: string, computed?: number): TableHeader {
  const header = checkHeader(bytes, bytes.length, name, () => computed ?? checksum(bytes));
  for (let at = header.length - TAIL_BYTES; at < header.length; at++) {
    if (bytes[at] !== 0) {
      throw damagedTable(name, `byte ${at}, after its last section, is not zero`);
    }
  }
  return header;
}
