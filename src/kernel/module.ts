import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** Makes a module of a file of WebAssembly. */
export type ModuleLoader = (file: string) => WebAssembly.Module;

let load: ModuleLoader = (file) => new WebAssembly.Module(readFileSync(file));
let kernel: WebAssembly.Module | undefined;

/**
 * Has the kernel loaded otherwise than by compiling it; to be said before anything on this thread
 * asks for it.
 */
export function loadKernelBy(loader: ModuleLoader): void {
  load = loader;
}

/**
 * Where the kernel is. From src/kernel, dist/kernel, dist/cli and dist/workers alike this is where
 * the build puts it.
 */
export function kernelFile(): string {
  return fileURLToPath(new URL('../../dist/kernel/kernel.wasm', import.meta.url));
}

/** The compiled kernel, once for each thread that asks. */
export function kernelModule(): WebAssembly.Module {
  kernel ??= load(kernelFile());
  return kernel;
}
