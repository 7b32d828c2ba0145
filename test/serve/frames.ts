import { MAGIC, PROTOCOL_VERSION } from '../../src/serve/protocol.js';

/** Words of 32 bits, as bytes. */
export function words(...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length);
  values.forEach((value, index) => {
    bytes.writeUInt32LE(value >>> 0, 4 * index);
  });
  return bytes;
}

/** A client's greeting. */
export const GREETING = words(MAGIC, PROTOCOL_VERSION);

/**
 * A request as a client sends it.
 *
 * @param more the JSON of the uses, a time for each URL, other flags
 */
export function request(
  urls: readonly (string | Uint8Array)[],
  agents: string,
  explain = false,
  base = 0,
  more: {
    readonly uses?: string;
    readonly times?: readonly number[];
    readonly flags?: number;
  } = {},
): Buffer {
  const { uses, times, flags = 0 } = more;
  const bytes = urls.map((url) => Buffer.from(url as string));
  const offsets = [base];
  for (const { length } of bytes) offsets.push((offsets.at(-1) as number) + length);
  const list = Buffer.from(agents);
  const named = Buffer.from(uses ?? '');
  const all = flags | (explain ? 1 : 0) | (times ? 4 : 0) | (uses === undefined ? 0 : 16);
  return Buffer.concat([
    words(1, all, list.length, urls.length, (offsets.at(-1) as number) - base),
    words(...(uses === undefined ? [] : [named.length])),
    list,
    Buffer.alloc(-list.length & 3),
    named,
    Buffer.alloc(-named.length & 3),
    words(...(times ?? [])),
    words(...offsets),
    ...bytes,
  ]);
}

/** An answer: its kind and what follows. */
export interface Answer {
  readonly kind: number;
  readonly content: Buffer;
}

/** The server's greeting and its answers. */
export function parseOutput(output: Buffer): {
  readonly words: readonly number[];
  readonly facts: Readonly<Record<string, unknown>>;
  readonly answers: readonly Answer[];
} {
  const length = output.readUInt32LE(8);
  const answers: Answer[] = [];
  for (let at = 12 + length; at < output.length; ) {
    const end = at + 8 + output.readUInt32LE(at + 4);
    answers.push({ kind: output.readUInt32LE(at), content: output.subarray(at + 8, end) });
    at = end;
  }
  return {
    words: [output.readUInt32LE(0), output.readUInt32LE(4)],
    facts: JSON.parse(output.toString('utf8', 12, 12 + length)),
    answers,
  };
}
