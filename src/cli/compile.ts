import { checkHeader } from '../compile/table-check.js';
import { RobotsFilterError } from '../errors.js';
import { type CompiledCache, compileCache } from '../pipeline/compile/compile-cache.js';
import { ReplacementFile } from '../pipeline/replacement-file.js';
import { neededTokens, parseAgents } from './agents.js';
import { CacheWarnings } from './cache-warnings.js';
import { Diagnostics } from './diagnostics.js';
import type { FetchReadingOptions } from './fetch-options.js';
import { Interruption } from './interruption.js';
import { counted, grouped, lasted, sized } from './numbers.js';
import type { CompileOptions, RobotsOptions } from './options.js';
import { refuseSourceAsOutput } from './output-place.js';
import { STANDARD_OUTPUT } from './standard-streams.js';
import { writeTable } from './table-output.js';

/**
 * `robots-filter compile`: writes caches of robots.txt as a table.
 *
 * @returns the exit code
 * @throws RobotsFilterError
 */
export async function compile(
  misplaced: readonly string[],
  options: CompileOptions,
): Promise<number> {
  const { robotsDir, output } = options;
  const [word] = misplaced;
  if (word !== undefined) {
    throw new RobotsFilterError(
      'usage',
      `compile takes no files by themselves. Type: robots-filter compile --robots-dir ${word} -o ${output ?? 'FILE'}`,
    );
  }
  if (robotsDir === undefined) {
    throw new RobotsFilterError(
      'usage',
      `compile needs robots.txt files. Type: robots-filter compile --robots-dir DIR -o ${output ?? 'FILE'}`,
    );
  }
  if (output === undefined) {
    throw new RobotsFilterError(
      'usage',
      `compile needs a file to write. Type: robots-filter compile --robots-dir ${robotsDir.join(' --robots-dir ')} -o FILE`,
    );
  }
  if (output === STANDARD_OUTPUT) {
    throw new RobotsFilterError(
      'usage',
      'a table is written to a file, which it replaces when it is complete. Name one: -o robots.table',
    );
  }
  await refuseSourceAsOutput(
    output,
    robotsDir.map((path) => ({ option: '--robots-dir', path })),
  );
  const diagnostics = new Diagnostics(options.quiet ?? false);
  const { profile = 'rfc9309', agent } = options;
  const productTokens = agent === undefined ? undefined : neededTokens(parseAgents(agent, profile));
  const interruption = new Interruption();
  let file: ReplacementFile | undefined;
  try {
    file = await ReplacementFile.create(output);
    const compiled = await compileCaches(
      robotsDir,
      options,
      productTokens,
      diagnostics,
      interruption,
    );
    const { layout } = compiled;
    const checksum = await writeTable(layout, file, interruption.signal);
    interruption.signal.throwIfAborted();
    // A table that this build could not open must not take the place of one that it can.
    const header = checkHeader(layout.header, layout.length, output, () => checksum);
    await file.commit(true);
    describeContentWarnings(compiled, diagnostics);
    const { stats } = compiled;
    diagnostics.note(
      `${output}: ${counted(header.hosts, 'host')} from ${counted(stats.files, 'file')} (${sized(stats.octets)}), ` +
        `${counted(header.rules, 'rule')}, ${grouped(header.length)} bytes, ` +
        `${lasted(performance.now() / 1000)}`,
    );
    return 0;
  } catch (error) {
    if (interruption.exitCode !== undefined) return interruption.exitCode;
    throw error;
  } finally {
    await file?.discard();
    interruption.end();
  }
}

/**
 * Compiles caches and says on standard error what was left out of them.
 *
 * @throws RobotsFilterError `input` where nothing at all is left
 */
export async function compileCaches(
  paths: readonly string[],
  options: RobotsOptions & FetchReadingOptions & { readonly threads?: number },
  productTokens: readonly string[] | undefined,
  diagnostics: Diagnostics,
  interruption: Interruption,
): Promise<CompiledCache> {
  const warnings = new CacheWarnings(diagnostics);
  const compiled = await compileCache(paths, {
    profile: options.profile ?? 'rfc9309',
    maxRobotsOctets: options.maxRobotsBytes,
    productTokens,
    followLinks: options.followLinks,
    stale: options.stale,
    fetchReading: { unreachableAfter: options.unreachableAfter },
    onWarning: (warning) => warnings.add(warning),
    threads: options.threads,
    signal: interruption.signal,
  });
  warnings.summarise();
  const { stats } = compiled;
  if (compiled.stale > 0) {
    const fate =
      options.stale === 'unknown'
        ? 'their hosts are unknown'
        : 'used all the same, --stale unknown leaves them out';
    diagnostics.note(
      `warning: ${counted(compiled.stale, 'robots.txt', 'robots.txt')} fetched too long ago: ${fate}. robots-filter fetch --robots-dir DIR --stale asks again`,
    );
  }
  if (stats.files === 0 && compiled.stale === 0) {
    diagnostics.note(
      `warning: no robots.txt in ${paths.join(', ')}: every host is unknown. Files are found that are named HOST, HOST.txt, HOST-robots.txt, HOST.robots.txt, HOST/robots.txt or SCHEME/HOST/robots.txt.`,
    );
  }
  if (stats.replaced > 0 && paths.length === 1) {
    diagnostics.note(
      `warning: ${counted(stats.replaced, 'robots.txt', 'robots.txt')} gave way to a later one for the same authority`,
    );
  }
  return compiled;
}

/** Says how many lines were found fault with, by kind. */
function describeContentWarnings(compiled: CompiledCache, diagnostics: Diagnostics): void {
  const total = [...compiled.contentWarnings.values()].reduce((sum, count) => sum + count, 0);
  if (total === 0) return;
  const kinds = [...compiled.contentWarnings].sort(([, a], [, b]) => b - a);
  diagnostics.note(
    `${counted(total, 'warning')} about what ${counted(compiled.stats.bodies, 'distinct file')} say: ` +
      `${kinds.map(([code, count]) => `${grouped(count)} ${code}`).join(', ')} (robots-filter check FILE AGENT URL lists them)`,
  );
}
