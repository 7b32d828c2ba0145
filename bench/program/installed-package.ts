import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runProgram } from '../measure/process.js';

const ROOT = join(import.meta.dirname, '..', '..');
const PACKAGE = 'robots-filter';

/** The package as installed by npm: every benchmark runs this package. */
export interface InstalledPackage {
  readonly version: string;
  /** The folder whose `node_modules` holds the package. */
  readonly directory: string;
  /** The `robots-filter` program that npm linked. */
  readonly program: string;
  /** The origin of the package, in a sentence for the output and the record. */
  readonly origin: string;
}

/**
 * Packs this checkout with `npm pack` and installs the tarball into an empty folder, or uses an
 * existing installation.
 *
 * @param scratch folder that the caller removes
 * @param installed folder in which somebody ran `npm install TARBALL`
 * @throws Error if the checkout is not built, or npm fails
 */
export async function providePackage(
  scratch: string,
  installed?: string,
): Promise<InstalledPackage> {
  if (installed !== undefined) return findPackage(installed, `found in ${installed}`);
  if (!existsSync(join(ROOT, 'dist', 'cjs', 'main.cjs'))) {
    throw new Error('dist/ is missing: run "npm run build" first');
  }
  const directory = join(scratch, 'installed');
  mkdirSync(directory, { recursive: true });
  const pack = ['pack', '--ignore-scripts', '--json', '--pack-destination', directory];
  const { output } = await npm(pack, ROOT);
  const [packed] = JSON.parse(output) as { filename: string }[];
  if (packed === undefined) throw new Error(`npm pack wrote no tarball: ${output}`);
  writeFileSync(join(directory, 'package.json'), '{ "private": true }\n');
  const quiet = ['--no-audit', '--no-fund', '--prefer-offline'];
  await npm(['install', `./${packed.filename}`, '--prefix', directory, ...quiet], directory);
  return findPackage(directory, 'from npm pack, installed by npm into an empty folder');
}

async function npm(words: readonly string[], directory: string) {
  const { NODE_EXTRA_CA_CERTS: certificates } = process.env;
  return await runProgram('npm', words, {
    directory,
    output: 'keep',
    mayComplain: true,
    watched: false,
    environment: certificates === undefined ? {} : { NODE_EXTRA_CA_CERTS: certificates },
  });
}

function findPackage(directory: string, origin: string): InstalledPackage {
  const modules = join(directory, 'node_modules');
  const program = join(modules, '.bin', PACKAGE);
  if (!existsSync(program)) {
    throw new Error(`${program} is missing: run "npm install robots-filter.tgz" in ${directory}`);
  }
  const { version } = JSON.parse(readFileSync(join(modules, PACKAGE, 'package.json'), 'utf8')) as {
    version: string;
  };
  return { version, directory, program, origin };
}

export function packageText({ version, origin, program }: InstalledPackage): string {
  return `robots-filter ${version}, ${origin}: ${program}`;
}
