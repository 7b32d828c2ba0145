import { quoted, runShell } from '../measure/process.js';
import type { Case } from '../measure/runs.js';
import type { Filter } from '../program/filter.js';
import { assertEqual } from '../verify/assert-equal.js';

/** Files of captures: all forms of one set hold the same. */
export interface ArchiveForm {
  readonly id: string;
  /** The list of the files. */
  readonly list: string;
  readonly files: readonly string[];
  readonly captures: number;
  /** Bytes of the files. */
  readonly bytes: number;
  /** The command that decompresses a file to standard output. */
  readonly decompressor: string;
}

/** Compiles captures; the table must have the same size in all runs. */
export function archiveCase(filter: Filter, form: ArchiveForm, table: string): Case {
  let known: number | undefined;
  return {
    id: form.id,
    name: 'robots-filter compile --robots-dir robotstxt.paths -o t',
    kind: 'ours',
    records: form.captures,
    bytes: form.bytes,
    reads: form.files,
    async run() {
      const { seconds, peakBytes, tableBytes } = await filter.compile(form.list, table);
      known ??= tableBytes;
      assertEqual(`${form.id}: bytes of the table`, tableBytes, known);
      return { seconds, peakBytes };
    },
  };
}

/** Only decompressing the same files, two at a time, as a user could do with xargs. */
export function decompressCase(form: ArchiveForm): Case {
  const files = form.files.map(quoted).join(' ');
  const { decompressor } = form;
  return {
    id: `${form.id}-floor`,
    name: `ls FILES | xargs -P2 ${decompressor} | wc -c`,
    kind: 'floor',
    records: form.captures,
    bytes: form.bytes,
    reads: form.files,
    run: () =>
      runShell(`printf '%s\\n' ${files} | xargs -P2 -n 4 ${decompressor} | wc -c`, {
        watched: false,
      }),
  };
}
