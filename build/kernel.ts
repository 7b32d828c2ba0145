/**
 * Compiles the kernel with asc. Then inlines its functions further than asc does at any of its
 * levels. A line passes some twenty functions, and entering them takes a noticeable part of its
 * time.
 *
 * Both take 15 s, so the kernel is kept with the digest of all that it was built from, and built
 * again only if one of these files has changed.
 */

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const KEPT = 'node_modules/.cache/robots-filter/kernel.json';

/** What decides how the kernel is built; asc tells which sources it read. */
const TOOLS = ['build/kernel.ts', 'package-lock.json'];

/** A kernel that was built before. */
interface Kept {
  /** All files that it was built from. */
  readonly paths: readonly string[];
  /** The digest of their names and contents. */
  readonly digest: string;
  /** The kernel itself, in base64. */
  readonly kernel: string;
}

const KERNEL = '.build/dist/kernel/kernel.wasm';

/** The features that asconfig.json enables. Newer ones may be missing in the oldest Node. */
const FEATURES = [
  'simd',
  'threads',
  'bulk-memory',
  'bulk-memory-opt',
  'sign-ext',
  'mutable-globals',
  'nontrapping-float-to-int',
];

/*
 * Maximum sizes of functions that are inlined into all their callers, in units of about an
 * instruction. V8 spends more time on compiling larger ones than a run of some million lines saves.
 */
const CALLING_NONE = 250;
const CALLING_OTHERS = 300;
/** Maximum size of a function with only one caller. */
const CALLED_ONCE = 1_000_000;

/**
 * Functions that few lines or runs reach are not inlined, nor are some that many places call. V8
 * would compile them with the functions that every line passes, and takes more time for a byte of a
 * larger function. Each run reads one format, so the readers of formats are among them: only the
 * one in use is compiled.
 */
const SEPARATE = [
  'emit',
  'lookUpCommon',
  'lookUpAny',
  'findAuthorities',
  'findUsual',
  'countRules',
  'keepRules',
  'openString',
  'decodeUrl',
  'findByte',
  'groupsOf',
  'follows',
  'verdicts',
  'locateInText',
  'locateByOffset',
  'locateInRow',
  'locateInJson',
  'passRow',
  'passJson',
  'rowColumns',
  'convert',
  'encode',
  'describeBadLine',
  'explanations',
  'splitAuthority',
  'removeDotSegments',
  'validScalarEnd',
  'decodeEscape',
  'splitAny',
  'resolveAny',
  'unescapeString',
  'isEscapedKey',
  'holdsEscape',
  'checkedContainer',
  'isEscape',
  'skipString',
  'skipSpace',
  'memberValue',
  'readMarks',
  'markAt',
  'beforeClosing',
  'skipContainer',
  'canonicalise',
  'escapeString',
  'columns',
  'ruleObject',
  'sourceText',
  'patternText',
  'decideUrl',
  'readTime',
  'timeOf',
  'readObject<*/UrlAndTime>',
  'readObject<*/UrlAndAgent>',
  'findAgent',
  'versionFor',
  'isTooOld',
  'joinFollowers',
  'decideByAll',
  'sinceOf',
  'versionsOf',
  'versionColumn',
];

mkdirSync(dirname(KERNEL), { recursive: true });
const kept = readKept();
if (kept !== undefined && digestOf(kept.paths) === kept.digest) {
  writeFileSync(KERNEL, Buffer.from(kept.kernel, 'base64'));
} else {
  // A file that changes while asc runs must not be taken for the one that was compiled.
  const texts = await compile();
  inline();
  keep([...TOOLS, ...texts.keys()], texts);
}

/** Compiles the kernel; returns the files that asc read and their texts. */
async function compile(): Promise<ReadonlyMap<string, string>> {
  // Loading asc takes a second, which a kernel that was kept does not need.
  const { default: asc } = await import('assemblyscript/asc');
  const texts = new Map<string, string>();
  const { error } = await asc.main(['--target', 'release', '--debug'], {
    readFile(name, baseDir) {
      const path = join(baseDir, name);
      // asc looks for a module in several places.
      if (!existsSync(path)) return null;
      const text = readFileSync(path, 'utf8');
      texts.set(path, text);
      return text;
    },
    writeFile(name, contents, baseDir) {
      writeFileSync(join(baseDir, name), contents);
    },
    stdout: process.stdout,
    stderr: { write: (text) => void (isUsual(text) || process.stderr.write(text)) },
  });
  // asc has written what is wrong.
  if (error !== null) process.exit(1);
  return texts;
}

/** Whether asc only says that its last round of optimizing made the kernel some bytes longer. */
function isUsual(text: string | Uint8Array): boolean {
  return text.toString().startsWith('Last converge was suboptimal');
}

function inline(): void {
  // asc depends on binaryen, which contains the optimizer.
  const binaryen = createRequire(import.meta.resolve('assemblyscript')).resolve('binaryen');
  execFileSync(process.execPath, [
    join(dirname(binaryen), 'bin/wasm-opt'),
    KERNEL,
    // Reads the names, by which asc calls `function` in `file` `path/file/function`.
    '--debuginfo',
    ...FEATURES.map((feature) => `--enable-${feature}`),
    ...SEPARATE.map((name) => `--no-inline=*/${name}`),
    // Compiling rules takes as long without inlining, and the kernel is smaller.
    '--no-inline=*/compile/*',
    `--always-inline-max-function-size=${CALLING_NONE}`,
    `--flexible-inline-max-function-size=${CALLING_OTHERS}`,
    `--one-caller-inline-max-function-size=${CALLED_ONCE}`,
    '--inline-functions-with-loops',
    '-O3',
    '--strip-debug',
    `--output=${KERNEL}`,
  ]);
}

function readKept(): Kept | undefined {
  return existsSync(KEPT) ? (JSON.parse(readFileSync(KEPT, 'utf8')) as Kept) : undefined;
}

/** Keeps the kernel. The file is replaced as a whole: another build may read it. */
function keep(paths: readonly string[], texts: ReadonlyMap<string, string>): void {
  const kernel = readFileSync(KERNEL, 'base64');
  const kept: Kept = { paths, digest: digestOf(paths, texts), kernel };
  mkdirSync(dirname(KEPT), { recursive: true });
  const unfinished = `${KEPT}.${process.pid}`;
  writeFileSync(unfinished, JSON.stringify(kept));
  renameSync(unfinished, KEPT);
}

/** @param texts texts that were read before; the others are read now */
function digestOf(paths: readonly string[], texts?: ReadonlyMap<string, string>): string {
  const hash = createHash('sha256');
  for (const path of paths) {
    const text = texts?.get(path) ?? (existsSync(path) ? readFileSync(path, 'utf8') : '');
    hash.update(JSON.stringify([path, text]));
  }
  return hash.digest('hex');
}
