/** The checksum of a table and the hash of its hosts, both computed by the kernel. */

import { crc32 } from 'node:zlib';
import {
  HEADER_CHECKSUM,
  HEADER_VERSION,
  HOST_KEY_BYTES,
  MAX_HOST_BYTES,
  VERSION,
  VERSION_WITH_LANES,
} from '../table/format.js';
import {
  FIRST_ADDRESS,
  instantiateKernel,
  type Kernel,
  kernelModule,
  PAGE_BYTES,
  PrivateKernel,
} from './kernel.js';
import { BLOCK_BYTES, LANES, MARGIN, PRIME_1, PRIME_2, PRIME_3, TURN } from './layout.js';

const CHECKSUM_END = HEADER_CHECKSUM + 4;

/** In the kernel's memory: the lanes, and then the bytes that are added, a piece at a time. */
const LANES_START = FIRST_ADDRESS;
const PIECE = LANES_START + BLOCK_BYTES;
/** A piece, and the copy of it, fit into a core's first cache. */
const PIECE_BYTES = 1 << 14;
/** A piece in the memory of a table, where it comes before the table. */
const SHORT_PIECE_BYTES = BLOCK_BYTES;

/** All checksums of a thread share one memory, unless they have the memory of a table. */
let own: PrivateKernel | undefined;

/** Where the lanes and the pieces are. */
interface Place {
  readonly kernel: Kernel;
  readonly memory: Uint8Array;
  readonly pieceBytes: number;
}

/**
 * The checksum of a table, computed as the bytes arrive. It detects damage, not intent.
 *
 * Each of 32 lanes of 32 bits takes every 32nd word, and at the end a further lane takes the 32
 * lanes. A lane takes a word in one round of XXH32, which itself has four lanes:
 *
 *     lane = rotate(lane + word * PRIME_2, 13) * PRIME_1
 *
 * The round is reversible in lane and word, so tables that differ in one word differ in its lane.
 * Lane `n` begins with `(n + 1) * PRIME_1`, and the further lane with the length of the table. The
 * avalanche of XXH32 ends the sum. Zeros fill the last block. The four bytes of the checksum itself
 * count as zeros.
 *
 * Tables before version 9 have a CRC-32 without these four bytes.
 */
export class Checksum {
  readonly #lanes = Uint32Array.from({ length: LANES }, (_, lane) => Math.imul(lane + 1, PRIME_1));
  readonly #laneBytes = new Uint8Array(this.#lanes.buffer);
  /** The bytes after the last whole block. */
  #rest = new Uint8Array(0);
  #bytes = 0;
  /** The CRC-32, if the table is of an earlier version. */
  #crc: number | undefined;
  readonly #place: Place | undefined;

  /** @param memory the memory into which the table is read: its blocks are not copied then */
  constructor(memory?: WebAssembly.Memory) {
    this.#place = memory && {
      kernel: instantiateKernel(kernelModule(), memory),
      memory: new Uint8Array(memory.buffer),
      pieceBytes: SHORT_PIECE_BYTES,
    };
  }

  /** Adds the next bytes of the table. The first call has the header, as far as its checksum. */
  update(bytes: Uint8Array): void {
    if (this.#bytes === 0 && versionOf(bytes) < VERSION_WITH_LANES) this.#crc = 0;
    if (this.#crc === undefined) this.#addBlocks(bytes);
    else this.#crc = this.#addCrc(bytes, this.#crc);
    this.#bytes += bytes.length;
  }

  /** Number of bytes so far, including those of the checksum. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The checksum of the bytes so far, from 0 to 2^32 - 1. */
  get value(): number {
    if (this.#crc !== undefined) return this.#crc;
    const { kernel, memory } = this.#prepare();
    memory.fill(0, PIECE + this.#rest.length, PIECE + BLOCK_BYTES);
    if (this.#rest.length > 0) kernel.addBlocks(LANES_START, PIECE, PIECE + BLOCK_BYTES);
    const lanes = new Uint32Array(memory.buffer, LANES_START, LANES);
    return avalanche(lanes.reduce(round, this.#bytes)) >>> 0;
  }

  #addBlocks(bytes: Uint8Array): void {
    const { kernel, memory, pieceBytes } = this.#prepare();
    let held = this.#rest.length;
    for (let at = 0; at < bytes.length; ) {
      // Whole blocks in place, but for the first, whose checksum counts as zeros. One call for all
      // of them would take longer: V8 improves a function between its calls.
      const blocks = Math.min(bytes.length - at, PIECE_BYTES) & -BLOCK_BYTES;
      if (bytes.buffer === memory.buffer && held === 0 && blocks > 0 && this.#bytes + at > 0) {
        const from = bytes.byteOffset + at;
        kernel.addBlocks(LANES_START, from, from + blocks);
        at += blocks;
        continue;
      }
      const piece = bytes.subarray(at, at + pieceBytes - held);
      memory.set(piece, PIECE + held);
      if (this.#bytes + at === 0) memory.fill(0, PIECE + HEADER_CHECKSUM, PIECE + CHECKSUM_END);
      held += piece.length;
      const whole = held - (held % BLOCK_BYTES);
      kernel.addBlocks(LANES_START, PIECE, PIECE + whole);
      memory.copyWithin(PIECE, PIECE + whole, PIECE + held);
      held -= whole;
      at += piece.length;
    }
    this.#laneBytes.set(memory.subarray(LANES_START, PIECE));
    this.#rest = memory.slice(PIECE, PIECE + held);
  }

  /** Puts the lanes and the bytes after the last block into the kernel's memory. */
  #prepare(): Place {
    const place = this.#place ?? ownPlace();
    place.memory.set(this.#laneBytes, LANES_START);
    place.memory.set(this.#rest, PIECE);
    return place;
  }

  #addCrc(bytes: Uint8Array, crc: number): number {
    if (this.#bytes > 0) return crc32(bytes, crc);
    return crc32(bytes.subarray(CHECKSUM_END), crc32(bytes.subarray(0, HEADER_CHECKSUM), crc));
  }
}

/** The checksum of a whole table. */
export function checksum(table: Uint8Array): number {
  const sum = new Checksum();
  sum.update(table);
  return sum.value;
}

function ownPlace(): Place {
  own ??= new PrivateKernel();
  const memory = own.bytes(PIECE + PIECE_BYTES);
  return { kernel: own.kernel, memory, pieceBytes: PIECE_BYTES };
}

/** The version in the header of a table; the present one if there are not that many bytes. */
function versionOf(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return bytes.length < HEADER_VERSION + 4 ? VERSION : view.getUint32(HEADER_VERSION, true);
}

function round(lane: number, word: number): number {
  const sum = (lane + Math.imul(word, PRIME_2)) | 0;
  return Math.imul((sum << TURN) | (sum >>> (32 - TURN)), PRIME_1);
}

function avalanche(lane: number): number {
  const first = Math.imul(lane ^ (lane >>> 15), PRIME_2);
  const second = Math.imul(first ^ (first >>> 13), PRIME_3);
  return second ^ (second >>> 16);
}

const KEY = FIRST_ADDRESS;
const HOSTS = KEY + HOST_KEY_BYTES;
/** The number of hosts hashed in one batch. Hosts of any length fit into a page with its margin. */
const HOSTS_AT_A_TIME = Math.floor((PAGE_BYTES - MARGIN - HOSTS) / (MAX_HOST_BYTES + 1));
const END = HOSTS + HOSTS_AT_A_TIME * (MAX_HOST_BYTES + 1);

/** A sequence of hosts: HostNames. */
interface HostSequence {
  readonly count: number;
  /** The hosts from one number to another, each after a byte that holds its length. */
  span(from: number, to: number): Uint8Array;
}
/** The instance whose key is in the memory. */
let holder: HostHash | undefined;

/**
 * The keyed hash that places a host in the table. The kernel itself computes it:
 * kernel/assembly/hosts.ts.
 */
export class HostHash {
  readonly #key: Uint8Array;

  /** @param key HOST_KEY_BYTES bytes, random or from a digest */
  constructor(key: Uint8Array) {
    this.#key = key.slice();
  }

  /**
   * The hash of a canonical host, from 0 to 2^32 - 1.
   *
   * @throws RangeError for a host of more than MAX_HOST_BYTES bytes
   */
  of(host: Uint8Array): number {
    if (host.length > MAX_HOST_BYTES) throw new RangeError(`a host of ${host.length} bytes`);
    const { kernel, bytes } = this.#prepare();
    bytes.set(host, HOSTS);
    return kernel.hashHost(KEY, HOSTS, host.length) >>> 0;
  }

  /**
   * Writes the hashes of one batch of hosts to `hashes`, starting with the host of number `from`.
   * Returns the number after the last.
   */
  ofNext(hosts: HostSequence, from: number, hashes: Uint32Array): number {
    const { kernel, bytes } = this.#prepare();
    const to = Math.min(from + HOSTS_AT_A_TIME, hosts.count);
    bytes.set(hosts.span(from, to), HOSTS);
    let at = HOSTS;
    for (let host = from; host < to; host++) {
      const length = bytes[at++] as number;
      hashes[host] = kernel.hashHost(KEY, at, length);
      at += length;
    }
    return to;
  }

  #prepare(): { kernel: PrivateKernel['kernel']; bytes: Uint8Array } {
    own ??= new PrivateKernel();
    const bytes = own.bytes(END);
    if (holder !== this) {
      bytes.set(this.#key, KEY);
      holder = this;
    }
    return { kernel: own.kernel, bytes };
  }
}
