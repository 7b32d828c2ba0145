import { bytesOf } from '../oracle/bytes.js';
import { Random } from '../test/random/random.js';
import { COUNT_CLASSES, type KernelCoverage } from './coverage/counters.js';
import type { ScriptCoverage } from './coverage/script.js';
import { Mutator } from './mutation/mutator.js';
import { trim } from './mutation/trim.js';
import { cover, Pool } from './pool.js';
import type { Check, Target } from './target.js';
import type { Watch } from './watch.js';

/** Number of runs between two queries of the coverage of scripts. */
const BATCH = 128;
const FRESH_INPUTS = 20;
const TRIM_TRIES = 60;
const SHRINK_TRIES = 3000;

export interface FuzzLimits {
  readonly seed: number;
  readonly runs: number;
  readonly milliseconds: number;
}

export interface Reached {
  /** Number of probes of the kernel that were reached. */
  readonly edges: number;
  /** Number of probes, counted once for each class of how often an input passed them. */
  readonly counts: number;
  /** Number of blocks of scripts that were reached. */
  readonly blocks: number;
}

export interface FuzzProgress {
  readonly runs: number;
  readonly reached: Reached;
  readonly inputs: number;
}

/** An input on which an invariant does not hold. */
export interface Finding {
  readonly input: Uint8Array;
  readonly message: string;
}

/** Features of scripts are numbered from here; lower numbers are features of the kernel. */
export const FIRST_SCRIPT_FEATURE = 1 << 20;

/**
 * Runs a target on ever new inputs, and keeps inputs that reach new coverage. All choices follow
 * from the seed.
 */
export class Fuzzer {
  readonly #target: Target;
  readonly #check: Check;
  readonly #kernel: KernelCoverage;
  readonly #scripts: ScriptCoverage;
  readonly #watch: Watch;
  readonly #pool = new Pool();
  #runs = 0;

  constructor(
    target: Target,
    check: Check,
    coverage: { kernel: KernelCoverage; scripts: ScriptCoverage },
    watch: Watch,
  ) {
    this.#target = target;
    this.#check = check;
    this.#kernel = coverage.kernel;
    this.#scripts = coverage.scripts;
    this.#watch = watch;
  }

  get progress(): FuzzProgress {
    return {
      runs: this.#runs,
      reached: this.#reached,
      inputs: this.#pool.size,
    };
  }

  get #reached(): Reached {
    const edges = new Set<number>();
    let counts = 0;
    let blocks = 0;
    for (const feature of this.#pool.seen) {
      if (feature >= FIRST_SCRIPT_FEATURE) {
        blocks++;
      } else {
        edges.add(Math.floor(feature / COUNT_CLASSES));
        counts++;
      }
    }
    return { edges: edges.size, counts, blocks };
  }

  /**
   * Fuzzes, starting with a corpus, until a limit is reached; returns the reduced finding, or
   * nothing.
   */
  async fuzz(
    corpus: readonly Uint8Array[],
    limits: FuzzLimits,
    report: (progress: FuzzProgress) => void,
  ): Promise<Finding | undefined> {
    const random = new Random(limits.seed);
    const mutator = new Mutator(random, this.#target);
    const end = performance.now() + limits.milliseconds;
    const first = [
      ...corpus,
      ...this.#target.seeds.map(bytesOf),
      ...Array.from({ length: FRESH_INPUTS }, () => mutator.fresh()),
    ];
    for (const input of first) {
      const finding = await this.#tryAlone(input);
      if (finding !== undefined) return finding;
    }
    while (this.#runs < limits.runs && performance.now() < end) {
      const inputs = Array.from({ length: BATCH }, () =>
        mutator.next(() => this.#pool.pick(random)),
      );
      const finding = await this.#runBatch(inputs);
      if (finding !== undefined) return finding;
      report(this.progress);
    }
    return undefined;
  }

  /** A small part of the pool with the coverage of the whole pool. */
  async smallCorpus(): Promise<Uint8Array[]> {
    const inputs = this.#pool.inputs();
    // Two passes: blocks of scripts become features only once they are named.
    for (const input of inputs) await this.#featuresOf(input);
    const reached: { readonly input: Uint8Array; readonly features: readonly number[] }[] = [];
    for (const input of inputs) reached.push({ input, features: await this.#featuresOf(input) });
    return cover(reached);
  }

  /** Runs an input; returns the message if an invariant does not hold. */
  async #run(input: Uint8Array): Promise<string | undefined> {
    this.#runs++;
    this.#watch.begin(input);
    try {
      await this.#check(input);
      return undefined;
    } catch (error) {
      return error instanceof Error ? (error.stack ?? error.message) : String(error);
    }
  }

  async #featuresOf(input: Uint8Array): Promise<number[]> {
    this.#kernel.clear();
    this.#scripts.clear();
    await this.#run(input);
    const features: number[] = [];
    this.#kernel.collect(features);
    this.#scripts.collect(features);
    return features;
  }

  async #tryAlone(input: Uint8Array): Promise<Finding | undefined> {
    this.#scripts.clear();
    const finding = await this.#runForKernel(input);
    const features: number[] = [];
    this.#scripts.collect(features);
    if (this.#pool.unseen(features).length > 0) this.#pool.add(input, features);
    return finding;
  }

  /** Runs an input and keeps it if it reaches something new in the kernel. */
  async #runForKernel(input: Uint8Array): Promise<Finding | undefined> {
    this.#kernel.clear();
    const message = await this.#run(input);
    if (message !== undefined) return await this.#finding(input, message);
    const features: number[] = [];
    this.#kernel.collect(features);
    const unseen = this.#pool.unseen(features);
    if (unseen.length > 0) {
      this.#pool.add(await this.#trimmed(input, unseen), features);
    }
    return undefined;
  }

  async #trimmed(input: Uint8Array, wanted: readonly number[]): Promise<Uint8Array> {
    return trim(input, TRIM_TRIES, async (candidate) => {
      this.#kernel.clear();
      if ((await this.#run(candidate)) !== undefined) return false;
      const features: number[] = [];
      this.#kernel.collect(features);
      return wanted.every((feature) => features.includes(feature));
    });
  }

  async #runBatch(inputs: readonly Uint8Array[]): Promise<Finding | undefined> {
    this.#scripts.clear();
    for (const input of inputs) {
      const finding = await this.#runForKernel(input);
      if (finding !== undefined) return finding;
    }
    const features: number[] = [];
    this.#scripts.collect(features);
    const unseen = this.#pool.unseen(features);
    if (unseen.length > 0) await this.#findReachers(inputs, new Set(unseen));
    // Coverage that no single input reaches, such as code that runs once in a process, is not
    // looked for again.
    this.#pool.markSeen(features);
    return undefined;
  }

  /** Halves a batch until the inputs that reach the wanted blocks of scripts are found. */
  async #findReachers(inputs: readonly Uint8Array[], wanted: ReadonlySet<number>): Promise<void> {
    this.#scripts.clear();
    for (const input of inputs) await this.#run(input);
    const features: number[] = [];
    this.#scripts.collect(features);
    const reached = this.#pool.unseen(features).filter((feature) => wanted.has(feature));
    if (reached.length === 0) return;
    if (inputs.length === 1) {
      this.#pool.add(inputs[0] as Uint8Array, features);
      return;
    }
    const middle = inputs.length >> 1;
    await this.#findReachers(inputs.slice(0, middle), wanted);
    await this.#findReachers(inputs.slice(middle), wanted);
  }

  async #finding(input: Uint8Array, message: string): Promise<Finding> {
    const small = await trim(
      input,
      SHRINK_TRIES,
      async (candidate) => (await this.#run(candidate)) !== undefined,
    );
    return { input: small, message: (await this.#run(small)) ?? message };
  }
}
