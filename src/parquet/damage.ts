/**
 * Bytes that are no valid Parquet, or Parquet that is not read. `ParquetFile` turns it into a
 * `RobotsFilterError` with the name of the file.
 */
export class ParquetDamage extends Error {
  /** Offset in the file, in bytes: of the structure in which the fault was found. */
  readonly offset: number;

  /** @param message what is wrong, without a full stop */
  constructor(message: string, offset: number) {
    super(message);
    this.name = 'ParquetDamage';
    this.offset = offset;
  }
}
