import binaryen from 'assemblyscript/binaryen';

/**
 * The WebAssembly features that asconfig.json enables, for binaryen. Newer features are off,
 * because Node may not know them.
 */
export const KERNEL_FEATURES =
  binaryen.Features.SIMD128 |
  binaryen.Features.Atomics |
  binaryen.Features.BulkMemory |
  binaryen.Features.BulkMemoryOpt |
  binaryen.Features.SignExt |
  binaryen.Features.MutableGlobals |
  binaryen.Features.NontrappingFPToInt;
