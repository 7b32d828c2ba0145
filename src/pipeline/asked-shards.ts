/** Which shards of a table the hosts of some inputs are in. */

import { emptyTable } from '../judge/table-memory.js';
import { NO_SHARD } from '../kernel/layout.js';
import type { Server } from '../kernel/query-settings.js';
import { parseAgent } from '../protocol/agent.js';
import type { Manifest } from '../table/manifest.js';
import { MainThread } from '../workers/main-thread.js';
import { Filter } from './filter.js';
import { type OpenInputOptions, openInput } from './input/open.js';
import type { InputStart } from './input/raw-input.js';
import type { Output } from './output/output.js';

/** A whole input, which has been read. */
export interface KeptInput {
  readonly path: string;
  readonly taken: InputStart;
}

/** How the inputs will be read. */
interface Reading extends Required<Pick<OpenInputOptions, 'urlField'>> {
  readonly open: Omit<OpenInputOptions, 'taken'>;
  /** For logs, the server to which paths belong; `undefined` if each line begins with it. */
  readonly server: Server | undefined;
  readonly maxLineBytes: number;
  /** Most bytes of input, decompressed, that are worth a look. */
  readonly mostBytes: number;
}

/**
 * Finds the shards that hold the hosts of some inputs. The kernel finds them, as it does when it
 * judges, so that the filter asks for no others if it reads the same bytes in the same way.
 *
 * @returns undefined if all shards are needed, or an input cannot be looked at: Parquet, which is
 *   read by position
 * @throws RobotsFilterError `input` if an input is damaged
 */
export async function askedShards(
  inputs: readonly KeptInput[],
  { shards, profile }: Pick<Manifest, 'shards' | 'profile'>,
  { open: options, urlField, server, maxLineBytes, mostBytes }: Reading,
): Promise<ReadonlySet<number> | undefined> {
  const filter = new Filter({
    // No host is looked up, but the profile decides what is a URL.
    table: emptyTable(profile),
    pool: new MainThread(),
    settings: {
      agents: [parseAgent('*', profile)],
      output: 'annotate',
      unknown: 'unknown',
      explain: false,
      strict: false,
      urlField,
      server,
      verdictField: undefined,
      maxLineBytes,
      countHosts: false,
      addedShards: shards,
      shardsAlone: true,
    },
  });
  const found = new FoundShards(shards, () => filter.progress().bytes > mostBytes);
  try {
    for (const { path, taken } of inputs) {
      const input = await openInput(path, { ...options, taken });
      try {
        if (input.kind === 'stream' && input.parquet !== undefined) return undefined;
        if ((await filter.run(input, () => found)) !== 'done') return undefined;
      } finally {
        await input.close();
      }
    }
  } finally {
    await filter.close();
  }
  return found.shards;
}

/** Collects the shards that a filter writes, until all are there or enough was read. */
class FoundShards implements Output {
  readonly shards = new Set<number>();
  readonly #all: number;
  readonly #isEnough: () => boolean;
  taken = 0;

  constructor(all: number, isEnough: () => boolean) {
    this.#all = all;
    this.#isEnough = isEnough;
  }

  async write(bytes: Uint8Array): Promise<boolean> {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
    for (let at = 0; at < bytes.length; at += 4) {
      const shard = view.getUint32(at, true);
      if (shard !== NO_SHARD) this.shards.add(shard);
    }
    this.taken += bytes.length;
    return this.shards.size < this.#all && !this.#isEnough();
  }

  async end(): Promise<boolean> {
    return true;
  }

  abandon(): void {}

  release(): void {}
}
