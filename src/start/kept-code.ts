/** Where V8's code of a file is kept: beside it, under the name of the V8 that can take it. */

import { readFileSync, statSync } from 'node:fs';

const { platform, arch, versions } = process;
/** V8 looks at its version itself, but not at what processor the code was made on. */
const CODE_SUFFIX = `.${versions.v8}-${platform}-${arch}.code`;

/** Where the code of a file is kept that this V8 can take. */
export function codeFile(file: string): string {
  return `${file}${CODE_SUFFIX}`;
}

/** What is kept of a file. V8 knows the file that code was made of by its length at most: so code that is older than its file is left. */
export function keptCode(file: string): Buffer | undefined {
  const code = codeFile(file);
  try {
    return statSync(code).mtimeMs >= statSync(file).mtimeMs ? readFileSync(code) : undefined;
  } catch {
    return undefined;
  }
}
