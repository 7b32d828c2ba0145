import binaryen from 'assemblyscript/binaryen';

/**
 * What of WebAssembly asconfig.json enables, for binaryen; and nothing newer, which Node may not
 * know.
 */
export const KERNEL_FEATURES =
  binaryen.Features.SIMD128 |
  binaryen.Features.Atomics |
  binaryen.Features.BulkMemory |
  binaryen.Features.BulkMemoryOpt |
  binaryen.Features.SignExt |
  binaryen.Features.MutableGlobals |
  binaryen.Features.NontrappingFPToInt;
