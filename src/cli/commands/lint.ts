/**
 * The command `lint`: finds robots.txt files in paths, archives and tables, and prints findings.
 */

import { RobotsFilterError } from '../../base/errors.js';
import { inputName, STANDARD_INPUT } from '../../files/openings.js';
import { replaceFile } from '../../files/replacement.js';
import { fixBody, Linter } from '../../lint/lint.js';
import {
  LINT_RULE_NAMES,
  type LintRuleName,
  lintRule,
  SEVERITIES,
  type Severity,
} from '../../lint/rules.js';
import {
  eachRobots,
  kindOfHolder,
  type RobotsReading,
} from '../../pipeline/compile/robots-bodies.js';
import { type Authority, formatAuthority } from '../../protocol/authority.js';
import { knownAgentsOf, type NamedAgentOptions } from '../agents.js';
import { Diagnostics, FAILURE, FOUND, SUCCESS, usageError } from '../console.js';
import type { SourceOptions } from '../options.js';
import {
  type FindingWriter,
  findingWriter,
  type LintedFile,
  type LintFormat,
} from '../report/lint-findings.js';
import { TextBatches } from '../report/rows.js';
import { formatCount, formatNumber } from '../text.js';
import { ListedHosts, noteEmptyList, readRobotsFile } from './arguments.js';
import { CacheWarnings } from './compile-caches.js';
import { refuseSecondStandardInput } from './inputs.js';
import { emptySource, refuseReadingOptions } from './robots-source.js';

export interface LintOptions extends NamedAgentOptions, SourceOptions {
  readonly format?: LintFormat;
  readonly enable?: readonly LintRuleName[];
  readonly disable?: readonly LintRuleName[];
  readonly opinions?: boolean;
  readonly severity?: Severity;
  readonly maxWarnings?: number;
  readonly fix?: boolean;
  readonly urls?: string;
  readonly followLinks?: boolean;
  /** A time in milliseconds since 1970. */
  readonly asOf?: number;
  readonly quiet?: boolean;
}

/** Number of findings of one rule in one file that are listed. */
const MOST_LISTED = 100;

/** Number of times that a file is fixed: an edit may leave room for another one. */
const MOST_PASSES = 4;

/**
 * `robots-filter lint`: prints what is wrong in robots.txt files.
 *
 * @returns the exit code: 1 if there are errors, or more warnings than `--max-warnings`; 2 if one
 *   of several files, or a file in a directory, cannot be read
 * @throws RobotsFilterError
 */
export async function lint(
  files: readonly string[],
  options: LintOptions,
  version: string,
): Promise<number> {
  const diagnostics = new Diagnostics(options.quiet ?? false);
  const warnings = new CacheWarnings(diagnostics);
  const linter = new Linter({
    rules: chosenRules(options),
    agents: await knownAgentsOf(options, diagnostics),
    mostListed: MOST_LISTED,
    collectEdits: options.fix ?? false,
  });
  const { urls, asOf, followLinks = false, format = 'text' } = options;
  const listed = urls === undefined ? undefined : await ListedHosts.read(urls);
  const reading: RobotsReading = {
    followLinks,
    asOf,
    onWarning: (warning) => warnings.add(warning),
  };
  const run = new LintRun(linter, findingWriter(format, version), options.fix ?? false);
  run.begin();
  let unread = 0;
  refuseSecondStandardInput(files);
  if (followLinks) {
    const kinds = await Promise.all(files.map(kindOfHolder));
    // A file that was named is read, link or not.
    if (kinds.every((kind) => kind === 'file')) refuseReadingOptions({ followLinks }, 'robots.txt');
  }
  for (const file of files) {
    try {
      const isRead = await eachSource(file, reading, (source) => {
        if (listed === undefined) return run.lint(source);
        const { authority } = source;
        if (authority === undefined) throw usageError(unlisted(file));
        return !listed.has(authority) || run.lint(source);
      });
      await run.writeFixed(diagnostics);
      if (!isRead) break;
    } catch (error) {
      // The findings in the other files are wanted all the same.
      const isInput = error instanceof RobotsFilterError && error.code === 'input';
      if (!isInput || files.length === 1) throw error;
      diagnostics.error(error.message);
      unread++;
    }
  }
  run.end();
  // Who closes the pipe has seen enough.
  if (run.isClosed) return SUCCESS;
  warnings.summarise();
  if (run.files === 0 && warnings.unread + unread === 0 && listed === undefined) {
    const none = `no robots.txt in ${files.join(', ')}`;
    if (options.allowEmpty !== true) throw emptySource(none);
    diagnostics.note(`warning: ${none}`);
  }
  if (listed?.count === 0) noteEmptyList(urls ?? '', 'URL', diagnostics);
  const { errors, warnings: found } = run.severities();
  diagnostics.note(run.summary());
  if (listed !== undefined && listed.missing > 0) {
    diagnostics.note(
      `warning: no robots.txt was read for ${formatNumber(listed.missing)} of the ${formatCount(listed.count, 'authority', 'authorities')} in ${urls}. robots-filter fetch --robots-dir DIR ${urls} fetches them`,
    );
  }
  if (warnings.unread > 0) {
    diagnostics.error(
      `${formatCount(warnings.unread, 'robots.txt file')} could not be read: ${listing(warnings)}. Mend, replace or remove such a file`,
    );
  }
  if (unread + warnings.unread > 0) return FAILURE;
  return errors > 0 || found > (options.maxWarnings ?? Number.POSITIVE_INFINITY) ? FOUND : SUCCESS;
}

/** The first file that could not be read, and how many others. */
function listing({ unread, firstUnread }: CacheWarnings): string {
  return unread === 1 ? firstUnread : `${firstUnread} and ${formatNumber(unread - 1)} more`;
}

function unlisted(file: string): string {
  return `--urls chooses among the hosts of a directory, a file of records or an archive, and ${file} is a robots.txt without a host. Leave --urls out`;
}

/** The rules that are on. */
function chosenRules(options: LintOptions): ReadonlySet<LintRuleName> {
  const { enable = [], disable = [], opinions = false, severity = 'note' } = options;
  const both = enable.find((rule) => disable.includes(rule));
  if (both !== undefined) {
    throw usageError(`--enable and --disable both name ${both}. Name it once`);
  }
  const least = SEVERITIES.indexOf(severity);
  return new Set(
    LINT_RULE_NAMES.filter((name) => {
      const { opinion, severity: own } = lintRule(name);
      if (enable.includes(name)) return true;
      if (disable.includes(name) || SEVERITIES.indexOf(own) > least) return false;
      return opinion !== true || opinions;
    }),
  );
}

/** Lints files one after another, writes their findings and counts them. */
class LintRun {
  readonly #linter: Linter;
  readonly #writer: FindingWriter;
  readonly #fixes: boolean;
  readonly #rules = new Map<LintRuleName, { findings: number; files: number }>();
  #files = 0;
  #filesWithFindings = 0;
  readonly #out = new TextBatches();
  #fixed: { path: string; body: Uint8Array; edits: number } | undefined;

  constructor(linter: Linter, writer: FindingWriter, fixes: boolean) {
    this.#linter = linter;
    this.#writer = writer;
    this.#fixes = fixes;
  }

  /** Number of files that were linted. */
  get files(): number {
    return this.#files;
  }

  /** Whether the reader of the findings has gone away. */
  get isClosed(): boolean {
    return this.#out.isClosed;
  }

  begin(): void {
    this.#out.add(this.#writer.begin());
  }

  /** @returns false if nobody reads the findings */
  lint({ file, body, authority, path }: LintSource): boolean {
    let report = this.#linter.lint(body, authority);
    if (this.#fixes) {
      if (path === undefined) {
        throw usageError(
          `--fix changes files that are named one by one, and ${file.path} is not one. Name the robots.txt itself`,
        );
      }
      let fixed = body;
      let edits = 0;
      for (let pass = 0; pass < MOST_PASSES; pass++) {
        const next = fixBody(fixed, report);
        if (next.edits === 0) break;
        fixed = next.body;
        edits += next.edits;
        report = this.#linter.lint(fixed, authority);
      }
      if (edits > 0) this.#fixed = { path, body: fixed, edits };
    }
    this.#files++;
    if (report.counts.size > 0) this.#filesWithFindings++;
    for (const [rule, count] of report.counts) {
      const total = this.#rules.get(rule);
      if (total === undefined) this.#rules.set(rule, { findings: count, files: 1 });
      else {
        total.findings += count;
        total.files++;
      }
    }
    this.#out.add(this.#writer.file(file, report));
    return !this.isClosed;
  }

  /** Replaces the last file if it was fixed. */
  async writeFixed(diagnostics: Diagnostics): Promise<void> {
    const fixed = this.#fixed;
    if (fixed === undefined) return;
    this.#fixed = undefined;
    await replaceFile(fixed.path, fixed.body);
    diagnostics.note(`${fixed.path}: ${formatCount(fixed.edits, 'edit')}`);
  }

  end(): void {
    this.#out.add(this.#writer.end({ files: this.#files, rules: this.#rules }));
    this.#out.flush();
  }

  severities(): { errors: number; warnings: number; notes: number } {
    const sum = (severity: Severity): number =>
      [...this.#rules].reduce(
        (total, [rule, { findings }]) =>
          lintRule(rule).severity === severity ? total + findings : total,
        0,
      );
    return { errors: sum('error'), warnings: sum('warning'), notes: sum('note') };
  }

  summary(): string {
    const { errors, warnings, notes } = this.severities();
    const files = formatCount(this.#files, 'file');
    if (errors + warnings + notes === 0) return `${files}: nothing found`;
    const counts = [
      formatCount(errors, 'error'),
      formatCount(warnings, 'warning'),
      formatCount(notes, 'note'),
    ].join(', ');
    return this.#files === 1
      ? `${files}: ${counts}`
      : `${files}: ${counts} in ${formatCount(this.#filesWithFindings, 'file')}`;
  }
}

/** A robots.txt to lint. */
interface LintSource {
  readonly file: LintedFile;
  /** The body, until the next source. */
  readonly body: Uint8Array;
  readonly authority: Authority | undefined;
  /** The path of a file that may be changed. */
  readonly path: string | undefined;
}

/** Bytes by which a list of URLs is recognised. */
const URLS_START = 4096;

/**
 * Passes on each robots.txt of a path: of a directory, a file of records, an archive, or the path
 * itself. Holds one part of a directory at a time.
 *
 * @param onSource returns false to end
 * @returns false if `onSource` ended it
 * @throws RobotsFilterError `input` if the path cannot be read, `usage` if it has no captures for
 *   `asOf`
 */
async function eachSource(
  path: string,
  reading: RobotsReading,
  onSource: (source: LintSource) => boolean,
): Promise<boolean> {
  const kind = await kindOfHolder(path);
  if (reading.asOf !== undefined && (kind === 'file' || kind === 'records')) {
    throw usageError(
      `--as-of chooses among captures of WARC files, and ${inputName(path)} has none. Leave --as-of out`,
    );
  }
  if (kind === 'file') {
    const body = await readRobotsFile(path, 'lint');
    refuseUrls(path, body);
    const file = { path: inputName(path), record: undefined, authority: undefined };
    const named = path === STANDARD_INPUT ? undefined : path;
    return onSource({ file, body, authority: undefined, path: named });
  }
  return eachRobots(path, reading, ({ authority, body, ...place }) => {
    const file = { ...place, authority: formatAuthority(authority) };
    return onSource({ file, body, authority, path: undefined });
  });
}

/** @throws RobotsFilterError `input` for a list of URLs, which is no robots.txt */
function refuseUrls(path: string, body: Uint8Array): void {
  const start = Buffer.from(body.buffer, body.byteOffset, Math.min(body.length, URLS_START));
  const lines = start.toString('latin1').trim().split('\n');
  if (start.length < body.length) lines.pop();
  const isUrl = (line: string): boolean =>
    line.startsWith('http://') || line.startsWith('https://');
  if (lines.length === 0 || !lines.every(isUrl)) return;
  const name = inputName(path);
  throw new RobotsFilterError(
    'input',
    `${name}: is a list of URLs, and lint does not fetch. Type: robots-filter fetch --robots-dir robots ${name}, then: robots-filter lint robots --urls ${name}`,
  );
}
