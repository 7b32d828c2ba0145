import { compileOneShard, compileShards, joinShards } from '../../pipeline/compile/shards.js';
import { Diagnostics, Interruption, SUCCESS } from '../console.js';
import { neededTokens, noteUnnamedAgents, parseAgents } from '../options/agents.js';
import type { CompileOptions } from '../options/command-options.js';
import { formatBytes, formatCount, formatDuration, formatNumber } from '../text.js';
import { noteContentWarnings, readingOf, reported } from './compile-caches.js';

/**
 * `robots-filter compile --shards`: compiles caches into a directory of shards, or only one shard.
 *
 * @param output the directory
 * @returns the exit code
 * @throws RobotsFilterError
 */
export async function compileIntoShards(
  robotsDir: readonly string[],
  output: string,
  shards: number,
  options: CompileOptions,
): Promise<number> {
  const diagnostics = new Diagnostics(options.quiet ?? false);
  const { profile = 'rfc9309', agent, only } = options;
  const agents = agent === undefined ? undefined : parseAgents(agent, profile);
  const productTokens = agents && neededTokens(agents);
  if (only === 'manifest') {
    const reading = { ...readingOf(options), productTokens, onWarning: () => {} };
    const parts = await joinShards(robotsDir, shards, output, reading);
    const hosts = parts.reduce((sum, part) => sum + part.hosts, 0);
    diagnostics.note(`${output}: ${formatCount(hosts, 'host')} in ${formatCount(shards, 'shard')}`);
    return SUCCESS;
  }
  const interruption = new Interruption();
  try {
    const context = { productTokens, diagnostics, interruption };
    const compiled = await reported(robotsDir, options, context, (compiling) =>
      only === undefined
        ? compileShards(robotsDir, shards, output, compiling)
        : compileOneShard(robotsDir, { count: shards, only }, output, compiling),
    );
    noteContentWarnings(compiled, robotsDir, diagnostics);
    if (agents !== undefined && only === undefined && compiled.stats.files > 0) {
      const unnamed = new Set(compiled.unnamed);
      const named = { hasToken: (token: string) => !unnamed.has(token), tokens: () => [] };
      await noteUnnamedAgents(agents, named, options, diagnostics);
    }
    const { hosts, rules, bytes, stats } = compiled;
    const parts = [
      `${formatCount(hosts, 'host')} from ${formatCount(stats.files, 'file')} (${formatBytes(stats.bytes)})`,
      formatCount(rules, 'rule'),
      only === undefined
        ? `${formatNumber(bytes)} bytes in ${formatCount(shards, 'shard')}`
        : `${formatNumber(bytes)} bytes in shard ${only} of ${shards}`,
      formatDuration(performance.now() / 1000),
    ];
    diagnostics.note(`${output}: ${parts.join(', ')}`);
    return SUCCESS;
  } catch (error) {
    if (interruption.exitCode !== undefined) return interruption.exitCode;
    throw error;
  } finally {
    interruption.end();
  }
}
