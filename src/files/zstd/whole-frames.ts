import { init } from '@bokuweb/zstd-wasm';

let loading: Promise<void> | undefined;

/**
 * Loads the codec of `@bokuweb/zstd-wasm`, once: a second `init` replaces its memory under whoever
 * uses it.
 */
export function loadWholeFrameCodec(): Promise<void> {
  loading ??= init();
  return loading;
}
