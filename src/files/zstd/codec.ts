/** Loads the WebAssembly module that decodes Zstandard data. */

import { ZSTDDecoder } from 'zstddec/stream';

let compiling: Promise<WebAssembly.Module> | undefined;

/** The codec, compiled once on each thread that asks. */
export function loadZstd(): Promise<WebAssembly.Module> {
  compiling ??= compile();
  return compiling;
}

/** Compiles the module in the package, which passes it to `_init`. */
async function compile(): Promise<WebAssembly.Module> {
  let module: WebAssembly.Module | undefined;
  class Capture extends ZSTDDecoder {
    override _init(source: WebAssembly.WebAssemblyInstantiatedSource): void {
      module = source.module;
    }
  }
  await new Capture().init();
  if (module === undefined) throw new Error('zstddec has no module');
  return module;
}
