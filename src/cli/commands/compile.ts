/** The command `compile`: robots.txt files become a table, or a directory of shards. */

import { writeTable } from '../../compile/table-layout.js';
import { ReplacementFile } from '../../files/replacement.js';
import type { CompiledCache } from '../../pipeline/compile/compile-cache.js';
import { joinShards } from '../../pipeline/compile/join-shards.js';
import { compileOneShard, compileShards } from '../../pipeline/compile/shards.js';
import type { CompressedFile } from '../../pipeline/output/compressed-file.js';
import type { NamedTokens } from '../../protocol/unnamed-agents.js';
import { checkHeader } from '../../table/check.js';
import { neededTokens, noteUnnamedAgents, parseAgents } from '../agents.js';
import {
  Diagnostics,
  interruptible,
  STANDARD_OUTPUT,
  SUCCESS,
  shellWords,
  usageError,
} from '../console.js';
import type { RobotsOptions } from '../options.js';
import { formatBytes, formatCount, formatDuration, formatNumber } from '../text.js';
import { namedTwice } from './arguments.js';
import {
  type CompilationContext,
  compileCaches,
  noteContentWarnings,
  readingOf,
  reported,
} from './compile-caches.js';
import { refuseSecondStandardInput } from './inputs.js';
import {
  filesToKeep,
  outputCompressor,
  refuseSourceAsOutput,
  refuseSourceInShards,
} from './outputs.js';
import { checkChoices, refuseSingleRobots } from './robots-source.js';

export interface CompileOptions extends RobotsOptions {
  readonly output?: string;
  readonly records?: boolean;
  readonly signals?: boolean;
  readonly history?: boolean;
  readonly shards?: number;
  readonly only?: number | 'manifest';
}

/**
 * `robots-filter compile`: compiles caches into a table.
 *
 * @param paths the arguments, which name robots.txt files and tables
 * @returns the exit code
 * @throws RobotsFilterError
 */
export async function compile(paths: readonly string[], options: CompileOptions): Promise<number> {
  const { robotsDir, output } = checkedPaths(paths, options);
  const { shards, only, profile = 'rfc9309', agent, quiet = false } = options;
  if (only !== undefined && (shards === undefined || Number(only) >= shards)) {
    throw usageError(
      `--only names a shard of --shards, from 0, or manifest. Type: robots-filter compile ${shellWords(robotsDir)} --shards 64 --only 0 -o ${output}`,
    );
  }
  const kept = filesToKeep({ ...options, robotsDir });
  if (shards === undefined) refuseSourceAsOutput('-o', output, kept);
  else if (only !== 'manifest') refuseSourceInShards(output, kept);
  if (options.history === true && options.asOf !== undefined) {
    throw usageError(
      'a table with histories answers for every time. Leave --as-of out, and give it to the run that reads the table: robots-filter --table FILE --as-of DATE',
    );
  }
  await checkChoices(robotsDir, options);
  const diagnostics = new Diagnostics(quiet);
  const agents = agent === undefined ? undefined : parseAgents(agent, profile);
  const productTokens = agents && neededTokens(agents);
  if (shards !== undefined && only === 'manifest') {
    const reading = { ...readingOf(options), productTokens, onWarning: () => {} };
    const parts = await joinShards(robotsDir, shards, output, reading);
    const hosts = parts.reduce((sum, part) => sum + part.hosts, 0);
    diagnostics.note(`${output}: ${formatCount(hosts, 'host')} in ${formatCount(shards, 'shard')}`);
    return SUCCESS;
  }
  return interruptible(async (interruption) => {
    const context = { productTokens, diagnostics, interruption };
    const { compiled, hosts, rules, size, named } =
      shards === undefined
        ? await compileIntoFile(robotsDir, output, options, context)
        : await compileIntoShards(robotsDir, output, shards, options, context);
    noteContentWarnings(compiled, robotsDir, diagnostics);
    const { stats } = compiled;
    if (agents !== undefined && named !== undefined && stats.files > 0) {
      await noteUnnamedAgents(agents, named, options, diagnostics);
    }
    const parts = [
      `${formatCount(hosts, 'host')} from ${formatCount(stats.files, 'file')} (${formatBytes(stats.bytes)})`,
      `${formatCount(rules, 'rule')}${options.signals === true ? ' and signals' : ''}`,
      size,
      formatDuration(performance.now() / 1000),
    ];
    diagnostics.note(`${output}: ${parts.join(', ')}`);
    return SUCCESS;
  });
}

/** What was compiled, for the messages at the end. */
interface Compilation {
  readonly compiled: Pick<CompiledCache, 'stats' | 'contentWarnings'>;
  readonly hosts: number;
  readonly rules: number;
  /** The size of the table, in words. */
  readonly size: string;
  /** The product tokens that the files name; undefined if not all files were compiled. */
  readonly named: NamedTokens | undefined;
}

/** Writes a table to a file, which is replaced when the table is complete. */
async function compileIntoFile(
  robotsDir: readonly string[],
  output: string,
  options: CompileOptions,
  context: CompilationContext,
): Promise<Compilation> {
  const { signal } = context.interruption;
  let file: ReplacementFile | undefined;
  let compressed: CompressedFile | undefined;
  try {
    const compressor = await outputCompressor(output);
    file = await ReplacementFile.create(output);
    compressed = compressor?.(file);
    const compiled = await compileCaches(robotsDir, options, context);
    const { layout } = compiled;
    await compressed?.writeAll(layout.table(), signal);
    const checksum =
      compressed === undefined ? await writeTable(layout, file, signal) : layout.checksum;
    signal.throwIfAborted();
    // A table that this version cannot open must not replace one that it can open.
    const header = checkHeader(layout.header, layout.length, output, () => checksum);
    await file.commit(true);
    const { hosts, rules, length } = header;
    return { compiled, hosts, rules, size: `${formatNumber(length)} bytes`, named: layout.named };
  } finally {
    await compressed?.abandon();
    await file?.discard();
  }
}

/**
 * Writes a directory of shards, or only one shard of it.
 *
 * @param output the directory
 */
async function compileIntoShards(
  robotsDir: readonly string[],
  output: string,
  count: number,
  options: CompileOptions,
  context: CompilationContext,
): Promise<Compilation> {
  const only = options.only === 'manifest' ? undefined : options.only;
  const compiled = await reported(robotsDir, options, context, (compiling) =>
    only === undefined
      ? compileShards(robotsDir, count, output, compiling)
      : compileOneShard(robotsDir, { count, only }, output, compiling),
  );
  const { hosts, rules, bytes } = compiled;
  const where = only === undefined ? formatCount(count, 'shard') : `shard ${only} of ${count}`;
  const unnamed = new Set(compiled.unnamed);
  const named: NamedTokens = { hasToken: (token) => !unnamed.has(token), tokens: () => [] };
  const size = `${formatNumber(bytes)} bytes in ${where}`;
  return { compiled, hosts, rules, size, named: only === undefined ? named : undefined };
}

interface CompilePaths {
  readonly robotsDir: readonly string[];
  readonly output: string;
}

/** @throws RobotsFilterError `usage`, with the command to type */
function checkedPaths(
  paths: readonly string[],
  { robotsDir: named = [], output }: CompileOptions,
): CompilePaths {
  const robotsDir = [...named, ...paths];
  const target = output ?? 'FILE';
  if (named.length > 0 && paths.length > 0) throw namedTwice('compile', named, paths);
  refuseSingleRobots(robotsDir, ['compile', '-o', target]);
  if (robotsDir.length === 0) {
    throw usageError(
      `compile needs robots.txt files. Type: robots-filter compile DIR -o ${shellWords([target])}`,
    );
  }
  refuseSecondStandardInput(robotsDir);
  if (output === undefined) {
    throw usageError(
      `compile needs a file to write. Type: robots-filter compile ${shellWords(robotsDir)} -o FILE`,
    );
  }
  if (output === STANDARD_OUTPUT) {
    throw usageError(
      'compile cannot write a table to standard output. Name a file: -o robots.table',
    );
  }
  return { robotsDir, output };
}
