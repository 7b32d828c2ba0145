import {
  closeSync,
  createReadStream,
  createWriteStream,
  mkdirSync,
  openSync,
  readSync,
  statSync,
} from 'node:fs';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { charactersOf } from '../../oracle/bytes.js';
import { Random } from '../../test/random/random.js';
import { shown } from '../fault.js';
import { type Ended, runCommand, runOnce } from './command.js';
import { type Amount, type DrawnInput, type Place, writeInput } from './input.js';
import { argumentsOf, drawPlan, type Plan } from './plan.js';
import { drawRobotsSet, writeRobotsSet } from './robots-set.js';
import { statisticsFault } from './statistics.js';
import type { Totals } from './totals.js';

/** The place where the command line broke a promise. */
export interface Finding {
  readonly round: number;
  readonly command: string;
  readonly message: string;
}

/** Bytes of both outputs that a message shows. */
const SHOWN = 160;

/**
 * One run of the command line over records drawn from the seed, compared with the library. All
 * files lie in `directory`, which must be empty.
 *
 * @param fixed choices of the round that are not drawn
 */
export async function playRound(
  seed: number,
  round: number,
  amount: Amount,
  directory: string,
  totals: Totals,
  fixed: Partial<Plan> = {},
): Promise<Finding | undefined> {
  // Neighbouring rounds and seeds share no choices.
  const random = new Random(Math.imul(seed, 0x9e3779b1) ^ Math.imul(round + 1, 0x85ebca6b));
  mkdirSync(directory, { recursive: true });
  const plan = { ...drawPlan(random, round), ...fixed };
  const robots = drawRobotsSet(random, plan.profile, plan.layout);
  const robotsPath = join(directory, 'robots');
  writeRobotsSet(robots, robotsPath);
  if (plan.layout === 'table') {
    runOnce([
      'compile',
      '-q',
      '--profile',
      plan.profile,
      '--robots-dir',
      robotsPath,
      '-o',
      `${robotsPath}.table`,
    ]);
  }
  const inputs = Array.from(
    { length: plan.wayIn === 'several files' ? random.between(2, 4) : 1 },
    (_, index) => join(directory, `input-${index}`),
  );
  const expected = join(directory, 'expected');
  // Sometimes small enough for the main thread, sometimes larger.
  const longBytes = Math.ceil(amount.longBytes * random.pick([0.1, 0.2, 0.5, 1, 2]));
  const drawn = writeInput(
    random,
    plan,
    robots,
    { ...amount, longBytes },
    { inputs, expected },
    totals,
  );
  totals.round(
    plan,
    drawn.bytes.reduce((sum, bytes) => sum + bytes, 0),
  );
  const given = plan.wayIn.startsWith('gzip') ? await compressed(inputs) : inputs;
  const actual = join(directory, 'actual');
  const chunkSeed = random.between(0, 0xffffffff);
  const args = argumentsOf(plan, plan.layout === 'table' ? `${robotsPath}.table` : robotsPath);
  const ended = await runCommand(
    args,
    { ...plan, chunkSeed },
    { directory, inputs: given, actual },
  );
  const message =
    outputFault(expected, actual, drawn) ??
    endFault(ended) ??
    statisticsFault(ended.stderr, given, plan, drawn);
  return message === undefined
    ? undefined
    : { round, command: ended.command, message: `${message}\n${said(ended)}` };
}

async function compressed(inputs: readonly string[]): Promise<string[]> {
  const paths: string[] = [];
  for (const input of inputs) {
    await pipeline(
      createReadStream(input),
      createGzip({ level: 1 }),
      createWriteStream(`${input}.gz`),
    );
    paths.push(`${input}.gz`);
  }
  return paths;
}

function endFault({ code, signal }: Ended): string | undefined {
  return code === 0 ? undefined : `exit status ${code ?? signal}, should be 0`;
}

function said({ code, signal, stderr }: Ended): string {
  return `exit status ${code ?? signal}; standard error: ${stderr.slice(0, 2000)}`;
}

/** The first difference between the expected and the actual output. */
export function outputFault(
  expected: string,
  actual: string,
  drawn: Pick<DrawnInput, 'places'>,
): string | undefined {
  const descriptors = [expected, actual].map((path) => openIfThere(path));
  const [wanted, came] = descriptors;
  if (wanted === undefined || came === undefined) return 'no output';
  try {
    const offset = firstDifference(wanted, came);
    if (offset === undefined) return undefined;
    const index = drawn.places.findIndex(({ outputEnd }) => outputEnd > offset);
    const sizes = `${statSync(actual).size} bytes of output, should be ${statSync(expected).size}`;
    const around = (descriptor: number): string =>
      shown(charactersOf(readAt(descriptor, Math.max(0, offset - SHOWN / 2), SHOWN)));
    return [
      `output differs at byte ${offset} (${sizes})`,
      describePlaces(drawn.places, index),
      `expected ${around(wanted)}`,
      `found    ${around(came)}`,
    ].join('\n');
  } finally {
    for (const descriptor of descriptors) if (descriptor !== undefined) closeSync(descriptor);
  }
}

function openIfThere(path: string): number | undefined {
  try {
    return openSync(path, 'r');
  } catch {
    return undefined;
  }
}

function describePlaces(places: readonly Place[], index: number): string {
  if (index < 0) return 'after the last record';
  const describe = (place: Place | undefined): string =>
    place === undefined
      ? 'none'
      : `line ${place.line} of input-${place.input} (${place.shape}, bytes ${place.start} to ${place.end})`;
  const long = places.slice(Math.max(0, index - 200), index + 200);
  const longest = long.reduce((a, b) => (b.end - b.start > a.end - a.start ? b : a));
  return `record ${index + 1}: ${describe(places[index])}; the longest near it: ${describe(longest)}`;
}

const PIECE = 1 << 20;

/** The offset of the first byte that differs between two files; undefined if they are equal. */
function firstDifference(a: number, b: number): number | undefined {
  for (let offset = 0; ; offset += PIECE) {
    const one = readAt(a, offset, PIECE);
    const other = readAt(b, offset, PIECE);
    if (one.equals(other)) {
      if (one.length < PIECE) return undefined;
      continue;
    }
    let at = 0;
    while (at < one.length && one[at] === other[at]) at++;
    return offset + at;
  }
}

function readAt(descriptor: number, offset: number, bytes: number): Buffer {
  const buffer = Buffer.allocUnsafe(bytes);
  let filled = 0;
  for (;;) {
    const read = readSync(descriptor, buffer, filled, bytes - filled, offset + filled);
    filled += read;
    if (read === 0 || filled === bytes) return buffer.subarray(0, filled);
  }
}
