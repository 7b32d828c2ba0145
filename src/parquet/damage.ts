/**
 * A fault in Parquet: the bytes are invalid, or not supported. `ParquetFile` turns it into a
 * `RobotsFilterError` with the name of the file.
 */
export class ParquetDamage extends Error {
  /** Offset in the file, in bytes, of the structure that has the fault. */
  readonly offset: number;

  /** @param message the fault, without a full stop */
  constructor(message: string, offset: number) {
    super(message);
    this.name = 'ParquetDamage';
    this.offset = offset;
  }
}
