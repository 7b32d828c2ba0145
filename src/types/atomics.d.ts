/**
 * Members of ES2024's shared memory. Node 20 has them, but not the libraries that tsconfig.json
 * names.
 */
interface Atomics {
  waitAsync(
    typedArray: Int32Array,
    index: number,
    value: number,
    timeout?: number,
  ):
    | { readonly async: false; readonly value: 'not-equal' | 'timed-out' }
    | { readonly async: true; readonly value: Promise<'ok' | 'timed-out'> };
}
