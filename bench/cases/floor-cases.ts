import { statSync } from 'node:fs';
import type { UrlInput } from '../inputs/url-input.js';
import { quoted, runProgram, runShell } from '../measure/process.js';
import type { Case } from '../measure/runs.js';
import type { Yardstick } from '../measure/yardstick.js';

/** The yardstick over a file. */
export function yardstickCase(
  id: string,
  yardstick: Yardstick,
  file: { path: string; name: string; records: number },
): Case {
  const { path, name, records } = file;
  return {
    id,
    name: `${yardstick.name} ${name}`,
    kind: 'floor',
    records,
    bytes: statSync(path).size,
    reads: [path],
    run: () => yardstick.run(path),
  };
}

/** Only the start of Node. */
export function nodeCase(): Case {
  return {
    id: 'node',
    name: 'node -e 0',
    kind: 'floor',
    records: 0,
    bytes: 0,
    run: () => runProgram(process.execPath, ['-e', '0'], { watched: false }),
  };
}

/** Counting lines, from the file and through a pipe. */
export function lineCountCases({ path, records, bytes }: UrlInput): Case[] {
  const floor = { kind: 'floor', records, bytes, reads: [path] } as const;
  const unwatched = { watched: false };
  return [
    {
      ...floor,
      id: 'wc',
      name: 'wc -l f.ndjson',
      run: () => runProgram('wc', ['-l', path], unwatched),
    },
    {
      ...floor,
      id: 'cat-wc',
      name: 'cat f.ndjson | wc -l',
      run: () => runShell(`cat ${quoted(path)} | wc -l`, unwatched),
    },
  ];
}

/** Only decompressing. */
export function gunzipCase({ path, records, bytes }: UrlInput): Case {
  return {
    id: 'gunzip',
    name: 'gzip -dc f.ndjson.gz | cat > /dev/null',
    kind: 'floor',
    records,
    bytes,
    reads: [path],
    run: () => runShell(`gzip -dc ${quoted(path)} | cat > /dev/null`, { watched: false }),
  };
}
