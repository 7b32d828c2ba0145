import { describeUnsupported } from '../../../files/unsupported-formats.js';
import type { InputFormat, Recognition, RefusedFormat } from '../format.js';

/**
 * Data in a compression, encoding or format that is not supported, recognised by its magic bytes.
 */
export const unsupported: RefusedFormat = {
  always: true,
  describe: (recognition, asked) => {
    const { head, compression } = recognition;
    return isRead(recognition, asked) ? undefined : describeUnsupported(head, compression);
  },
};

/**
 * Whether the input is Parquet that is read. Parquet has magic bytes too, and is read unless the
 * user names another format.
 */
function isRead({ format, compression }: Recognition, asked: InputFormat | 'auto'): boolean {
  const isAsked = asked === 'auto' || asked === 'parquet';
  return format === 'parquet' && compression === undefined && isAsked;
}
