/** The bytes of an open file. */
export interface ByteSource {
  /** Length of the file in bytes when it was opened. */
  readonly length: number;
  /**
   * Reads into a buffer from an offset of the file; resolves to the number of bytes read, 0 at the
   * end.
   *
   * @throws Error if the system cannot read, or if the file was truncated
   */
  read(offset: number, buffer: Buffer): Promise<number>;
}
