import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import asc from 'assemblyscript/asc';
import binaryen from 'assemblyscript/binaryen';
import { COUNTER_BYTES, COUNTERS, type InstrumentedKernel } from './counters.js';
import { KERNEL_FEATURES } from './kernel-features.js';
import { withProbes } from './probes.js';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** A change of a source file of the kernel: how a test plants a fault. */
export interface Planted {
  /** Name of the file, `kernel/assembly/decide.ts`. */
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

/** Compiles the kernel with probes. Takes some seconds. */
export async function instrumentKernel(planted?: Planted): Promise<InstrumentedKernel> {
  const text = withProbes(
    textOf(await compileKernel(planted === undefined ? [] : [planted])),
    COUNTERS,
  );
  if (text.probes > COUNTER_BYTES) throw new Error(`${text.probes} probes: raise COUNTER_BYTES`);
  const module = binaryen.parseText(text.text);
  module.setFeatures(KERNEL_FEATURES);
  const bytes = module.emitBinary();
  module.dispose();
  return { bytes, probes: text.probes };
}

/** Compiles the kernel as asconfig.json says, but not optimised. */
export async function compileKernel(planted: readonly Planted[] = []): Promise<Uint8Array> {
  let bytes: Uint8Array | undefined;
  let messages = '';
  const missing = new Set(planted);
  const options = ['--config', 'asconfig.json', '--target', 'release', '--baseDir', ROOT];
  const { error } = await asc.main([...options, '--optimizeLevel', '0', '--outFile', 'k.wasm'], {
    writeFile(_name: string, contents: string | Uint8Array): void {
      if (typeof contents !== 'string') bytes = contents;
    },
    readFile(name: string, baseDir: string): string | null {
      let text: string;
      try {
        text = readFileSync(join(baseDir, name), 'utf8');
      } catch {
        return null; // asc looks for a module in several places
      }
      for (const each of planted) {
        if (!name.endsWith(`/${each.file}`) || !text.includes(each.from)) continue;
        text = text.replace(each.from, () => each.to);
        missing.delete(each);
      }
      return text;
    },
    stderr: {
      write(message: string): void {
        messages += message;
      },
    },
  });
  for (const { file, from } of missing) throw new Error(`${file} does not contain ${from}`);
  if (error !== null || bytes === undefined) throw new Error(`asc: ${messages}`);
  return bytes;
}

function textOf(bytes: Uint8Array): string {
  const module = binaryen.readBinary(bytes);
  module.setFeatures(KERNEL_FEATURES);
  const text = module.emitText();
  module.dispose();
  return text;
}
