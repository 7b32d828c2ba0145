/**
 * The part of the platform's WebAssembly that is used here. @types/node leaves it to the DOM's
 * types.
 */
declare namespace WebAssembly {
  class Module {
    constructor(bytes: Uint8Array);
  }

  class Memory {
    constructor(descriptor: { initial: number; maximum: number; shared: boolean });
    readonly buffer: SharedArrayBuffer;
    /** Grows by this many pages of 65,536 bytes; returns the number before. */
    grow(pages: number): number;
  }

  class Global {
    value: bigint;
  }

  class Instance {
    constructor(module: Module, imports: Record<string, Record<string, unknown>>);
    readonly exports: Record<string, unknown>;
  }

  /** What instantiating bytes yields. */
  interface WebAssemblyInstantiatedSource {
    readonly module: Module;
    readonly instance: Instance;
  }

  function instantiate(
    module: Module,
    imports: Record<string, Record<string, unknown>>,
  ): Promise<Instance>;
}
