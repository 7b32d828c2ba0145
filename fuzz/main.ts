import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { bytesOf, charactersOf } from '../oracle/bytes.js';
import { readCorpus, writeCorpus } from './corpus.js';
import { instrumentKernel } from './coverage/instrument.js';
import { shown } from './fault.js';
import type { FuzzProgress } from './fuzzer.js';
import { type FuzzSettings, readRequest } from './request.js';
import { runSession, type SessionResult } from './session.js';
import type { Target } from './target.js';
import { TARGETS } from './targets/index.js';

const USAGE = `Tries ever new inputs on a part of the program, and checks that its invariants hold.

npm run fuzz -- TARGET [options]
    --time 10m          stop after this time: s, m or h (default 1m)
    --runs N            stop after N runs
    --seed N            make the choices of this seed (default: another one each time, printed)
    --hang 10           count a run of more than N seconds as a hang (default 10)
    --keep              replace the corpus in fixtures/fuzz/ by the fewest inputs that reach as much
    --input FILE        run this input alone, with the kernel as it is shipped
    --replay            run the corpus, with the kernel as it is shipped; without TARGET that of all targets

Targets:
`;

const FINDINGS = 'fuzz-findings';
const SCRIPTS = '/src/';

const request = readRequest(process.argv.slice(2));
if (request.kind === 'help') {
  process.stdout.write(await usage());
  process.exit();
}
if (request.kind === 'mistake') {
  process.stderr.write(`${request.message}\n\n${await usage()}`);
  process.exit(2);
}
for (const name of request.names) {
  const result = await (request.kind === 'replay' ? replay : fuzz)(name, request);
  if (result.kind === 'found') {
    tell(name, result);
    process.exitCode = 1;
  }
}

async function usage(): Promise<string> {
  let text = USAGE;
  for (const [name, url] of Object.entries(TARGETS)) {
    text += `    ${name.padEnd(20)}${(await load(url)).summary}\n`;
  }
  return text;
}

async function load(url: URL): Promise<Target> {
  return ((await import(url.href)) as { target: Target }).target;
}

function urlOf(name: string): URL {
  const url = TARGETS[name];
  if (url === undefined) throw new Error(`no target ${name}`);
  return url;
}

async function replay(name: string, { input, patience }: FuzzSettings): Promise<SessionResult> {
  const { seeds } = await load(urlOf(name));
  const inputs =
    input === undefined
      ? [...readCorpus(name), ...seeds.map(bytesOf)]
      : [new Uint8Array(readFileSync(input))];
  const task = { kind: 'replay', targetUrl: urlOf(name).href, covered: SCRIPTS, inputs } as const;
  const result = await runSession(task, { patience });
  if (result.kind === 'done') console.log(`${name}: ${result.runs} inputs, no fault found`);
  return result;
}

async function fuzz(name: string, settings: FuzzSettings): Promise<SessionResult> {
  const { seed = Date.now() % 1_000_000, runs, milliseconds, patience, keep } = settings;
  const limits = { seed, runs, milliseconds };
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
    if (keep) writeCorpus(name, result.inputs);
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
