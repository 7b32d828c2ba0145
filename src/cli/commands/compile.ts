import { writeTable } from '../../compile/table-layout.js';
import { ReplacementFile } from '../../files/replacement.js';
import type { CompiledCache } from '../../pipeline/compile/compile-cache.js';
import type { CompressedFile } from '../../pipeline/output/compressed-file.js';
import { checkHeader, type TableHeader } from '../../table/check.js';
import {
  Diagnostics,
  Interruption,
  STANDARD_OUTPUT,
  SUCCESS,
  shellWords,
  usageError,
} from '../console.js';
import { neededTokens, noteUnnamedAgents, parseAgents } from '../options/agents.js';
import type { CompileOptions } from '../options/command-options.js';
import { outputCompressor, refuseSourceAsOutput } from '../options/output-options.js';
import { refuseSingleRobots } from '../options/robots-source.js';
import { formatBytes, formatCount, formatDuration, formatNumber } from '../text.js';
import { compileCaches, noteContentWarnings } from './compile-caches.js';

/**
 * `robots-filter compile`: compiles caches into a table.
 *
 * @param files the arguments; `compile` accepts none
 * @returns the exit code
 * @throws RobotsFilterError
 */
export async function compile(files: readonly string[], options: CompileOptions): Promise<number> {
  const { robotsDir, output } = checkedPaths(files, options);
  if (options.only !== undefined) {
    if (options.shards === undefined || Number(options.only) >= options.shards) {
      throw usageError(
        `--only names a shard of --shards, from 0, or manifest. Type: robots-filter compile --robots-dir ${robotsDir.join(' --robots-dir ')} --shards 64 --only 0 -o ${output}`,
      );
    }
  }
  if (options.shards !== undefined) {
    const { compileIntoShards } = await import('./compile-into-shards.js');
    return compileIntoShards(robotsDir, output, options.shards, options);
  }
  refuseSourceAsOutput(
    '-o',
    output,
    robotsDir.map((path) => ({ option: '--robots-dir', path })),
  );
  const diagnostics = new Diagnostics(options.quiet ?? false);
  const { profile = 'rfc9309', agent } = options;
  const agents = agent === undefined ? undefined : parseAgents(agent, profile);
  const productTokens = agents && neededTokens(agents);
  const interruption = new Interruption();
  let file: ReplacementFile | undefined;
  let compressed: CompressedFile | undefined;
  try {
    const compressor = await outputCompressor(output);
    file = await ReplacementFile.create(output);
    compressed = compressor?.(file);
    const compiled = await compileCaches(
      robotsDir,
      options,
      productTokens,
      diagnostics,
      interruption,
    );
    const { layout } = compiled;
    const { signal } = interruption;
    await compressed?.writeAll(layout.table(), signal);
    const checksum =
      compressed === undefined ? await writeTable(layout, file, signal) : layout.checksum;
    signal.throwIfAborted();
    // A table that this version cannot open must not replace one that it can open.
    const header = checkHeader(layout.header, layout.length, output, () => checksum);
    await file.commit(true);
    noteContentWarnings(compiled, robotsDir, diagnostics);
    if (agents !== undefined && compiled.stats.files > 0) {
      await noteUnnamedAgents(agents, layout.named, options, diagnostics);
    }
    diagnostics.note(`${output}: ${summary(compiled, header)}`);
    return SUCCESS;
  } catch (error) {
    if (interruption.exitCode !== undefined) return interruption.exitCode;
    throw error;
  } finally {
    await compressed?.abandon();
    await file?.discard();
    interruption.end();
  }
}

interface CompilePaths {
  readonly robotsDir: readonly string[];
  readonly output: string;
}

/** @throws RobotsFilterError `usage`, with the command to type */
function checkedPaths(
  files: readonly string[],
  { robotsDir, output }: CompileOptions,
): CompilePaths {
  const [file] = files;
  const target = output ?? 'FILE';
  refuseSingleRobots([...files, ...(robotsDir ?? [])], ['compile', '-o', target]);
  if (file !== undefined) {
    throw usageError(
      `compile takes no file arguments. Type: robots-filter compile --robots-dir ${shellWords([file])} -o ${shellWords([target])}`,
    );
  }
  if (robotsDir === undefined) {
    throw usageError(
      `compile needs robots.txt files. Type: robots-filter compile --robots-dir DIR -o ${target}`,
    );
  }
  if (output === undefined) {
    throw usageError(
      `compile needs a file to write. Type: robots-filter compile ${shellWords(robotsDir.flatMap((path) => ['--robots-dir', path]))} -o FILE`,
    );
  }
  if (output === STANDARD_OUTPUT) {
    throw usageError(
      'compile cannot write a table to standard output. Name a file: -o robots.table',
    );
  }
  return { robotsDir, output };
}

function summary({ stats }: CompiledCache, header: TableHeader): string {
  return [
    `${formatCount(header.hosts, 'host')} from ${formatCount(stats.files, 'file')} (${formatBytes(stats.bytes)})`,
    formatCount(header.rules, 'rule'),
    `${formatNumber(header.length)} bytes`,
    formatDuration(performance.now() / 1000),
  ].join(', ');
}
