/** What a bundle needs of the package's files, as copies in its code. */
export interface Embedded {
  kernel(): Uint8Array;
  /** The program of the threads that judge. */
  judge(): string;
}

/**
 * The copies. The build puts `require('./embedded.cjs')` in place of this function: bundlers follow
 * it, and Node never loads that file from a package. See build/embedded.ts.
 */
export function embedded(): Embedded {
  throw new Error('dist/kernel/kernel.wasm is missing. Type npm run build');
}
