/** The exports of the reference implementation, compiled to WebAssembly. Sizes are in bytes. */
export interface ZstdExports {
  readonly memory: WebAssembly.Memory;
  /** Returns 0 if there is no memory left. */
  malloc(bytes: number): number;
  ZSTD_createDCtx(): number;
  ZSTD_freeDCtx(context: number): number;
  /**
   * Decodes some of an input (ZSTD_inBuffer: address, size, position) into an output. Returns a
   * number from `FIRST_ERROR` on, unsigned, if that fails.
   */
  ZSTD_decompressStream(context: number, output: number, input: number): number;
}

/**
 * Makes an instance of the codec. Each stream has its own instance, so that the instance's memory
 * is freed with it, in whatever state damaged data left it. The decoder of the package itself
 * shares one instance, and does not report errors.
 */
export function instantiateZstd(module: WebAssembly.Module): ZstdExports {
  const imports = { env: { emscripten_notify_memory_growth: () => {} } };
  // The package has no types of its exports.
  return new WebAssembly.Instance(module, imports).exports as unknown as ZstdExports;
}
