import { Buffer } from 'node:buffer';
import {
  ANSWER_BYTES,
  ANSWER_KIND,
  ANSWER_LENGTH,
  KIND_REFUSAL,
  KIND_VERDICTS,
  KIND_WARNING,
} from './protocol.js';

const WORD = 4;
/** A rule's line, and the length of its text: see CONVERT_PARQUET in kernel/layout.ts. */
const LINE_BYTES = 4;
const LENGTH_BYTES = 2;
/** The place of the text of no rule. */
const NO_RULE = -1;

/** A frame that refuses a request. */
export function refusal(message: string): Buffer {
  return messageFrame(KIND_REFUSAL, message);
}

/** A frame that precedes the answer to a request. */
export function warning(message: string): Buffer {
  return messageFrame(KIND_WARNING, message);
}

function messageFrame(kind: number, message: string): Buffer {
  const text = Buffer.from(message);
  const frame = Buffer.alloc(ANSWER_BYTES + text.length);
  frame.writeUInt32LE(kind, ANSWER_KIND);
  frame.writeUInt32LE(text.length, ANSWER_LENGTH);
  frame.set(text, ANSWER_BYTES);
  return frame;
}

/**
 * The answer to one request. It takes the outcomes that the kernel wrote (CONVERT_OUTCOMES), URL by
 * URL, and puts them into columns, one for each agent.
 */
export class Answer {
  readonly #count: number;
  readonly #agents: number;
  /** The frame's header and its verdicts. */
  readonly #beginning: Buffer;
  readonly #verdicts: Buffer;
  readonly #explanation: Explanation | undefined;
  #url = 0;

  constructor(count: number, agents: number, explain: boolean) {
    this.#count = count;
    this.#agents = agents;
    this.#beginning = Buffer.alloc(ANSWER_BYTES + count * agents);
    this.#verdicts = this.#beginning.subarray(ANSWER_BYTES);
    this.#explanation = explain ? new Explanation(count * agents) : undefined;
  }

  /** Adds what the kernel wrote: the outcomes of whole URLs. */
  add(outcomes: Buffer): void {
    if (this.#explanation === undefined) this.#addVerdicts(outcomes);
    else this.#addExplained(outcomes, this.#explanation);
  }

  /** The frame. All URLs have been added. */
  frame(): Buffer {
    if (this.#url !== this.#count) throw new Error(`${this.#url} of ${this.#count} URLs judged`);
    const columns = this.#explanation?.columns() ?? [];
    const bytes = columns.reduce((sum, { length }) => sum + length, this.#verdicts.length);
    this.#beginning.writeUInt32LE(KIND_VERDICTS, ANSWER_KIND);
    this.#beginning.writeUInt32LE(bytes, ANSWER_LENGTH);
    if (columns.length === 0) return this.#beginning;
    return Buffer.concat([this.#beginning, ...columns], ANSWER_BYTES + bytes);
  }

  #addVerdicts(outcomes: Buffer): void {
    const verdicts = this.#verdicts;
    const agents = this.#agents;
    const count = this.#count;
    let url = this.#url;
    for (let at = 0; at < outcomes.length; url++) {
      for (let agent = 0; agent < agents; agent++) {
        verdicts[agent * count + url] = (outcomes[at++] as number) >> 4;
      }
    }
    this.#url = url;
  }

  #addExplained(outcomes: Buffer, explanation: Explanation): void {
    for (let at = 0; at < outcomes.length; this.#url++) {
      for (let agent = 0; agent < this.#agents; agent++) {
        const place = agent * this.#count + this.#url;
        this.#verdicts[place] = (outcomes[at] as number) >> 4;
        at = explanation.add(place, outcomes, at);
      }
    }
  }
}

/** The answer with the shards of hosts: what the kernel wrote, a word for each URL. */
export class ShardAnswer {
  readonly #parts: Buffer[] = [];

  /** Adds what the kernel wrote, which it may overwrite afterwards. */
  add(shards: Buffer): void {
    this.#parts.push(Buffer.from(shards));
  }

  frame(): Buffer {
    const bytes = this.#parts.reduce((sum, { length }) => sum + length, 0);
    const header = Buffer.alloc(ANSWER_BYTES);
    header.writeUInt32LE(KIND_VERDICTS, ANSWER_KIND);
    header.writeUInt32LE(bytes, ANSWER_LENGTH);
    return Buffer.concat([header, ...this.#parts], ANSWER_BYTES + bytes);
  }
}

/** Reasons and rules. */
class Explanation {
  readonly #reasons: Uint8Array;
  readonly #lines: Uint32Array;
  readonly #rules: Int32Array;
  /** The place of each text among `#texts`, by its bytes as the kernel wrote them. */
  readonly #places = new Map<string, number>();
  readonly #texts: Buffer[] = [];

  constructor(verdicts: number) {
    this.#reasons = new Uint8Array(verdicts);
    this.#lines = new Uint32Array(verdicts);
    this.#rules = new Int32Array(verdicts).fill(NO_RULE);
  }

  /** Takes the outcome at `at`; returns where it ends. */
  add(place: number, outcomes: Buffer, at: number): number {
    this.#reasons[place] = (outcomes[at] as number) & 15;
    const line = outcomes.readUInt32LE(at + 1);
    const start = at + 1 + LINE_BYTES + LENGTH_BYTES;
    const end = start + outcomes.readUInt16LE(at + 1 + LINE_BYTES);
    if (end > start) {
      this.#lines[place] = line;
      this.#rules[place] = this.#placeOf(outcomes.toString('latin1', start, end));
    }
    return end;
  }

  /** The columns after the verdicts, each word at a multiple of its size. */
  columns(): Uint8Array[] {
    const verdicts = this.#reasons.length;
    const padding = new Uint8Array(-(2 * verdicts) & (WORD - 1));
    const ends = new Uint32Array(2 + this.#texts.length);
    ends[0] = this.#texts.length;
    let end = 0;
    this.#texts.forEach((text, index) => {
      end += text.length;
      ends[2 + index] = end;
    });
    return [
      this.#reasons,
      padding,
      bytesOf(this.#lines),
      bytesOf(this.#rules),
      bytesOf(ends),
      ...this.#texts,
    ];
  }

  /** @param escaped the bytes of the inside of a JSON string, as characters */
  #placeOf(escaped: string): number {
    const known = this.#places.get(escaped);
    if (known !== undefined) return known;
    const text = Buffer.from(escaped, 'latin1').toString();
    const plain = text.includes('\\') ? (JSON.parse(`"${text}"`) as string) : text;
    const place = this.#texts.push(Buffer.from(plain)) - 1;
    this.#places.set(escaped, place);
    return place;
  }
}

function bytesOf(words: Uint32Array | Int32Array): Uint8Array {
  return new Uint8Array(words.buffer, words.byteOffset, words.byteLength);
}
