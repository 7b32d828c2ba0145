import { jsonParser } from 'stream-json/core/parser.js';
import { jsonVerifier } from 'stream-json/core/utils/verifier.js';

/**
 * White space after which every earlier token is decided: stream-json decides a literal up to 16
 * characters later, and an escape up to 6.
 */
const SETTLING_SPACE = ' '.repeat(32);
/** Maximum length of a string that is made for the verifier. */
const PIECE_BYTES = 65_536;

/**
 * Checks with stream-json that bytes are JSON values one after another, with white space between
 * them (RFC 8259).
 *
 * - stream-json gets the bytes as Latin-1, one character per byte. No character is split between
 *   chunks, bytes that are not UTF-8 pass through strings, and offsets are in bytes. Outside
 *   strings JSON is ASCII, and stream-json refuses all other characters.
 * - The parser does not tell the place of an error. The verifier does, but is much slower. So the
 *   parser checks, and `findFault` calls the verifier only after an error.
 * - The parser bounds neither depth nor the length of a string, so the caller must.
 */
export class JsonValidator {
  readonly #parse = jsonParser({
    jsonStreaming: true,
    // A packed string with escapes would take many times its length.
    packKeys: false,
    packStrings: false,
    // Packed numbers make fewer tokens.
    packNumbers: true,
    streamNumbers: false,
  });

  /**
   * Takes the bytes of `bytes` from `start` to `end` as the next bytes of the input.
   *
   * @throws as soon as it is certain that the input is not JSON
   */
  accept(bytes: Buffer, start: number, end: number): void {
    if (end > start) this.#parse(bytes.toString('latin1', start, end));
  }

  /**
   * Finds any remaining error in the accepted bytes. Call it only where JSON allows white space.
   *
   * @throws if the accepted bytes are not the beginning of JSON values
   */
  settle(): void {
    this.#parse(SETTLING_SPACE);
  }
}

/** The first place at which bytes are no longer JSON. */
export interface JsonFault {
  /** Offset in bytes from the first checked byte. */
  readonly offset: number;
  /** What stream-json expected there. */
  readonly reason: string;
}

/**
 * Finds the first fault in `bytes`.
 *
 * @param lead text that brings a JSON reader into the state before `bytes`, such as `[` in an
 *   array
 */
export function findFault(lead: string, bytes: Buffer): JsonFault | undefined {
  const finder = new FaultFinder(lead);
  return finder.accept(bytes) ?? finder.settle();
}

/**
 * Checks like `JsonValidator`, and tells where the fault is. The memory is proportional to the
 * depth of the JSON.
 */
export class FaultFinder {
  readonly #verify = jsonVerifier({ jsonStreaming: true });
  readonly #leadBytes: number;
  #bytes = 0;

  /** @param lead as in `findFault` */
  constructor(lead: string) {
    this.#leadBytes = lead.length;
    this.#verify(lead);
  }

  /** Takes the next bytes; returns the first fault as soon as it is certain. */
  accept(bytes: Buffer): JsonFault | undefined {
    for (let start = 0; start < bytes.length; start += PIECE_BYTES) {
      const piece = bytes.toString('latin1', start, start + PIECE_BYTES);
      this.#bytes += piece.length;
      const fault = this.#take(piece);
      if (fault !== undefined) return fault;
    }
    return undefined;
  }

  /**
   * Finds any remaining fault in the accepted bytes. Call it only where JSON allows white space.
   */
  settle(): JsonFault | undefined {
    return this.#take(SETTLING_SPACE);
  }

  #take(text: string): JsonFault | undefined {
    try {
      this.#verify(text);
      return undefined;
    } catch (error) {
      const offset = offsetOf(error) - this.#leadBytes;
      return { offset: Math.min(Math.max(offset, 0), this.#bytes), reason: reasonOf(error) };
    }
  }
}

function offsetOf(error: unknown): number {
  return error instanceof Error && 'offset' in error && typeof error.offset === 'number'
    ? error.offset
    : 0;
}

/**
 * Extracts the reason: `ERROR at 5 (1, 6): Verifier cannot parse input: expected ','` → `expected
 * ','`
 */
function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  if (message.endsWith('escaped characters'))
    return 'expected an escape or a character that a string may hold';
  const reason = message.slice(message.lastIndexOf(': ') + 1).trim();
  return reason.startsWith('Verifier has ') ? reason.slice('Verifier has '.length) : reason;
}
