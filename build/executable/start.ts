/**
 * The start of the single executable: unpacks the package into the cache of this user, on the first
 * run of a version, and runs the command line from there. Threads and modules need files.
 */
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { getAsset } from 'node:sea';
import { deserialize } from 'node:v8';
import { gunzipSync } from 'node:zlib';

/** Rights of a directory whose files are run: only this user may write. */
const OWN = 0o700;
const OTHERS_WRITE = 0o022;

const base = process.env.XDG_CACHE_HOME || join(homedir(), '.cache');
const home = join(base, 'robots-filter');
const place = join(home, getAsset('id', 'utf8'));

/** @throws Error if another user could have put files there */
function checkOwner(path: string): void {
  const { uid, mode } = lstatSync(path);
  if (process.getuid === undefined) return;
  if (uid === process.getuid() && (mode & OTHERS_WRITE) === 0) return;
  throw new Error(`others can write to ${path}, so its files are not run`);
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** Unpacks beside the place, then renames: a killed run leaves no part of a program there. */
function unpack(): void {
  const unfinished = mkdtempSync(join(home, '.unfinished-'));
  const packed = gunzipSync(Buffer.from(getAsset('package')));
  for (const [path, bytes] of deserialize(packed) as Map<string, Uint8Array>) {
    const file = join(unfinished, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, bytes);
  }
  chmodSync(unfinished, OWN);
  try {
    renameSync(unfinished, place);
  } catch (error) {
    rmSync(unfinished, { recursive: true });
    // Another run of this version has come first.
    if (!exists(place)) throw error;
  }
}

try {
  mkdirSync(home, { recursive: true, mode: OWN });
  checkOwner(home);
  if (!exists(place)) unpack();
  checkOwner(place);
  createRequire(join(place, 'package.json'))('./dist/cjs/main.cjs');
} catch (error) {
  const text = error instanceof Error ? error.message : String(error);
  process.stderr.write(
    `robots-filter: the program cannot be unpacked into ${place}: ${text}. Set XDG_CACHE_HOME to a directory that only you can write to\n`,
  );
  process.exitCode = 2;
}
