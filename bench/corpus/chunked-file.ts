import { closeSync, openSync, writeSync } from 'node:fs';

/** Bytes written in one call: a call for each line would take most of the time. */
const CHUNK = 1 << 20;

/** A file that is written in large pieces. */
export class ChunkedFile {
  readonly #descriptor: number;
  #pending = '';
  #written = 0;

  constructor(path: string) {
    this.#descriptor = openSync(path, 'w');
  }

  write(text: string): void {
    this.#pending += text;
    if (this.#pending.length >= CHUNK) this.#flush();
  }

  /** @returns bytes written to the file */
  close(): number {
    this.#flush();
    closeSync(this.#descriptor);
    return this.#written;
  }

  #flush(): void {
    const bytes = Buffer.from(this.#pending);
    for (let from = 0; from < bytes.length; ) from += writeSync(this.#descriptor, bytes, from);
    this.#written += bytes.length;
    this.#pending = '';
  }
}
