/**
 * Writes the copies of the kernel and of the threads' program, for bundles. src/files/embedded.ts
 * says what they are for.
 */

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { brotliCompressSync } from 'node:zlib';

const DIST = '.build/dist';

/** An expression whose value is the bytes of a file: less than half as long as the bytes. */
function unpacked(path: string): string {
  const packed = brotliCompressSync(readFileSync(join(DIST, path))).toString('base64');
  return `unpacked('${packed}')`;
}

writeFileSync(
  join(DIST, 'cjs/embedded.cjs'),
  `const { Buffer } = process.getBuiltinModule('node:buffer');
const { brotliDecompressSync } = process.getBuiltinModule('node:zlib');
const unpacked = (text) => brotliDecompressSync(Buffer.from(text, 'base64'));
exports.kernel = () => ${unpacked('kernel/kernel.wasm')};
exports.judge = () => ${unpacked('cjs/judge.cjs')}.toString();
`,
);
