import { jsonParser } from 'stream-json/core/parser.js';
import { jsonVerifier } from 'stream-json/core/utils/verifier.js';

/**
 * stream-json decides a token only when enough follows it: up to 16 characters after a literal,
 * 6 after the start of an escape. So much white space after the last octet brings every decision
 * out.
 */
const SETTLING_SPACE = ' '.repeat(32);
/** No string that is made for the verifier is longer. */
const PIECE_OCTETS = 65_536;

/**
 * Says of octets whether they are JSON values, one after another with white space between them
 * (RFC 8259), through stream-json.
 *
 * - stream-json gets the octets as Latin-1, one character an octet: nothing is cut at the end
 *   of a chunk, what is not UTF-8 passes through strings untouched, and offsets are octets.
 *   All that JSON's grammar knows is ASCII, and outside strings it refuses the rest.
 * - It gives no account of how far it has got and no place of an error, and its verifier, which
 *   does, takes two to three times as long. So the parser judges, and `findFault` asks the
 *   verifier once there is an error to find.
 * - Its parser has no bound on depth or on the length of a string: the caller must have
 *   bounded both for what it hands over.
 */
export class JsonJudge {
  readonly #parse = jsonParser({
    jsonStreaming: true,
    // Packed strings are gathered, of escapes one character at a time, at twenty times their
    // length.
    packKeys: false,
    packStrings: false,
    // Numbers cost fewer tokens when they are packed.
    packNumbers: true,
    streamNumbers: false,
  });

  /**
   * Takes octets `start` to `end` of `octets` as the next ones of the input.
   *
   * @throws as soon as it is certain that the input is no JSON
   */
  accept(octets: Buffer, start: number, end: number): void {
    if (end > start) this.#parse(octets.toString('latin1', start, end));
  }

  /**
   * Brings out every error in what has been accepted. To be called only where white space may
   * stand.
   *
   * @throws if what has been accepted is no beginning of JSON values
   */
  settle(): void {
    this.#parse(SETTLING_SPACE);
  }
}

/** The first place where octets stop being JSON. */
export interface JsonFault {
  /** In octets from the first that was judged. */
  readonly offset: number;
  /** What should have stood there, as stream-json says it. */
  readonly reason: string;
}

/**
 * Finds the error in `octets`, which follow on text that brings a JSON reader into the state
 * before them (`lead`, such as `[` within an array).
 */
export function findFault(lead: string, octets: Buffer): JsonFault | undefined {
  const finder = new FaultFinder(lead);
  return finder.accept(octets) ?? finder.settle();
}

/**
 * Judges as `JsonJudge` does, and says where the fault is. Takes two to three times as long. Its
 * memory grows with the depth of what it is given, and with nothing else.
 */
export class FaultFinder {
  readonly #verify = jsonVerifier({ jsonStreaming: true });
  readonly #leadOctets: number;
  #octets = 0;

  /**
   * @param lead text that brings a JSON reader into the state before the first octet, such as `[`
   * within an array
   */
  constructor(lead: string) {
    this.#leadOctets = lead.length;
    this.#verify(lead);
  }

  /** Takes the next octets; returns the first fault as soon as it is certain. */
  accept(octets: Buffer): JsonFault | undefined {
    for (let start = 0; start < octets.length; start += PIECE_OCTETS) {
      const piece = octets.toString('latin1', start, start + PIECE_OCTETS);
      this.#octets += piece.length;
      const fault = this.#take(piece);
      if (fault !== undefined) return fault;
    }
    return undefined;
  }

  /**
   * Brings out every fault in what has been accepted. To be called only where white space may
   * stand.
   */
  settle(): JsonFault | undefined {
    return this.#take(SETTLING_SPACE);
  }

  #take(text: string): JsonFault | undefined {
    try {
      this.#verify(text);
      return undefined;
    } catch (error) {
      const offset = offsetOf(error) - this.#leadOctets;
      return { offset: Math.min(Math.max(offset, 0), this.#octets), reason: reasonOf(error) };
    }
  }
}

function offsetOf(error: unknown): number {
  return error instanceof Error && 'offset' in error && typeof error.offset === 'number'
    ? error.offset
    : 0;
}

/** `ERROR at 5 (1, 6): Verifier cannot parse input: expected ','` → `expected ','` */
function reasonOf(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  if (message.endsWith('escaped characters'))
    return 'expected an escape or a character that a string may hold';
  const reason = message.slice(message.lastIndexOf(': ') + 1).trim();
  return reason.startsWith('Verifier has ') ? reason.slice('Verifier has '.length) : reason;
}
