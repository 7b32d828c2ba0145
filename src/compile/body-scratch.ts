/** Memory for longer bodies is not kept for the next one. */
const HELD_BYTES = 1024 * 1024;
/** Bytes of UTF-8 that a UTF-16 code unit may take. */
const BYTES_OF_UNIT = 3;

const encoder = new TextEncoder();

/** Encodes bodies as UTF-8, most of them into the same memory. */
export class BodyScratch {
  #bytes = new Uint8Array(1 << 14);

  /** Encodes a body; the next call may overwrite the bytes. */
  encode(body: string): Uint8Array {
    const need = BYTES_OF_UNIT * body.length;
    if (need > HELD_BYTES) return encoder.encode(body);
    if (need > this.#bytes.length) {
      this.#bytes = new Uint8Array(Math.max(need, 2 * this.#bytes.length));
    }
    const { written } = encoder.encodeInto(body, this.#bytes);
    return new Uint8Array(this.#bytes.buffer, 0, written);
  }
}
