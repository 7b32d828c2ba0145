/** Where the main thread writes. Calls must not overlap. */
export interface Output {
  /**
   * Writes bytes, which belong to the caller again when the promise settles. Resolves to false if
   * the reader of the output is gone.
   *
   * @throws RobotsFilterError `output`
   */
  write(bytes: Uint8Array): Promise<boolean>;
  /** Waits until everything is written. Result and errors are those of `write`. */
  end(): Promise<boolean>;
  /** Bytes that the target has taken so far; they show whether a write makes progress. */
  readonly taken: number;
  /**
   * Makes the current write, and all later ones, resolve to false. Output that is partly written
   * stays truncated.
   */
  abandon(): void;
  /** Closes what was opened for the output. The target stays open. */
  release(): void;
}
