import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';

/**
 * Bundles a script in TypeScript, for a process of its own: Node starts the bundle several times as
 * fast. Returns its path.
 */
export async function bundledScript(script: URL, directory: string): Promise<string> {
  const outfile = join(directory, 'script.mjs');
  await build({
    entryPoints: [fileURLToPath(script)],
    bundle: true,
    platform: 'node',
    format: 'esm',
    // commander is CommonJS, and calls `require` for modules of Node.
    banner: {
      js: "import { createRequire } from 'node:module'; const require = createRequire(import.meta.url);",
    },
    outfile,
    logLevel: 'error',
  });
  return outfile;
}
