import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { bytesOf, charactersOf, readCorpus, writeCorpus } from './corpus.js';
import { instrumentKernel } from './coverage/instrument.js';
import { shown } from './fault.js';
import type { FuzzProgress } from './fuzzer.js';
import { runSession, type SessionResult } from './session.js';
import type { Target } from './target.js';
import { TARGETS } from './targets/index.js';

const USAGE = `Throws ever new inputs at a part of the program and sees that its invariants hold.

npm run fuzz -- TARGET [options]
    --time 10m          how long: s, m or h (default 1m)
    --runs N            how many runs at most
    --seed N            from which all choices follow (default: another one each time, printed)
    --hang 10           seconds after which one run counts as a hang
    --keep              writes a small corpus that reaches all that was reached to fixtures/fuzz/
    --input FILE        runs this input alone, over the kernel as it is shipped
    --replay            runs the corpus, over the kernel as it is shipped; without TARGET that of all targets

Targets:
`;

const FINDINGS = 'fuzz-findings';
const SCRIPTS = '/src/';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    time: { type: 'string', default: '1m' },
    runs: { type: 'string' },
    seed: { type: 'string' },
    hang: { type: 'string', default: '10' },
    keep: { type: 'boolean', default: false },
    input: { type: 'string' },
    replay: { type: 'boolean', default: false },
  },
});

const names = positionals.length > 0 ? positionals : values.replay ? Object.keys(TARGETS) : [];
if (names.length === 0 || !names.every((name) => name in TARGETS)) {
  process.stderr.write(USAGE);
  for (const [name, url] of Object.entries(TARGETS)) {
    process.stderr.write(`    ${name.padEnd(20)}${(await load(url)).summary}\n`);
  }
  process.exit(2);
}
const patience = 1000 * whole('--hang', values.hang);
for (const name of names) {
  const result = await (values.replay || values.input !== undefined ? replay(name) : fuzz(name));
  if (result.kind === 'found') {
    tell(name, result);
    process.exitCode = 1;
  }
}

async function load(url: URL): Promise<Target> {
  return ((await import(url.href)) as { target: Target }).target;
}

function urlOf(name: string): URL {
  const url = TARGETS[name];
  if (url === undefined) throw new Error(`no target ${name}`);
  return url;
}

async function replay(name: string): Promise<SessionResult> {
  const { seeds } = await load(urlOf(name));
  const inputs =
    values.input === undefined
      ? [...readCorpus(name), ...seeds.map(bytesOf)]
      : [new Uint8Array(readFileSync(values.input))];
  const task = { kind: 'replay', targetUrl: urlOf(name).href, covered: SCRIPTS, inputs } as const;
  const result = await runSession(task, { patience });
  if (result.kind === 'done') console.log(`${name}: ${result.runs} inputs, no fault found`);
  return result;
}

async function fuzz(name: string): Promise<SessionResult> {
  const seed = values.seed === undefined ? Date.now() % 1_000_000 : whole('--seed', values.seed);
  const runs = values.runs === undefined ? Number.POSITIVE_INFINITY : whole('--runs', values.runs);
  const limits = { seed, runs, milliseconds: milliseconds(values.time) };
  const inputs = readCorpus(name);
  const kernel = await instrumentKernel();
  console.log(`${name}: seed ${seed}, ${inputs.length} inputs stored, ${kernel.probes} probes`);
  const start = performance.now();
  let next = start;
  const result = await runSession(
    { kind: 'fuzz', targetUrl: urlOf(name).href, covered: SCRIPTS, inputs, kernel, limits },
    {
      patience,
      onProgress(progress) {
        if (performance.now() < next) return;
        next = performance.now() + 10_000;
        report(name, progress, performance.now() - start);
      },
    },
  );
  if (result.kind === 'done') {
    report(name, { ...result, inputs: result.inputs.length }, performance.now() - start);
    if (values.keep) writeCorpus(name, result.inputs);
  }
  return result;
}

function report(name: string, progress: FuzzProgress, elapsed: number): void {
  const { runs, reached, inputs } = progress;
  const rate = Math.round((1000 * runs) / elapsed);
  console.log(
    `${name}: ${Math.round(elapsed / 1000)} s, ${runs} runs, ${rate}/s, ` +
      `${reached.edges} edges of the kernel (${reached.counts} with their counts), ` +
      `${reached.blocks} blocks of scripts, ${inputs} inputs`,
  );
}

/** Stores the finding, and prints how to reproduce it. */
function tell(name: string, { input, message }: { input: Uint8Array; message: string }): void {
  const digest = createHash('sha256').update(input).digest('hex').slice(0, 12);
  const file = join(FINDINGS, `${name}-${digest}`);
  mkdirSync(FINDINGS, { recursive: true });
  writeFileSync(file, input);
  console.log(`${name}: ${message}`);
  console.log(`input, ${input.length} bytes: ${shown(charactersOf(input))}`);
  console.log(`to reproduce: npm run fuzz -- ${name} --input ${file}`);
}

function whole(option: string, text: string): number {
  const number = Number(text);
  if (!Number.isInteger(number) || number < 0)
    throw new Error(`${option} ${text}: expected a whole number`);
  return number;
}

function milliseconds(text: string): number {
  const unit = { s: 1000, m: 60_000, h: 3_600_000 }[text.slice(-1)];
  if (unit === undefined) throw new Error(`--time ${text}: expected a number and s, m or h`);
  return whole('--time', text.slice(0, -1)) * unit;
}
